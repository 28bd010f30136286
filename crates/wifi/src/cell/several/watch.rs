//! For observers: the frames of an exchange with several stations.

use super::Several;
use crate::cell::watch::CellWatch;
use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::mu::{LastAnswer, MuRts};
use crate::mac::{ACK, Exchange, Step};
use crate::watch::{self, WatchRecord};
use kernel::{Duration, Instant};
use wire::{Frame, FrameLoss, FrameOutcome};

/// The outcome of a frame that only noise can destroy.
pub(in crate::cell) fn outcome(is_received: bool) -> FrameOutcome {
    if is_received { FrameOutcome::Received } else { FrameOutcome::Lost(FrameLoss::Noise) }
}

impl Cell {
    /// An exchange with several stations ends: a record for each frame, of a PPDU to several
    /// stations one for each, and the NAV of the nodes that are no party of it.
    pub(in crate::cell) fn record_several(&mut self, exchange: &Exchange) {
        let Some(mut watch) = self.watch.take() else { return };
        let number = watch.begin_exchange();
        if let Some(several) = self.several() {
            let deferral = self.deferral(exchange, several);
            let resume = match deferral.map_or(several.last_answer(), |all| all.last) {
                LastAnswer::Missing => self.timeout_of(self.sender, several),
                _ => Duration::ZERO,
            };
            watch.begin_wait(self.sender, exchange.end + resume);
            let mut push = |frame| watch.push(WatchRecord::Frame(frame));
            if let Some(rts) = several.opening() {
                let frames = self.opening_of(several, rts, self.sender, exchange.start, number);
                for frame in frames {
                    push(Frame { nav: self.reserves(exchange, frame.end), ..frame });
                }
            }
            match several {
                Several::Group(group) => self.record_group(exchange, group, number, &mut push),
                Several::Triggered(it) => self.record_triggered(exchange, it, number, &mut push),
            }
            self.record_navs_of_others(&mut watch, exchange, several);
        }
        self.watch = Some(watch);
    }

    /// A collision ends in which an EDCAF sent to several stations, or triggered them. Returns
    /// whether it did.
    pub(in crate::cell) fn record_collided_several(
        &self,
        watch: &mut CellWatch,
        f: u32,
        start: Instant,
        lost_to: Option<u32>,
        number: u64,
    ) -> bool {
        let mut push = |frame: Frame| {
            let outcome = FrameOutcome::Lost(FrameLoss::Collision);
            watch.push(WatchRecord::Frame(Frame { outcome, lost_to, ..frame }));
        };
        let Some(several) = self.several_of(f) else { return false };
        if let Some(rts) = several.opening() {
            // As if its Duration field announced nothing: nobody hears it.
            self.opening_of(several, rts, f, start, number).into_iter().take(1).for_each(push);
            return true;
        }
        match several {
            Several::Group(group) => {
                self.record_collided_group(group, f, start, number, &mut push);
            }
            Several::Triggered(triggered) => {
                push(self.collided_trigger(triggered, f, start, number));
            }
        }
        true
    }

    /// The MU-RTS that begins now, and the CTS of each station.
    fn opening_of(
        &self,
        several: &Several,
        rts: &MuRts,
        f: u32,
        start: Instant,
        number: u64,
    ) -> Vec<Frame> {
        let [request, answer] = rts.steps(start);
        let width = self.group_width();
        let request = Frame {
            mode: watch::mode(&rts.mode, &request.airtime),
            psdu: rts.bytes,
            content: watch::mu_rts(width, several.asked()),
            outcome: FrameOutcome::Received,
            ..self.bare(f, &request, number)
        };
        let cts = |station| Frame {
            from: station,
            to: Some(ACCESS_POINT),
            mode: watch::mode(&rts.cts_mode, &answer.airtime),
            psdu: ACK,
            outcome: FrameOutcome::Received,
            ..self.bare(f, &answer, number)
        };
        let mut stations: Vec<u32> = several.asked().collect();
        stations.sort_unstable();
        std::iter::once(request).chain(stations.into_iter().map(cts)).collect()
    }

    /// How long a frame of an exchange reserves the medium after its end.
    pub(in crate::cell) fn reserves(&self, exchange: &Exchange, end: Instant) -> Duration {
        self.rules.timing().reservation(exchange.announced().since(end))
    }

    /// The first PPDU sets the NAV of the nodes that are no party of the exchange.
    fn record_navs_of_others(&self, watch: &mut CellWatch, exchange: &Exchange, several: &Several) {
        let until = exchange.reserved_until(self.rules.timing());
        let first = exchange.steps().next().map_or(exchange.end, Step::end);
        let is_party = |node| node == ACCESS_POINT || several.stations().any(|it| it == node);
        for node in (0..self.nodes.len() as u32).filter(|&node| !is_party(node)) {
            watch.set_nav(node, first, until);
        }
    }
}
