//! What HE MU PPDUs to users with the same modes have in common: computed once and kept.

use super::{Acknowledgement, MU_BAR, Mu};
use crate::mac::aggregation::{BLOCK_ACK_REQUEST, DELIMITER};
use crate::mac::{Rules, TriggerKind, block_ack};
use crate::phy::he::{DataEnd, GroupFormat, GroupLayout, GroupUser, GroupVector, RuSize};
use crate::phy::{Airtime, Coding, Mode};
use kernel::{Bytes, Duration};

/// Shapes that are kept: with rate control there may be very many.
const MOST: usize = 64;

/// A user of a PPDU before its data is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Member {
    /// The mode of its PPDUs of a single user.
    pub(crate) mode: Mode,
    /// Size of its resource unit.
    pub(crate) size: RuSize,
    /// Nobody in particular: the resource unit is for random access.
    pub(crate) is_random: bool,
}

/// PPDUs to users with these modes, and the frames that acknowledge them.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) data: GroupLayout,
    /// MCS of each user.
    pub(crate) mcs: Vec<u8>,
    /// The slowest mode of the users: control frames to all of them follow it.
    pub(crate) slowest: Mode,
    /// The BlockAck of each user and the BlockAckReq to it, without OFDMA.
    pub(crate) answers: Vec<Answer>,
    /// The MU-BAR, and the HE TB PPDUs that follow it.
    pub(crate) triggered: Triggered,
    /// From the end of the data to the end of the last acknowledgement.
    pub(crate) after: Duration,
}

/// How a user is asked for a BlockAck, and answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) request_mode: Mode,
    pub(crate) request: Airtime,
    pub(crate) mode: Mode,
    pub(crate) block_ack: Airtime,
}

/// A MU-BAR, and the HE TB PPDUs that follow it.
#[derive(Clone, Debug)]
pub(crate) struct Triggered {
    pub(crate) mode: Mode,
    pub(crate) bytes: Bytes,
    pub(crate) request: Airtime,
    pub(crate) layout: GroupLayout,
    pub(crate) mcs: Vec<u8>,
    pub(crate) block_acks: Airtime,
    /// Where their data ends.
    pub(crate) end: DataEnd,
    /// How long the access point waits for them to begin.
    pub(crate) timeout: Duration,
    /// How long the HE TB PPDUs last for those who know their LENGTH only.
    pub(crate) announced: Duration,
}

/// The shapes that were used, each with the users that it is for.
#[derive(Debug)]
pub(crate) struct Shapes<S> {
    all: Vec<(Vec<Member>, S)>,
    /// The place of the last one, which is often the next.
    last: usize,
}

impl<S> Default for Shapes<S> {
    fn default() -> Self {
        Self { all: Vec::new(), last: 0 }
    }
}

impl<S> Shapes<S> {
    /// The place of the shape of these users; `None` if there is no such PPDU.
    pub(crate) fn place(
        &mut self,
        of: &[Member],
        make: impl FnOnce(&[Member]) -> Option<S>,
    ) -> Option<usize> {
        if self.all.get(self.last).is_some_and(|(members, _)| members == of) {
            return Some(self.last);
        }
        self.last = match self.all.iter().position(|(members, _)| members == of) {
            Some(place) => place,
            None => self.add(of, make(of)?),
        };
        Some(self.last)
    }

    fn add(&mut self, of: &[Member], shape: S) -> usize {
        if self.all.len() == MOST {
            self.all.clear();
        }
        self.all.push((of.to_vec(), shape));
        self.all.len() - 1
    }

    /// The shape at a place.
    pub(crate) fn at(&self, place: usize) -> &S {
        &self.all[place].1
    }
}

impl Mu {
    /// The MCS of each user: at most that which its resource unit allows.
    pub(super) fn mcs_of(&self, members: &[Member]) -> Vec<u8> {
        let small = |size| size < RuSize::Tones242 && !self.small_1024_qam;
        let capped = |each: &Member| each.mode.mcs.min(if small(each.size) { 9 } else { 11 });
        members.iter().map(capped).collect()
    }
}

/// The slowest mode of these users; `None` if there are none.
pub(super) fn slowest(members: &[Member]) -> Option<Mode> {
    members.iter().map(|each| each.mode).min_by_key(|mode| mode.rate)
}

impl Shape {
    pub(crate) fn new(settings: &Mu, rules: &Rules, members: &[Member]) -> Option<Self> {
        let timing = rules.timing();
        let slowest = slowest(members)?;
        let mcs = settings.mcs_of(members);
        let slowest_mcs = mcs.iter().copied().min()?;
        let vector = settings.vector(timing.standard.band, &slowest, slowest_mcs);
        let data = vector.layout(&users(members, &mcs, settings.coding)).ok()?;
        let answers: Vec<Answer> =
            members.iter().map(|each| Answer::of(rules, &each.mode)).collect();
        let triggered = Triggered::new(settings, rules, members, &mcs, &slowest, &vector)?;
        let after = after(settings.acknowledgement, rules, &answers, &triggered);
        Some(Self { data, mcs, slowest, answers, triggered, after })
    }
}

impl Answer {
    fn of(rules: &Rules, data: &Mode) -> Self {
        let timing = rules.timing();
        let (request_mode, mode) = (timing.rts_mode(data), timing.response_mode(data));
        let request = timing.airtime(&request_mode, BLOCK_ACK_REQUEST);
        let block_ack = timing.airtime(&mode, block_ack(rules.window()));
        Self { request_mode, request, mode, block_ack }
    }
}

impl Triggered {
    fn new(
        settings: &Mu,
        rules: &Rules,
        members: &[Member],
        mcs: &[u8],
        slowest: &Mode,
        data: &GroupVector,
    ) -> Option<Self> {
        let timing = rules.timing();
        let mode = timing.rts_mode(slowest);
        let bytes = TriggerKind::MuBar.bytes(members.len() as u64);
        let most = settings.response_mcs as u8;
        let mcs: Vec<u8> = mcs.iter().map(|&mcs| mcs.min(most)).collect();
        // With the guard interval goes one type of HE-LTF.
        let guard = data.guard.of_trigger_based();
        let vector = GroupVector { format: GroupFormat::Tb, guard, ltf: None, ..*data };
        let users: Vec<GroupUser> = users(members, &mcs, None)
            .into_iter()
            .map(|user| GroupUser { streams: 1, ..user })
            .collect();
        let layout = vector.layout(&users).ok()?;
        let psdu = block_ack(rules.window()) + DELIMITER;
        let (end, fields) = layout.ppdu(users.iter().map(|_| psdu));
        let block_acks = airtime(&fields);
        let announced = layout.announced(fields.total());
        let request = timing.airtime(&mode, bytes);
        let timeout = timing.units_timeout(&layout);
        Some(Self { mode, bytes, request, layout, mcs, block_acks, end, timeout, announced })
    }
}

/// Durations of the fields of a PPDU of several users, as those of others are told.
pub(super) fn airtime(fields: &crate::phy::he::GroupFields) -> Airtime {
    /// L-STF and L-LTF.
    const SYNCHRONISATION: Duration = Duration::from_micros(16);
    Airtime {
        preamble: SYNCHRONISATION,
        header: fields.preamble() - SYNCHRONISATION,
        payload: fields.data,
        extension: fields.packet_extension + fields.signal_extension,
    }
}

pub(super) fn users(members: &[Member], mcs: &[u8], coding: Option<Coding>) -> Vec<GroupUser> {
    let user = |(each, &mcs): (&Member, &u8)| GroupUser {
        size: each.size,
        mcs,
        streams: each.mode.streams,
        coding,
        psdu: MU_BAR,
    };
    members.iter().zip(mcs).map(user).collect()
}

/// From the end of the data to the end of the last acknowledgement, if all arrive.
fn after(
    acknowledgement: Acknowledgement,
    rules: &Rules,
    answers: &[Answer],
    triggered: &Triggered,
) -> Duration {
    let sifs = rules.timing().sifs();
    let triggered_acks = sifs + triggered.announced;
    match acknowledgement {
        Acknowledgement::BarChain => {
            let mut all = Duration::ZERO;
            for (nth, answer) in answers.iter().enumerate() {
                if nth > 0 {
                    all += sifs + answer.request.total();
                }
                all += sifs + answer.block_ack.total();
            }
            all
        }
        Acknowledgement::MuBar => sifs + triggered.request.total() + triggered_acks,
        Acknowledgement::AggregatedMuBar => triggered_acks,
    }
}
