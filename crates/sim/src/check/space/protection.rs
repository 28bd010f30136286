//! Checks what announces frames among radios: an RTS or a CTS-to-self before a frame to one
//! station, and an MU-RTS before an exchange with several (802.11ax-2021 clause 26.2.6).

use super::super::exchanges::Exchanges;
use super::super::rule::rule;
use super::Watch;
use kernel::{BitRate, Bytes, Duration};
use wifi::mac::{MuProtection, TriggerKind};
use wifi::phy::Mode;
use wifi::space::{OngoingFrame, Users};
use wire::FrameKind;

/// Bytes of a CTS (clause 9.3.1.3).
const CTS: Bytes = Bytes(14);

impl Watch {
    /// Whether the sender's RTS announced the frame and its CTS has arrived, or its CTS-to-self
    /// announced the frame.
    pub(super) fn follows_cts(&self, frame: &OngoingFrame) -> bool {
        let Exchanges { sent, understood, .. } = &self.receivers[frame.from as usize].exchanges;
        let Some(opening) = sent.filter(|sent| sent.edcaf == frame.edcaf) else {
            return false;
        };
        let cts = || understood.filter(|cts| cts.kind == FrameKind::Cts);
        let before = match opening.kind {
            FrameKind::CtsToSelf => Some(opening),
            FrameKind::Rts if opening.to == frame.to => {
                cts().filter(|cts| Some(cts.from) == frame.to)
            }
            FrameKind::Trigger if opening.users == Users::Opening => {
                cts().filter(|cts| cts.users == Users::Together)
            }
            _ => None,
        };
        let Some(cts) = before.filter(|cts| cts.end + self.times.sifs() == frame.start) else {
            return false;
        };
        self.check_reservation(&cts, frame);
        true
    }

    /// An access point asks stations for CTSs.
    pub(super) fn check_mu_rts(&mut self, frame: &OngoingFrame) {
        let now = self.now;
        let detail = || format!("{frame:?}");
        let is_own = self.access_points[frame.from as usize];
        rule(now, is_own, "the access point asks for CTSs", detail);
        rule(now, self.uses_mu_rts(), "only with protection there is an MU-RTS", detail);
        let (stations, mpdus) = self.groups.opened(frame.from);
        let users = stations.len() as u64;
        let fits = users > 0 && frame.psdu == TriggerKind::MuRts.bytes(users);
        rule(now, fits, "an MU-RTS has a User Info for each station", detail);
        let lasts = self.times.airtime(&frame.mode, frame.psdu).total() == frame.end - frame.start;
        rule(now, lasts, "an MU-RTS is not padded", detail);
        self.check_opening(frame, mpdus);
    }

    /// A CTS answers an MU-RTS, and nothing else does; it has 6 Mb/s.
    pub(super) fn check_cts(&self, asked: &OngoingFrame, frame: &OngoingFrame) {
        let fits = (asked.users, frame.users) == (Users::Opening, Users::Together);
        rule(self.now, fits, "a user answers in its place", || format!("{frame:?} to {asked:?}"));
        let is_slow = frame.mode.rate == BitRate::from_mbps(6.0);
        rule(self.now, is_slow, "a CTS that answers an MU-RTS has 6 Mb/s", || format!("{frame:?}"));
    }

    /// An exchange with so many stations begins, with so many MPDUs: after an MU-RTS and a CTS, or
    /// without where it needs none.
    pub(super) fn check_protected(&mut self, frame: &OngoingFrame, mpdus: usize, stations: usize) {
        if self.follows_cts(frame) {
            return;
        }
        let needs = self.uses_mu_rts() && stations > 0 && !self.goes_on(frame);
        rule(self.now, !needs, "an MU-RTS precedes an access for several stations", || {
            format!("{frame:?}")
        });
        self.check_opening(frame, mpdus);
    }

    fn uses_mu_rts(&self) -> bool {
        self.mac.mu.as_ref().is_some_and(|mu| mu.protection == MuProtection::MuRts)
    }

    /// Within this time after an RTS or an MU-RTS, the frame that it announces must have begun
    /// (clause 10.3.2.4).
    pub(super) fn after_rts(&self, rts: &OngoingFrame) -> Duration {
        let times = &self.times;
        let cts = self.cts_mode(rts);
        let lasting = times.airtime(&cts, CTS).total();
        times.sifs() * 2 + lasting + times.rx_start_delay(&cts) + times.slot * 2
    }

    /// The mode of the CTS that answers.
    fn cts_mode(&self, rts: &OngoingFrame) -> Mode {
        let slowest = || self.mac.timing.standard.mode(BitRate::from_mbps(6.0));
        let is_mu = rts.users == Users::Opening;
        let of_mu = is_mu.then(slowest).flatten();
        of_mu.unwrap_or_else(|| self.times.response_mode(&rts.mode))
    }
}
