//! A triggered exchange as data: a Trigger frame, the HE TB PPDUs of those who hear it, and a
//! Multi-STA BlockAck.

use super::shape::UplinkShape;
use crate::mac::exchange::{Exchange, ExchangeOutcome, Step};
use crate::mac::mu::shapes::airtime;
use crate::mac::mu::{Contender, MuRts, shares};
use crate::mac::originator::Psdu;
use crate::mac::{Bitmap, Rules, TriggerKind};
use crate::phy::he::{DataEnd, GroupFields, Ru};
use crate::phy::{Airtime, Mode};
use crate::{Command, Mpdus};
use kernel::{BitRate, Bytes, Duration, Instant};
use wire::FrameKind;

/// What a station answers to a Trigger frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// It did not hear the Trigger frame, or nothing fits: its resource unit is empty.
    Nothing,
    /// A `QoS` Null.
    Null,
    /// A BlockAckReq that was due.
    Request,
    /// An A-MPDU.
    Data,
}

/// What a Trigger frame allows a station.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    pub(crate) station: u32,
    pub(crate) is_random: bool,
    pub(crate) unit: usize,
    pub(crate) ru: Ru,
    pub(crate) mcs: u8,
    pub(crate) rate: BitRate,
    /// The mode of its PPDUs of a single user.
    pub(crate) mode: Mode,
    /// The bytes of its PSDU, padding included.
    pub(crate) room: Bytes,
}

/// A station that a Trigger frame asks, or that sends in an RA-RU.
#[derive(Clone, Copy, Debug)]
pub struct TriggeredUser {
    /// The station, by its node number; the access point in an RA-RU in which nobody sends.
    pub station: u32,
    /// It is not asked: its resource unit is an RA-RU, in which others may send, too.
    pub is_random: bool,
    /// The place of its resource unit in the Trigger frame.
    pub unit: usize,
    /// Its resource unit.
    pub ru: Ru,
    /// MCS of its data.
    pub mcs: u8,
    /// Its data rate.
    pub rate: BitRate,
    /// The mode of its PPDUs of a single user.
    pub mode: Mode,
    /// The bytes of its PSDU, padding included, which the Trigger frame fixes.
    pub room: Bytes,
    /// Its PSDU on the air.
    pub on_air: Bytes,
    /// What it sends.
    pub response: Response,
    /// Index of the access category of its data.
    pub category: u8,
    /// Its A-MPDU, or its BlockAckReq.
    pub(crate) psdu: Psdu,
    /// What a BSR Control in its `QoS` Null tells of its queues.
    pub(crate) status: Option<u32>,
    /// The retransmissions among its MPDUs.
    pub(crate) repeated: u64,
    /// The MPDUs that noise destroys.
    pub(crate) lost: Bitmap,
    /// Others send in the same resource unit.
    pub(crate) collides: bool,
    /// The access point receives any of it.
    pub(crate) arrives: bool,
    /// It receives the Multi-STA BlockAck.
    pub(crate) hears_ack: bool,
}

impl TriggeredUser {
    /// A station that answers nothing.
    pub(crate) fn silent(allowed: &Allowed, category: u8) -> Self {
        let Allowed { station, is_random, unit, ru, mcs, rate, mode, room } = *allowed;
        Self {
            station,
            is_random,
            unit,
            ru,
            mcs,
            rate,
            mode,
            room,
            on_air: Bytes::ZERO,
            response: Response::Nothing,
            category,
            psdu: Psdu::NONE,
            status: None,
            repeated: 0,
            lost: Bitmap::default(),
            collides: false,
            arrives: false,
            hears_ack: false,
        }
    }

    /// The type of its frame; `None` if it sends none.
    pub(crate) fn kind(&self) -> Option<FrameKind> {
        match self.response {
            Response::Nothing => None,
            Response::Null => Some(FrameKind::QosNull),
            Response::Request => Some(FrameKind::BlockAckRequest),
            Response::Data => Some(FrameKind::Data),
        }
    }

    /// The number of its MPDUs with data.
    pub fn mpdus(&self) -> u16 {
        if self.response == Response::Data { self.psdu.mpdus } else { 0 }
    }

    /// Whether it sends what is acknowledged.
    pub fn sends(&self) -> bool {
        matches!(self.response, Response::Data | Response::Request)
    }

    /// Whether noise destroys one of its MPDUs.
    pub fn is_lost(&self, index: u16) -> bool {
        !self.arrives || self.lost.has(index)
    }

    /// Whether others send in the same resource unit, so that nothing arrives.
    pub fn collides(&self) -> bool {
        self.collides
    }

    /// Whether the access point receives any of it.
    pub fn arrives(&self) -> bool {
        self.arrives
    }

    /// Whether the Multi-STA BlockAck acknowledges something to it.
    pub fn is_acknowledged(&self) -> bool {
        self.arrives && self.sends()
    }

    /// Whether it receives the Multi-STA BlockAck.
    pub fn hears_ack(&self) -> bool {
        self.hears_ack
    }

    /// Whether it knows that something has arrived.
    pub fn is_told(&self) -> bool {
        self.is_acknowledged() && self.hears_ack
    }

    /// The EDCAF of its data, where those of a node are numbered in succession.
    pub(crate) fn edcaf(&self, per_node: u32) -> u32 {
        self.station * per_node + u32::from(self.category)
    }

    /// Bits of its bitmap: a single MPDU needs none.
    pub(crate) fn bits(&self, window: u16) -> u16 {
        match (self.response, self.psdu.mpdus) {
            (Response::Data, 1) => 0,
            _ if window <= 64 => 64,
            _ => 256,
        }
    }
}

/// A Trigger frame and what follows it.
#[derive(Clone, Debug)]
pub struct TriggeredExchange {
    /// The access category of the access point that has won the medium.
    pub category: u8,
    /// The type of the Trigger frame.
    pub kind: TriggerKind,
    /// What precedes it.
    pub opening: Option<MuRts>,
    /// The stations that it asks, and then those that send in RA-RUs, in the order of the resource
    /// units.
    pub users: Vec<TriggeredUser>,
    /// Those that have something to send and are not asked, as they were before.
    pub contenders: Vec<Contender>,
    /// The Trigger frame.
    pub trigger: Step,
    /// Its bytes.
    pub trigger_bytes: Bytes,
    /// Durations of the fields of the HE TB PPDUs.
    pub fields: GroupFields,
    /// Where their data ends.
    pub end: DataEnd,
    /// How long they last for those who know their LENGTH only.
    pub announced: Duration,
    /// When they begin; `None` if nobody answers.
    pub answers: Option<Instant>,
    /// The Multi-STA BlockAck and its bytes.
    pub ack: Option<(Step, Bytes)>,
    /// The place of its shape.
    pub(crate) shape: usize,
}

impl TriggeredExchange {
    /// The durations of the HE TB PPDUs.
    pub fn airtime(&self) -> Airtime {
        airtime(&self.fields)
    }

    /// When the HE TB PPDUs end.
    pub fn answered(&self) -> Option<Instant> {
        self.answers.map(|start| start + self.airtime().total())
    }

    /// The resource units: those who send in each, or for whom it is.
    pub fn units(&self) -> impl Iterator<Item = &[TriggeredUser]> + Clone {
        self.users.chunk_by(|one, other| one.unit == other.unit)
    }

    /// The tones of all resource units that it gives.
    pub fn tones(&self) -> u32 {
        self.units().map(|unit| unit[0].ru.size.tones()).sum()
    }

    /// Whether it asks no station in particular, so that no answer is no failure.
    pub fn asks_nobody(&self) -> bool {
        self.users.iter().all(|user| user.is_random)
    }

    /// Whether the access point receives anything.
    pub fn is_answered(&self) -> bool {
        self.users.iter().any(|user| user.arrives)
    }

    /// The stations that have answered: what follows in the TXOP needs no MU-RTS to them.
    pub(crate) fn protects(&self) -> impl Iterator<Item = u32> {
        let is_open = self.opening.is_some();
        let has_answered =
            move |user: &&TriggeredUser| user.arrives() || is_open && !user.is_random;
        self.users.iter().filter(has_answered).map(|user| user.station)
    }

    /// Reports the airtime of each station: its share of the exchange is that of its tones, which
    /// stations that collide divide. That of empty resource units is the access point's.
    pub(crate) fn report(&self, access_point: u32, used: Duration, out: &mut Vec<Command>) {
        let tones = self.units().map(|unit| unit[0].ru.size.tones());
        let of_units = self.units().zip(shares(used, tones));
        let of_users =
            of_units.flat_map(|(unit, used)| unit.iter().zip(shares(used, unit.iter().map(|_| 1))));
        let mut empty = Duration::ZERO;
        for (user, used) in of_users {
            if user.response == Response::Nothing {
                empty += used;
                continue;
            }
            let mpdus = Mpdus::of(user.mpdus(), user.repeated);
            let (node, peer, arrived) = (user.station, Some(access_point), user.arrives());
            out.push(Command::ExchangeSent { node, peer, used, arrived, mpdus });
        }
        if empty > Duration::ZERO {
            let (node, peer, mpdus) = (access_point, None, Mpdus::default());
            out.push(Command::ExchangeSent { node, peer, used: empty, arrived: false, mpdus });
        }
    }

    /// The exchange as it occupies the medium, if its Trigger frame begins now. It is a success if
    /// any station answers and the access point receives it.
    pub(crate) fn lay_out(
        &mut self,
        rules: &Rules,
        shape: &UplinkShape,
        start: Instant,
        sender: u32,
    ) -> Exchange {
        let sifs = rules.timing().sifs();
        let airtime = shape.trigger(rules, self.kind);
        self.trigger = Step { kind: FrameKind::Trigger, start, airtime };
        self.trigger_bytes = shape.trigger_bytes(self.kind);
        let planned = start + shape.around(rules, self.kind) + self.announced;
        let answers = self.trigger.end() + sifs;
        let any = self.users.iter().any(|user| user.response != Response::Nothing);
        self.answers = any.then_some(answers);
        let over = answers + self.announced;
        self.ack = self.users.iter().any(TriggeredUser::is_acknowledged).then(|| {
            let told = self.users.iter().filter(|user| user.is_acknowledged());
            let (bytes, airtime) = shape.ack(rules, told.map(|user| user.bits(rules.window())));
            (Step { kind: FrameKind::BlockAck, start: over + sifs, airtime }, bytes)
        });
        let end = match (any, &self.ack) {
            (false, _) => self.trigger.end(),
            (true, None) => over,
            (true, Some((step, _))) => step.end(),
        };
        let is_answered = self.is_answered();
        let outcome =
            if is_answered { ExchangeOutcome::Success } else { ExchangeOutcome::DataLost };
        Exchange::of_group(sender, self.trigger, self.trigger_bytes, outcome, end, planned)
    }
}
