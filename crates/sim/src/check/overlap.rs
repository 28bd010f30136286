//! Checks frames of full-duplex exchanges in space: which may overlap, and when responses begin.

use super::rule::rule;
use kernel::{Duration, Instant};
use wifi::mac::FullDuplex;
use wifi::space::OngoingFrame;
use wire::FrameKind;

/// The rules of full-duplex nodes.
#[derive(Debug)]
pub(super) struct Overlap {
    settings: Option<FullDuplex>,
    /// Which nodes are access points.
    access_points: Vec<bool>,
    sifs: Duration,
}

impl Overlap {
    pub(super) fn new(
        settings: Option<FullDuplex>,
        access_points: Vec<bool>,
        sifs: Duration,
    ) -> Self {
        Self { settings, access_points, sifs }
    }

    /// The nodes that may send packets before earlier ones for other receivers.
    pub(super) fn reordering(&self) -> Vec<u32> {
        let all = (0..).zip(&self.access_points);
        let access_points = all.filter(|(_, is_access_point)| **is_access_point);
        access_points.map(|(node, _)| node).filter(|_| self.settings.is_some()).collect()
    }

    /// The CTS after which a node sends a secondary frame, if that is what the frame is. `sent` is
    /// what its transmitter sent before.
    fn own_cts(&self, frame: &OngoingFrame, sent: Option<OngoingFrame>) -> Option<OngoingFrame> {
        sent.filter(|cts| {
            let is_announced = cts.kind == FrameKind::Cts && cts.beside.is_some();
            let is_next = cts.end + self.sifs == frame.start;
            is_body(frame.kind) && is_announced && is_next
        })
    }

    /// A frame begins. If its transmitter has announced it in a CTS, returns the CTS: the frame is
    /// a secondary frame.
    pub(super) fn secondary(
        &self,
        now: Instant,
        frame: &OngoingFrame,
        sent: Option<OngoingFrame>,
    ) -> Option<OngoingFrame> {
        let cts = self.own_cts(frame, sent)?;
        let detail = || format!("{frame:?} after {cts:?}");
        let is_bidirectional = self.settings.is_some_and(|settings| settings.bidirectional);
        let is_access_point = |node: u32| self.access_points[node as usize];
        let is_able = is_bidirectional || is_access_point(frame.from);
        let is_able = self.settings.is_some() && is_able;
        rule(now, is_able, "a full-duplex node sends a secondary frame", detail);
        let between = |to: u32| is_access_point(frame.from) != is_access_point(to);
        rule(now, frame.to.is_some_and(between), "frames are from or to an access point", detail);
        let is_mutual = frame.to == cts.to;
        rule(now, is_bidirectional || !is_mutual, "a secondary frame is for another", detail);
        let given = self.settings.and_then(|settings| settings.secondary_rate);
        let mcs = self.settings.and_then(|settings| settings.secondary_mcs);
        let has_rate = match () {
            () if is_mutual || frame.kind == FrameKind::BlockAckRequest => true,
            () if frame.mode.class.is_high() => mcs.is_none_or(|m| m == u32::from(frame.mode.mcs)),
            () => given.is_none_or(|rate| rate == frame.mode.rate),
        };
        rule(now, has_rate, "a secondary frame has the given rate", detail);
        Some(cts)
    }

    /// Frames have begun: both data frames of an exchange last, with their delays, as long as the
    /// longer one. `sent` is what a node sent before.
    pub(super) fn check_pairs(
        &self,
        now: Instant,
        began: &[OngoingFrame],
        sent: impl Fn(u32) -> Option<OngoingFrame>,
    ) {
        for frame in began {
            let Some(cts) = self.own_cts(frame, sent(frame.from)) else { continue };
            // After its RTS, an access point may have given way to another station, and send a
            // secondary frame itself.
            let is_primary = |other: &&OngoingFrame| {
                let is_between = Some(other.from) == cts.to && other.to == Some(frame.from);
                let is_secondary = || self.own_cts(other, sent(other.from)).is_some();
                other.kind == FrameKind::Data && is_between && !is_secondary()
            };
            let Some(primary) = began.iter().find(is_primary) else { continue };
            let longer = frame.end.max(primary.end);
            let responses = [frame, primary].map(|data| data.end + delay(data));
            rule(now, responses == [longer; 2], "responses follow the longer frame", || {
                format!("{frame:?} beside {primary:?}")
            });
        }
    }
}

/// Whether such a frame may be one of two at once, each of which elicits a response.
fn is_body(kind: FrameKind) -> bool {
    matches!(kind, FrameKind::Data | FrameKind::BlockAckRequest)
}

/// How much later than a SIFS after a frame the response to it begins.
pub(super) fn delay(frame: &OngoingFrame) -> Duration {
    frame.beside.filter(|_| is_body(frame.kind)).unwrap_or_default()
}
