//! An MU exchange as data: a PPDU to several users, and the frames that acknowledge it.

use super::shapes::{Shape, airtime};
use super::{Acknowledgement, MuRts};
use crate::mac::exchange::{Exchange, ExchangeOutcome, Step};
use crate::mac::originator::Psdu;
use crate::mac::timing::Timing;
use crate::mac::{BLOCK_ACK_REQUEST, Bitmap};
use crate::medium::Mpdus;
use crate::phy::he::{DataEnd, GroupFields, Ru, RuSize};
use crate::phy::{Airtime, Mode};
use kernel::{BitRate, Bytes, Duration, Instant};
use wire::FrameKind;

/// A user of an HE MU PPDU.
#[derive(Clone, Copy, Debug)]
pub struct MuUser {
    /// The station, by its node number.
    pub station: u32,
    /// Its place among the stations of the access point.
    pub(crate) place: u32,
    /// Its resource unit.
    pub ru: Ru,
    /// MCS of its data.
    pub mcs: u8,
    /// Its data rate.
    pub rate: BitRate,
    /// The mode of its PPDUs of a single user.
    pub mode: Mode,
    /// Its A-MPDU on the air, a MU-BAR included.
    pub on_air: Bytes,
    /// Whole bytes up to the common end of the data, those of the A-MPDU included.
    pub room: Bytes,
    /// Its A-MPDU.
    pub(crate) psdu: Psdu,
    /// The MPDUs that noise destroys.
    pub(crate) lost: Bitmap,
    /// It receives any of its MPDUs.
    pub(crate) arrives: bool,
    /// It receives the request for its BlockAck, or needs none.
    pub(crate) is_asked: bool,
    /// Its BlockAck is sent, and not lost.
    pub(crate) is_answered: bool,
    /// Its data is sent: no MU-RTS has collided.
    pub(crate) is_sent: bool,
}

impl MuUser {
    /// A user with this mode, and nothing to send.
    pub(crate) fn of(mode: Mode) -> Self {
        Self {
            station: 0,
            place: 0,
            ru: Ru { size: RuSize::Tones26, index: 0 },
            mcs: mode.mcs,
            rate: mode.rate,
            mode,
            on_air: Bytes::ZERO,
            room: Bytes::ZERO,
            psdu: Psdu::NONE,
            lost: Bitmap::default(),
            arrives: false,
            is_asked: false,
            is_answered: false,
            is_sent: true,
        }
    }

    /// The user is this station, which has this to send; nothing of it is on the air yet.
    pub(crate) fn load(&mut self, station: u32, place: u32, psdu: Psdu) {
        (self.station, self.place, self.psdu) = (station, place, psdu);
        (self.lost, self.arrives) = (Bitmap::default(), psdu.mpdus > 0);
        (self.is_asked, self.is_answered, self.is_sent) = (false, false, true);
    }

    /// The number of its MPDUs.
    pub fn mpdus(&self) -> u16 {
        self.psdu.mpdus
    }

    /// The same, as they are reported.
    pub(crate) fn told(&self) -> Mpdus {
        let Psdu { mpdus, repeated, .. } = self.psdu;
        Mpdus { first: mpdus - repeated, repeated }
    }

    /// Whether noise destroys one of its MPDUs.
    pub fn is_lost(&self, index: u16) -> bool {
        self.lost.has(index)
    }

    /// Whether it receives any of its MPDUs.
    pub fn arrives(&self) -> bool {
        self.arrives
    }

    /// Whether it sends a BlockAck when a MU-BAR asks it.
    pub(crate) fn responds(&self) -> bool {
        self.is_asked && self.is_sent
    }

    /// Whether the access point receives its BlockAck.
    pub fn is_answered(&self) -> bool {
        self.is_answered
    }
}

/// A frame that follows the data, or HE TB PPDUs, which are on the air at the same time.
#[derive(Clone, Copy, Debug)]
pub struct MuStep {
    /// Its type, and when it is on the air.
    pub step: Step,
    /// The place of the user that it is for, or that sends it; `None` is all, or all who are asked.
    pub user: Option<usize>,
    /// Whether a BlockAck, or a BlockAckReq, is received.
    pub is_received: bool,
}

/// An HE MU PPDU to several users, and the frames that acknowledge it.
#[derive(Clone, Debug)]
pub struct MuExchange {
    /// The access category of the access point that sends it.
    pub category: u8,
    /// How it is acknowledged.
    pub acknowledgement: Acknowledgement,
    /// What precedes it.
    pub opening: Option<MuRts>,
    /// The users.
    pub users: Vec<MuUser>,
    /// Durations of the fields of the PPDU.
    pub fields: GroupFields,
    /// Where the data of all users ends.
    pub end: DataEnd,
    /// The frames that follow, in the order of their start.
    pub steps: Vec<MuStep>,
    /// How long they take if all are received, from the end of the data.
    pub after: Duration,
    /// The place of its shape.
    pub(crate) shape: usize,
    /// For which list of modes and resource units its users are.
    pub(crate) parts: u32,
    /// Rate control has chosen the mode of a user, and learns what becomes of it.
    pub(crate) adapts: bool,
    /// The last response that was expected has come.
    pub(crate) is_complete: bool,
}

impl MuExchange {
    /// The durations of the PPDU.
    pub fn airtime(&self) -> Airtime {
        airtime(&self.fields)
    }

    /// The tones of all resource units that are in use.
    pub fn tones(&self) -> u32 {
        self.users.iter().map(|user| user.ru.size.tones()).sum()
    }

    /// The A-MPDUs of all users on the air.
    pub(crate) fn psdu(&self) -> Bytes {
        Bytes(self.users.iter().map(|user| user.on_air.0).sum())
    }

    /// The frames that follow the data: of HE TB PPDUs, that of each user.
    pub fn frames(&self) -> impl Iterator<Item = MuStep> {
        self.steps.iter().flat_map(|own| {
            let is_triggered = own.user.is_none() && own.step.kind == FrameKind::BlockAck;
            let asked = self.users.iter().enumerate().filter(|(_, user)| user.is_asked);
            let answers = asked.map(|(nth, user)| MuStep {
                user: Some(nth),
                is_received: user.is_answered,
                ..*own
            });
            let alone = (!is_triggered).then_some(*own);
            alone.into_iter().chain(is_triggered.then_some(answers).into_iter().flatten())
        })
    }

    /// Whether any user's BlockAck arrives.
    pub fn is_answered(&self) -> bool {
        self.users.iter().any(MuUser::is_answered)
    }

    /// The stations that have answered: what follows in the TXOP needs no MU-RTS to them.
    pub(crate) fn protects(&self) -> impl Iterator<Item = u32> {
        let is_open = self.opening.is_some();
        let answered = self.users.iter().filter(move |user| is_open || user.is_answered());
        answered.map(|user| user.station)
    }

    /// The exchange as it occupies the medium, if its data begins now. Its outcome is a success if
    /// any user answers. `steps` become those that follow the data; a chain ends at the latest when
    /// the TXOP does, at `until`.
    pub(crate) fn lay_out(
        &mut self,
        timing: &Timing,
        shape: &Shape,
        start: Instant,
        sender: u32,
        until: Instant,
    ) -> Exchange {
        let data = Step { kind: FrameKind::Data, start, airtime: self.airtime() };
        let (sifs, sent) = (timing.sifs(), data.end());
        self.steps.clear();
        let end = match self.acknowledgement {
            Acknowledgement::BarChain => self.bar_chain(timing, shape, sent, until),
            Acknowledgement::MuBar => {
                let request = Step {
                    kind: FrameKind::Trigger,
                    start: sent + sifs,
                    airtime: shape.triggered.request,
                };
                let is_received = self.users.iter().any(|user| user.is_asked);
                self.steps.push(MuStep { step: request, user: None, is_received });
                self.triggered(shape, request.end() + sifs).unwrap_or(request.end())
            }
            Acknowledgement::AggregatedMuBar => self.triggered(shape, sent + sifs).unwrap_or(sent),
        };
        let is_answered = self.is_answered();
        let outcome =
            if is_answered { ExchangeOutcome::Success } else { ExchangeOutcome::DataLost };
        let planned = sent + self.after;
        Exchange::of_group(sender, data, self.psdu(), outcome, end, planned)
    }

    /// BlockAcks and BlockAckReqs in turns; returns when the last frame ends. A response that does
    /// not come is followed a PIFS after the end of the last frame, so that the TXOP may be over
    /// before all are asked.
    fn bar_chain(
        &mut self,
        timing: &Timing,
        shape: &Shape,
        sent: Instant,
        until: Instant,
    ) -> Instant {
        let (mut end, mut space) = (sent, timing.sifs());
        for (nth, answer) in shape.answers.iter().enumerate() {
            let lasts = answer.request.total() + timing.sifs() + answer.block_ack.total();
            if nth > 0 && end + space + lasts > until {
                self.is_complete = false;
                for user in &mut self.users[nth..] {
                    (user.is_asked, user.is_answered) = (false, false);
                }
                break;
            }
            let user = &self.users[nth];
            if nth > 0 {
                let (start, airtime) = (end + space, answer.request);
                let step = Step { kind: FrameKind::BlockAckRequest, start, airtime };
                self.steps.push(MuStep { step, user: Some(nth), is_received: user.is_asked });
                (end, space) = (step.end(), timing.sifs());
            }
            self.is_complete = user.is_answered;
            if user.is_asked {
                let (start, airtime) = (end + space, answer.block_ack);
                let step = Step { kind: FrameKind::BlockAck, start, airtime };
                self.steps.push(MuStep { step, user: Some(nth), is_received: user.is_answered });
                end = step.end();
            }
            space = if user.is_answered { timing.sifs() } else { timing.pifs() };
        }
        end
    }

    /// The HE TB PPDUs of those who were asked; returns their announced end, or nothing if there
    /// are none.
    fn triggered(&mut self, shape: &Shape, start: Instant) -> Option<Instant> {
        self.is_complete = self.is_answered();
        if !self.users.iter().any(|user| user.is_asked) {
            return None;
        }
        let airtime = shape.triggered.block_acks;
        let step = Step { kind: FrameKind::BlockAck, start, airtime };
        self.steps.push(MuStep { step, user: None, is_received: self.is_complete });
        Some(start + shape.triggered.announced)
    }

    /// The bytes of a frame that follows the data.
    pub(crate) fn bytes(shape: &Shape, kind: FrameKind, block_ack: Bytes) -> Bytes {
        match kind {
            FrameKind::Trigger => shape.triggered.bytes,
            FrameKind::BlockAckRequest => BLOCK_ACK_REQUEST,
            _ => block_ack,
        }
    }
}

/// Divides a time by tones: each share is rounded down, and the last has the rest.
pub(crate) fn shares(
    used: Duration,
    tones: impl Iterator<Item = u32> + Clone,
) -> impl Iterator<Item = Duration> {
    let mut left = (used.0, tones.clone().map(u64::from).sum::<u64>());
    tones.map(move |own| {
        let share = left.0 * u64::from(own) / left.1;
        left = (left.0 - share, left.1 - u64::from(own));
        Duration(share)
    })
}
