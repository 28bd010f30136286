//! A full-duplex node joins a data frame without RTS and CTS: it begins a data frame of its own
//! when it has decoded the MAC header of the other, which names the transmitter, and has ended an
//! RTS of its own.
//!
//! Nobody has announced the second frame. The transmitter of the first one finds the medium busy
//! until the longer of both ends, and waits for its response from then on. A data frame of an
//! access point that began together with that of a station is the second frame.

use super::Space;
use super::duplex::PrimaryFrame;
use super::frame::Transmission;
use super::node::Joinable;
use super::reception::ReceivedSignal;
use crate::mac::{ElicitedResponse, Opening, Step, ampdu, header_decoded, single};
use crate::phy::decibels;
use crate::phy::error::SinrChunk;
use crate::{Command, MsduSource};
use kernel::{Bytes, Db, Duration, Instant};
use wire::FrameKind;

impl Space {
    /// Frames have begun. Full-duplex nodes that receive a data frame may join it.
    #[inline(never)]
    pub(super) fn find_joinable(&mut self, now: Instant, beginning: &[u32]) {
        for &id in beginning {
            let begun = *self.signals.transmission(id);
            let Some(node) = begun.frame.to.filter(|_| self.is_bare(&begun)) else { continue };
            let receives = self.receivers[node as usize].received_transmission() == Some(id);
            if !receives || self.nodes[node as usize].duplex().is_none() {
                continue;
            }
            let mut with_rts = false;
            let own = beginning.iter().copied();
            let mut own = own.filter(|&own| self.signals.transmission(own).frame.from == node);
            let decoded = self.header_over(&begun);
            let at = match own.next().map(|own| (own, *self.signals.transmission(own))) {
                None => decoded,
                // What begins together is the access point's to join.
                Some(_) if !self.signals.sites[node as usize].is_access_point => continue,
                Some((_, rts)) if rts.frame.kind == FrameKind::Rts && rts.end() <= begun.end() => {
                    if self.rules.levels.bears_beside && self.decodes_header(node, id) {
                        self.signals.transmission_mut(id).bears = true;
                        self.attend(now, id, None);
                    }
                    with_rts = true;
                    decoded.max(rts.end())
                }
                Some((own, data)) if self.is_bare(&data) => {
                    self.join_own_data(now, node, [id, own]);
                    continue;
                }
                Some(_) => continue,
            };
            let is_late = at >= begun.end();
            if is_late && !self.decodes_header(node, id) {
                continue;
            }
            let state = &mut self.nodes[node as usize];
            if is_late {
                state.count_primary();
            }
            if !is_late || with_rts {
                state.may_join(Joinable { at, id, is_late });
                self.set_timer(node);
            }
            if is_late && with_rts {
                self.nodes[node as usize].expect_beside(begun.frame.from);
            }
        }
    }

    /// Frames beside others have begun: a full-duplex node that transmits receives them, and where
    /// such frames do not disturb each other, all nodes that they are addressed to.
    #[inline(never)]
    pub(super) fn turn_to_beside(&mut self, now: Instant, beginning: &[u32]) {
        for &id in beginning {
            let begun = self.signals.transmission(id);
            let (is_beside, detected) = (begun.frame.beside.is_some(), begun.payload());
            let Some(to) = begun.frame.to.filter(|_| is_beside) else { continue };
            let Some(power) = self.signals.power_of(id, to) else { continue };
            let (levels, receiver) = (self.rules.levels, &mut self.receivers[to as usize]);
            let is_expected = self.nodes[to as usize].expects_beside(begun.frame.from);
            let turns = levels.bears_beside || is_expected && receiver.misses(now);
            let left = receiver.received_transmission();
            if turns && receiver.turn_to(now, ReceivedSignal { id, power }, &levels) {
                let carrier = &mut self.nodes[to as usize].carrier;
                carrier.on_detected(detected);
                if let Some(left) = left.filter(|_| levels.bears_beside) {
                    // It has decoded the MAC header of the frame that it leaves.
                    let left = self.signals.transmission(left);
                    carrier.reserve(left.end() + left.frame.reserves, None);
                }
            }
        }
    }

    /// Where the frames of an exchange do not disturb each other, all nodes but one attend to the
    /// first of two that have begun together.
    fn attend(&mut self, now: Instant, id: u32, but: Option<u32>) {
        let levels = self.rules.levels;
        for (node, receiver) in (0..).zip(&mut self.receivers) {
            let power = self.signals.power_of(id, node).filter(|_| but != Some(node));
            if let Some(power) = power.filter(|_| !receiver.misses(now)) {
                receiver.turn_to(now, ReceivedSignal { id, power }, &levels);
            }
        }
    }

    /// Whether it is a data frame that needs no RTS and CTS, and elicits a response.
    fn is_bare(&self, begun: &Transmission) -> bool {
        let frame = &begun.frame;
        let opening = || self.nodes[frame.from as usize].edcaf(usize::from(frame.edcaf)).opening;
        frame.kind == FrameKind::Data
            && frame.beside.is_none()
            && frame.answer != ElicitedResponse::None
            && opening() == Opening::None
    }

    /// Bytes of a PSDU up to the end of the first MAC header.
    fn header(&self, begun: &Transmission) -> Bytes {
        let frame = &begun.frame;
        let header = self.rules.mac.config.data_header();
        match self.nodes[frame.from as usize].edcaf(usize::from(frame.edcaf)).psdu.mpdus {
            1 => single(frame.mode.class, header),
            _ => ampdu(Bytes::ZERO, header),
        }
    }

    /// When the MAC header of a data frame is decoded.
    fn header_over(&self, begun: &Transmission) -> Instant {
        let data = Step { kind: FrameKind::Data, start: begun.start, airtime: begun.airtime };
        header_decoded(self.rules.timing(), &data, &begun.frame.mode, self.header(begun))
    }

    /// Whether a node that receives a frame probably decodes its MAC header.
    fn decodes_header(&self, node: u32, id: u32) -> bool {
        let begun = self.signals.transmission(id);
        let Some((power, interference)) = self.receivers[node as usize].receives(id) else {
            return false;
        };
        let mode = &begun.frame.mode;
        let sinr = decibels(power / (interference + self.rules.levels.noise(mode.occupied())));
        let chunk = SinrChunk { mode, sinr: Db(sinr.0), bits: self.header(begun).bits() };
        power >= self.rules.levels.sensitivity && self.signals.radio.error.success(&chunk) > 0.5
    }

    /// A node has received the MAC header of a data frame: it begins a frame of its own.
    #[inline(never)]
    pub(super) fn join(
        &mut self,
        now: Instant,
        node: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let Some(Joinable { id, is_late, .. }) = self.nodes[node as usize].joins_now(now) else {
            return;
        };
        if is_late {
            self.nodes[node as usize].give_way();
            return self.nodes[node as usize].withdraw_rts(now, &self.rules, out);
        }
        if !self.decodes_header(node, id) {
            return self.nodes[node as usize].await_cts(now);
        }
        let Some(settings) = self.rules.mac.config.full_duplex else { return };
        let begun = *self.signals.transmission(id);
        let primary = PrimaryFrame {
            from: begun.frame.from,
            mode: begun.frame.mode,
            data: begun.end() - now,
            response: self.rules.response_airtime(&begun.frame.mode, begun.frame.answer),
            is_joined: true,
        };
        self.nodes[node as usize].give_way();
        let Some((index, mode, to)) =
            self.choose_secondary(now, node, &settings, &primary, source, out)
        else {
            let state = &mut self.nodes[node as usize];
            state.withdraw_rts(now, &self.rules, out);
            return state.expect_beside(primary.from);
        };
        let state = &mut self.nodes[node as usize];
        let delay = state.begin_beside(now, &self.rules, &primary, index, mode, to);
        self.accompany(id, delay);
        if self.watch.is_some() {
            self.record_join(node, primary.from);
        }
        if to == primary.from {
            self.nodes[to as usize].expect_beside(node);
        }
    }

    /// A data frame on the air is one of two: the response to it begins so much later.
    fn accompany(&mut self, id: u32, delay: Duration) {
        let begun = self.signals.transmission_mut(id);
        (begun.frame.beside, begun.bears) = (Some(delay), true);
        let from = begun.frame.from;
        self.nodes[from as usize].end_txop();
    }

    /// A node has begun a data frame together with one for it, which it joins therefore.
    fn join_own_data(&mut self, now: Instant, node: u32, [id, own]: [u32; 2]) {
        if !self.decodes_header(node, id) {
            return;
        }
        let Some(settings) = self.rules.mac.config.full_duplex else { return };
        let [first, second] = [id, own].map(|id| *self.signals.transmission(id));
        let longer = first.end().max(second.end());
        let Some(to) = second.frame.to else { return };
        let (from, mode) = (first.frame.from, second.frame.mode);
        self.accompany(id, longer - first.end());
        self.accompany(own, longer - second.end());
        let is_mutual = to == from;
        let link = self.nodes[node as usize].peer(to).map(|peer| peer.rate.mode);
        let beside = link.and_then(|link| settings.mode(self.rules.timing(), &link));
        let bears = if is_mutual {
            settings.bidirectional
        } else {
            beside.is_some_and(|beside| mode.rate <= beside.rate)
        };
        self.signals.transmission_mut(own).bears = bears;
        if self.rules.levels.bears_beside {
            self.attend(now, id, Some(to).filter(|_| bears));
            if !is_mutual {
                let carrier = &mut self.nodes[to as usize].carrier;
                carrier.reserve(first.end() + first.frame.reserves, None);
            }
        }
        let primary = PrimaryFrame {
            from,
            mode: first.frame.mode,
            data: first.end() - now,
            response: Duration::ZERO,
            is_joined: true,
        };
        self.nodes[node as usize].send_beside(mode.rate, second.end() - now, &primary, to);
        if is_mutual {
            self.nodes[to as usize].expect_beside(node);
        }
    }
}
