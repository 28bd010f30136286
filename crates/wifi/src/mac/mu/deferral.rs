//! Up to when those defer who hear what follows a PPDU to several users.
//!
//! HE-SIG-A tells all when the exchange is to end, and so do the frames of a chain. Who decodes an
//! MPDU that is for it sets no NAV by that PPDU; who decodes nothing does (802.11ax-2021 clause
//! 26.2.4), and therefore defers for no EIFS (clause 10.3.2.3.7). A request that cannot be decoded
//! is followed by an EIFS, unless another frame is decoded after it.

use super::exchange::{MuExchange, MuStep, MuUser};
use super::shapes::Shape;
use crate::mac::Acknowledgement;
use crate::mac::timing::Timing;
use kernel::{Duration, Instant};
use wire::FrameKind;

/// The last answer that the access point has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastAnswer {
    /// It was received.
    Heard,
    /// It came and could not be decoded: the access point defers for an EIFS, longer than a DIFS by
    /// this.
    Lost(Duration),
    /// It did not come.
    Missing,
}

/// Up to when a user defers: its NAV, or an EIFS but for a DIFS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserDeferral {
    pub(crate) station: u32,
    nav: Instant,
    eifs: Instant,
}

impl UserDeferral {
    pub(crate) fn until(&self) -> Instant {
        self.nav.max(self.eifs)
    }
}

/// Who defers after an exchange in which not all was received.
#[derive(Clone, Debug)]
pub(crate) struct GroupDeferral {
    /// The NAV of those who are no users.
    pub(crate) reserved: Instant,
    pub(crate) users: Vec<UserDeferral>,
    pub(crate) last: LastAnswer,
}

impl MuUser {
    /// Whether it decodes anything of the PPDU.
    pub(crate) fn decodes(&self, how: Acknowledgement) -> bool {
        self.arrives() || how == Acknowledgement::AggregatedMuBar && self.is_asked
    }
}

impl MuExchange {
    /// Who defers after it, if its data ended at `sent`; `None` if all was received, so that the
    /// exchange has ended as planned.
    pub(crate) fn deferral(
        &self,
        timing: &Timing,
        shape: &Shape,
        sent: Instant,
    ) -> Option<GroupDeferral> {
        if self.users.iter().all(|user| user.arrives() && user.is_answered()) {
            return None;
        }
        let planned = sent + self.after;
        let user = |user: &MuUser| UserDeferral {
            station: user.station,
            nav: if user.decodes(self.acknowledgement) { Instant::ZERO } else { planned },
            eifs: Instant::ZERO,
        };
        let users = self.users.iter().map(user).collect();
        let mut all = GroupDeferral { reserved: planned, users, last: LastAnswer::Missing };
        match self.acknowledgement {
            Acknowledgement::BarChain => all.hear_chain(&self.steps, timing, shape),
            _ => all.hear_triggered(&self.steps, timing, shape),
        }
        Some(all)
    }
}

impl GroupDeferral {
    /// Who defers if another exchange of the TXOP follows that ends with this: a NAV outlasts what
    /// has set it.
    pub(crate) fn and(self, mut next: Self) -> Self {
        for own in self.users {
            let found = next.users.iter_mut().find(|user| user.station == own.station);
            if let Some(user) = found {
                user.nav = user.nav.max(own.nav);
            } else {
                let nav = own.nav.max(next.reserved);
                next.users.push(UserDeferral { nav, eifs: Instant::ZERO, ..own });
            }
        }
        next.reserved = next.reserved.max(self.reserved);
        next
    }

    /// The NAV of a station.
    pub(crate) fn nav_of(&self, station: u32) -> Instant {
        let own = self.users.iter().find(|user| user.station == station);
        own.map_or(self.reserved, |user| user.nav)
    }

    fn hear_chain(&mut self, steps: &[MuStep], timing: &Timing, shape: &Shape) {
        // The BlockAck that answers the data reserves what the data has reserved.
        let mut reserved = self.reserved;
        for MuStep { step, user, is_received } in steps {
            let Some(nth) = *user else { continue };
            let answer = &shape.answers[nth];
            if step.kind == FrameKind::BlockAckRequest {
                reserved = step.end() + rest_of_chain(nth, timing, shape);
                self.last = LastAnswer::Missing;
                if !is_received {
                    self.users[nth].eifs =
                        step.end() + timing.eifs_beyond_difs(&answer.request_mode);
                }
            } else {
                let lost = LastAnswer::Lost(timing.eifs_beyond_difs(&answer.mode));
                self.last = if *is_received { LastAnswer::Heard } else { lost };
            }
            self.reserved = self.reserved.max(reserved);
            let others = self.users.iter_mut().enumerate().filter(|&(other, _)| other != nth);
            for (_, user) in others {
                (user.nav, user.eifs) = (user.nav.max(reserved), Instant::ZERO);
            }
        }
    }

    fn hear_triggered(&mut self, steps: &[MuStep], timing: &Timing, shape: &Shape) {
        let answers = steps.iter().filter(|own| own.step.kind == FrameKind::BlockAck);
        let received = answers.map(|own| own.is_received).reduce(|any, own| any || own);
        self.last = match received {
            Some(true) => LastAnswer::Heard,
            Some(false) => LastAnswer::Lost(timing.eifs_beyond_difs(&shape.slowest)),
            None => LastAnswer::Missing,
        };
        let request = steps.iter().find(|own| own.step.kind == FrameKind::Trigger);
        if let Some(request) = request.filter(|_| received.is_none()) {
            let eifs = request.step.end() + timing.eifs_beyond_difs(&shape.triggered.mode);
            self.users.iter_mut().for_each(|user| user.eifs = eifs);
        }
    }
}

/// What a BlockAckReq to a user reserves: its BlockAck, and those who follow.
pub(crate) fn rest_of_chain(nth: usize, timing: &Timing, shape: &Shape) -> Duration {
    let sifs = timing.sifs();
    let others = shape.answers[nth + 1..]
        .iter()
        .map(|answer| sifs + answer.request.total() + sifs + answer.block_ack.total());
    sifs + shape.answers[nth].block_ack.total() + others.sum::<Duration>()
}
