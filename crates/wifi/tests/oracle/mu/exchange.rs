//! What follows a PPDU to several stations (clause 26.4.4), and up to when each defers.

use super::durations::{BLOCK_ACK, REQUEST, Units, after, answers_last, control, mu_bar, timeout};
use super::others::Others;
use super::{Derived, Receiver};
use crate::function::Hindrance;
use crate::timing::Times;
use kernel::{Duration, Instant, Rng};
use wifi::mac::Acknowledgement;
use wifi::phy::Mode;
use wire::FrameKind;

/// The exchange of one PPDU.
pub(super) struct Exchange<'a> {
    pub(super) how: Acknowledgement,
    pub(super) times: &'a Times,
    pub(super) noise: &'a mut Rng,
    pub(super) units: Units,
    /// When the TXOP ends.
    pub(super) until: Instant,
}

/// How an exchange has ended: when, who was heard, and whether the last answer came.
pub(super) struct Ended {
    pub(super) at: Instant,
    pub(super) heard: Vec<bool>,
    pub(super) is_complete: bool,
    /// When the access point may count slots again.
    pub(super) resumes: Hindrance,
    /// Up to when the others defer.
    pub(super) others: Others,
}

/// The last answer that the access point has asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answered {
    Heard,
    /// It has come, and could not be decoded.
    Lost,
    Missing,
}

impl Exchange<'_> {
    /// What follows the data; `any` says of each user whether it has received an MPDU.
    pub(super) fn acknowledge(
        &mut self,
        sent: Instant,
        users: &mut [Receiver],
        any: &[bool],
        out: &mut Derived,
    ) -> Ended {
        // Whether each is asked, where no TXOP ends too early, and heard.
        let is_first_asked = self.how == Acknowledgement::BarChain;
        let mut answers = Vec::new();
        for (nth, user) in users.iter_mut().enumerate() {
            let by_data = is_first_asked && nth == 0;
            let is_asked = if by_data { any[0] } else { !user.noise.chance(user.link.ack_loss) };
            answers.push((is_asked, is_asked && !self.noise.chance(user.link.ack_loss)));
        }
        // Who decodes an MPDU that is addressed to it sets no NAV. To all others HE-SIG-A tells
        // when the exchange ends, also to a user that decodes nothing (clause 26.2.4), so that it
        // does not defer for an EIFS (10.3.2.3.7).
        let planned = sent + after(self.how, self.times, &self.units);
        let in_data = self.how == Acknowledgement::AggregatedMuBar;
        let heard = any.iter().zip(&answers).map(|(&any, answer)| any || in_data && answer.0);
        let nodes = users.iter().map(|user| user.node).zip(heard);
        let mut others = Others::of(nodes, planned);
        match self.how {
            Acknowledgement::BarChain => self.chain(sent, users, &answers, others, out),
            Acknowledgement::MuBar => {
                let lasts = control(mu_bar(users.len() as u64));
                let asked = out.add(0, FrameKind::Trigger, sent + self.times.sifs(), lasts);
                if answers.iter().all(|answer| !answer.0) {
                    for user in users.iter() {
                        others.fail(user.node, asked);
                    }
                }
                self.triggered(asked, users, &answers, others, out)
            }
            Acknowledgement::AggregatedMuBar => self.triggered(sent, users, &answers, others, out),
        }
    }

    /// The first answers its data; each other is asked, a PIFS after a gap (clause 10.23.2.8), as
    /// long as the TXOP lasts. What is sent to one, or by it, reserves the rest of the chain.
    fn chain(
        &self,
        sent: Instant,
        users: &[Receiver],
        answers: &[(bool, bool)],
        mut others: Others,
        out: &mut Derived,
    ) -> Ended {
        let (sifs, pifs) = (self.times.sifs(), self.times.sifs() + self.times.slot);
        let (mut at, mut space, mut heard) = (sent, sifs, vec![false; users.len()]);
        let (mut last, mut is_cut) = (Answered::Missing, false);
        let answer = sifs + control(BLOCK_ACK);
        let pair = control(REQUEST) + answer;
        for (nth, (user, &(is_asked, is_heard))) in users.iter().zip(answers).enumerate() {
            is_cut = nth > 0 && at + space + pair > self.until;
            if is_cut {
                break;
            }
            if nth > 0 {
                at = out.add(0, FrameKind::BlockAckRequest, at + space, control(REQUEST));
                space = sifs;
            }
            let reserved = at + answer + (sifs + pair) * (users.len() - 1 - nth) as u64;
            if nth > 0 {
                others.reserve(user.node, reserved);
            }
            if is_asked {
                at = out.add(user.node, FrameKind::BlockAck, at + space, control(BLOCK_ACK));
                others.reserve(user.node, reserved);
            } else if nth > 0 {
                others.fail(user.node, at);
            }
            heard[nth] = is_heard;
            last = Answered::of(is_asked, is_heard);
            space = if is_heard { sifs } else { pifs };
        }
        let ended = self.ended(at, heard, last, others, &users[0].link.mode);
        Ended { is_complete: ended.is_complete && !is_cut, ..ended }
    }

    /// All who have heard the MU-BAR answer at once.
    fn triggered(
        &self,
        asked: Instant,
        users: &[Receiver],
        answers: &[(bool, bool)],
        others: Others,
        out: &mut Derived,
    ) -> Ended {
        let start = asked + self.times.sifs();
        let (mut at, mut heard) = (asked, Vec::new());
        for (user, &(is_asked, is_heard)) in users.iter().zip(answers) {
            if is_asked {
                let [lasts, announced] = answers_last(&self.units);
                out.add(user.node, FrameKind::BlockAck, start, lasts);
                at = start + announced;
            }
            heard.push(is_heard);
        }
        let last = Answered::of(answers.iter().any(|answer| answer.0), heard.contains(&true));
        self.ended(at, heard, last, others, &users[0].link.mode)
    }

    /// After an answer that is missing the access point waits for its timeout, after one that it
    /// could not decode for an EIFS, of which a DIFS is a part.
    fn ended(
        &self,
        at: Instant,
        heard: Vec<bool>,
        last: Answered,
        others: Others,
        mode: &Mode,
    ) -> Ended {
        let mut resumes = Hindrance { busy_until: at, not_before: at };
        match last {
            Answered::Heard => {}
            Answered::Missing => resumes.not_before = at + timeout(self.how, self.times, mode),
            Answered::Lost => resumes.busy_until = at + extra(self.times, mode),
        }
        Ended { at, heard, is_complete: last == Answered::Heard, resumes, others }
    }
}

impl Answered {
    fn of(is_sent: bool, is_heard: bool) -> Self {
        match (is_sent, is_heard) {
            (_, true) => Self::Heard,
            (true, false) => Self::Lost,
            (false, false) => Self::Missing,
        }
    }
}

/// What an EIFS is longer than a DIFS.
pub(super) fn extra(times: &Times, mode: &Mode) -> Duration {
    times.eifs(mode).saturating_sub(times.difs())
}
