//! Groups of users: the exchange of an HE MU PPDU or of HE TB PPDUs, from its keys.

use super::exchange::{Ends, Exchange, GroupParts};
use super::frames::{Frames, too_long, us};
use super::keys::{AckSequence, Bitmap, Direction, GroupKeys, MOST_USERS};
use kernel::Bytes;
use settings::{Choice, Faults, Json, json, said};
use wifi::mac::{DELIMITER, FCS, MuProtection, QOS_CONTROL, TriggerKind, padded};
use wifi::phy::he::{
    GroupFault, GroupFormat, GroupPpdu, GroupUser, GroupVector, Ru, RuSize, SigBMode,
    user_info_code,
};
use wifi::phy::{
    Coding, Guard, HeLtf, McsKeys, Mode, ModeClass, PpduTiming, Punctured, Puncturing, Standard,
    Width,
};

/// The highest MCS of BlockAcks in HE TB PPDUs.
const USUAL_RESPONSE_MCS: u32 = 5;
/// MAC header of a `QoS` Data frame without its `QoS` Control.
const MAC_HEADER: Bytes = Bytes(24);
/// What the A-MPDU of a user has more with a MU-BAR in it.
const MU_BAR: Bytes = Bytes(DELIMITER.0 + TriggerKind::MuBar.bytes(1).0);
/// A `QoS` Null with HT Control, FCS and delimiter: a buffer report.
const BUFFER_REPORT: Bytes = Bytes(DELIMITER.0 + MAC_HEADER.0 + QOS_CONTROL.0 + 4 + FCS.0);

/// A user with all that was not given.
#[derive(Clone)]
struct Resolved {
    /// Its place in the list of users.
    place: usize,
    user: GroupUser,
    frames: Frames,
}

/// A query about a group.
pub(super) struct Group<'a> {
    pub(super) standard: &'static Standard,
    pub(super) keys: &'a GroupKeys,
    // What users have that say nothing of it.
    pub(super) psdu_bytes: Option<u64>,
    pub(super) mpdus: Option<u64>,
    pub(super) modes: &'a McsKeys,
    pub(super) punctured: Punctured,
    pub(super) coding: Option<Coding>,
    // What all have in common.
    pub(super) ltf: Option<HeLtf>,
    pub(super) timing: PpduTiming,
    pub(super) rate_mbps: Option<f64>,
}

impl Group<'_> {
    /// The exchange as JSON.
    pub(super) fn answer(&self, faults: &mut Faults) -> Option<Json> {
        self.refuse(faults);
        let control = self.control(faults);
        if !faults.0.is_empty() {
            return None;
        }
        let users = self.users(faults)?;
        let (data, exchange) = self.exchange(&users, control, faults)?;
        Some(self.told(&users, &data, exchange))
    }

    fn direction(&self) -> Direction {
        self.keys.direction.unwrap_or_default()
    }

    fn ack(&self) -> AckSequence {
        self.keys.ack.unwrap_or_default()
    }

    fn width(&self) -> Width {
        self.modes.width.unwrap_or_default()
    }

    fn channel(&self) -> Puncturing {
        Puncturing { width: self.width(), punctured: self.punctured }
    }

    /// What groups do not have.
    fn refuse(&self, faults: &mut Faults) {
        let keys = self.keys;
        if self.standard.high != Some(ModeClass::He) {
            let name = self.standard.name();
            let why = match self.standard.high {
                Some(ModeClass::Eht) => "PPDUs of several users are modelled for 11ax only",
                _ => "PPDUs of several users are of 802.11ax",
            };
            faults.fault("standard", said!("{why}, not of {name}", "take 11ax"));
        }
        match self.direction() {
            Direction::Up if keys.ack.is_some() => {
                faults.fault(
                    "ack",
                    said!("applies to the direction down", "a Multi-STA BlockAck ends up"),
                );
            }
            Direction::Up if keys.sig_b_mcs.is_some() => {
                faults.fault(
                    "sig_b_mcs",
                    said!("applies to the direction down", "HE TB PPDUs have none"),
                );
            }
            Direction::Up if keys.bsrp && keys.protection == Some(MuProtection::MuRts) => {
                faults.fault(
                    "protection",
                    said!("a BSRP goes without", "its answers protect what follows"),
                );
            }
            Direction::Down if keys.bsrp => {
                faults.fault("bsrp", "applies to the direction up");
            }
            _ => {}
        }
        let given: u64 = keys.users.iter().map(|user| user.count).sum();
        if given == 0 {
            faults.fault("users", said!("are none", "give one at least, or remove the key"));
        }
        if given > MOST_USERS {
            let message = format!("are at most {MOST_USERS}, one on each 26 tones, not {given}");
            faults.fault("users", message);
        }
    }

    /// The mode of all control frames, if a rate is given.
    fn control(&self, faults: &mut Faults) -> Option<Mode> {
        let mbps = self.rate_mbps?;
        let mode = self.standard.mode_at(mbps);
        mode.map_err(|message| faults.fault("rate_mbps", message)).ok()
    }

    /// The path of a key of a user: where it is written.
    fn path(&self, place: usize, key: &str) -> String {
        let user = &self.keys.users[place];
        let of_all = match key {
            "mcs" => user.mcs.is_none() && self.modes.mcs.is_some(),
            "streams" => user.streams.is_none() && self.modes.streams.is_some(),
            "coding" => user.coding.is_none() && self.coding.is_some(),
            "mpdus" => user.mpdus.is_none() && self.mpdus.is_some(),
            "psdu_bytes" => user.psdu_bytes.is_none() && self.psdu_bytes.is_some(),
            "msdu_bytes" => user.msdu_bytes.is_none() && self.keys.msdu_bytes.is_some(),
            _ => false,
        };
        if of_all { key.to_owned() } else { format!("users[{place}].{key}") }
    }

    fn users(&self, faults: &mut Faults) -> Option<Vec<Resolved>> {
        let places: Vec<usize> = (0..self.keys.users.len())
            .flat_map(|place| vec![place; self.keys.users[place].count as usize])
            .collect();
        let sizes = self.sizes(&places, faults)?;
        let before = faults.0.len();
        let mut users = Vec::new();
        for (&place, size) in places.iter().zip(sizes) {
            // Of users that are alike, one is told.
            if users.last().is_some_and(|last: &Resolved| last.place == place) {
                users.push(users[users.len() - 1].clone());
            } else if let Some(user) = self.user(place, size, faults) {
                users.push(user);
            }
        }
        (faults.0.len() == before).then_some(users)
    }

    /// The sizes of all resource units: those given, and for the others the widest that fit.
    fn sizes(&self, places: &[usize], faults: &mut Faults) -> Option<Vec<RuSize>> {
        let asked: Vec<_> = places.iter().map(|&place| self.keys.users[place].ru).collect();
        let with = |size| asked.iter().map(|ru| ru.unwrap_or(size)).collect::<Vec<_>>();
        let fits = |size: &RuSize| Ru::place(self.channel(), &with(*size)).is_ok();
        let widest = RuSize::ALL.into_iter().rev().find(fits);
        let (users, mhz) = (places.len(), self.channel().occupied_mhz());
        let most = RuSize::Tones26.number_in(self.channel());
        if widest.is_none() && asked.iter().all(Option::is_none) {
            let message = format!(
                "{users} are more than the {most} resource units of {mhz} MHz [802.11ax-2021 \
                 27.3.2]"
            );
            faults.fault("users", message);
            return None;
        }
        // If nothing fits, the PPDU says which is too much.
        Some(with(widest.unwrap_or(RuSize::Tones26)))
    }

    fn user(&self, place: usize, size: RuSize, faults: &mut Faults) -> Option<Resolved> {
        let given = &self.keys.users[place];
        let highest = if size >= RuSize::Tones242 || self.keys.small_1024_qam { 11 } else { 9 };
        let mcs = given.mcs.or(self.modes.mcs).unwrap_or(highest);
        let frames = self.frames(place, faults)?;
        let psdu = frames.psdu(self.standard, ModeClass::He, faults)?;
        let user = GroupUser {
            size,
            mcs: u8::try_from(mcs).unwrap_or(u8::MAX),
            streams: given.streams.or(self.modes.streams).unwrap_or(1) as u8,
            coding: given.coding.or(self.coding),
            psdu,
        };
        Some(Resolved { place, user, frames })
    }

    /// What a user's PSDU consists of. A length of its own replaces both of all.
    fn frames(&self, place: usize, faults: &mut Faults) -> Option<Frames> {
        let given = &self.keys.users[place];
        let own = given.psdu_bytes.is_some() || given.msdu_bytes.is_some();
        let (psdu, msdu) = if own {
            (given.psdu_bytes, given.msdu_bytes)
        } else {
            (self.psdu_bytes, self.keys.msdu_bytes)
        };
        let header = MAC_HEADER + QOS_CONTROL + FCS;
        let (key, bytes, header) = match (psdu, msdu) {
            (Some(_), Some(_)) => {
                let message = said!("cannot be combined with psdu_bytes", "remove one");
                faults.fault(self.path(place, "msdu_bytes"), message);
                return None;
            }
            (Some(bytes), None) => ("psdu_bytes", bytes, Bytes::ZERO),
            (None, Some(bytes)) => ("msdu_bytes", bytes, header),
            (None, None) => {
                let message = said!("missing", "as 1536, or msdu_bytes");
                faults.fault(self.path(place, "psdu_bytes"), message);
                return None;
            }
        };
        let mpdus = given.mpdus.or(self.mpdus);
        Some(Frames {
            bytes: Bytes(bytes),
            header,
            // An MSDU is in an MPDU, which has a delimiter.
            mpdus: mpdus.or((key == "msdu_bytes").then_some(1)),
            bytes_at: self.path(place, key),
            mpdus_at: self.path(place, "mpdus"),
        })
    }

    fn vector(&self, format: GroupFormat, guard: Guard) -> GroupVector {
        GroupVector {
            format,
            band: self.standard.band,
            width: self.width(),
            punctured: self.punctured,
            guard,
            ltf: self.ltf,
            padding: self.keys.padding.unwrap_or_default(),
            small_1024_qam: self.keys.small_1024_qam,
            timing: self.timing,
        }
    }

    /// The vector of the data.
    fn data(&self, users: &[Resolved]) -> GroupVector {
        let guard = self.modes.guard;
        if self.direction() == Direction::Up {
            return self.vector(GroupFormat::Tb, guard.unwrap_or(Guard::Ns1600));
        }
        let slowest = users.iter().map(|each| each.user.mcs).min().unwrap_or(0);
        let usual = SigBMode::for_slowest(slowest);
        let asked = |mcs| SigBMode { mcs: mcs as u8, ..usual };
        let mode = self.keys.sig_b_mcs.map_or(usual, asked);
        self.vector(GroupFormat::Mu(mode), guard.unwrap_or_default())
    }

    /// The data of all users, and the exchange.
    fn exchange(
        &self,
        users: &[Resolved],
        control: Option<Mode>,
        faults: &mut Faults,
    ) -> Option<(GroupPpdu, Exchange)> {
        let up = self.direction() == Direction::Up;
        let aggregated = !up && self.ack() == AckSequence::AggregatedMuBar;
        let data = self.ppdu(&self.data(users), users, faults, |user| GroupUser {
            psdu: if aggregated { padded(user.psdu) + MU_BAR } else { user.psdu },
            ..*user
        })?;
        let parts = GroupParts {
            standard: self.standard,
            mcs: users.iter().map(|each| each.user.mcs).collect(),
            control,
            ns3: self.timing == PpduTiming::Ns3,
            bitmap: self.bitmap(users),
            time_to_prepare: self.keys.trigger_padding.unwrap_or_default().lasts(),
        };
        let mut exchange = Exchange::after(self.keys.access.unwrap_or_default());
        if self.keys.protection == Some(MuProtection::MuRts) {
            parts.mu_rts(&mut exchange);
        }
        if up {
            let mut reports = None;
            if self.keys.bsrp {
                reports = Some(self.responses(users, BUFFER_REPORT, u8::MAX, faults)?);
            }
            parts.up(&mut exchange, reports.as_ref(), &data);
        } else {
            let most = self.keys.response_mcs.unwrap_or(USUAL_RESPONSE_MCS) as u8;
            let acks = parts.block_ack() + DELIMITER;
            let ends = match self.ack() {
                AckSequence::None => Ends::Nothing,
                AckSequence::BarChain => Ends::BarChain,
                AckSequence::MuBar => Ends::MuBar(self.responses(users, acks, most, faults)?),
                AckSequence::AggregatedMuBar => {
                    Ends::Triggered(self.responses(users, acks, most, faults)?)
                }
            };
            parts.down(&mut exchange, &data, &ends);
        }
        Some((data, exchange))
    }

    /// HE TB PPDUs with a control frame or a report of each user, in at most this MCS.
    fn responses(
        &self,
        users: &[Resolved],
        psdu: Bytes,
        most: u8,
        faults: &mut Faults,
    ) -> Option<GroupPpdu> {
        let long = self.modes.guard == Some(Guard::Ns3200);
        let guard = if long { Guard::Ns3200 } else { Guard::Ns1600 };
        // With the guard interval goes one type of HE-LTF.
        let vector = GroupVector { ltf: None, ..self.vector(GroupFormat::Tb, guard) };
        self.ppdu(&vector, users, faults, |user| GroupUser {
            psdu,
            mcs: user.mcs.min(most),
            streams: 1,
            coding: None,
            ..*user
        })
    }

    /// The PPDU of all users, after a change to each.
    fn ppdu(
        &self,
        vector: &GroupVector,
        users: &[Resolved],
        faults: &mut Faults,
        change: impl Fn(&GroupUser) -> GroupUser,
    ) -> Option<GroupPpdu> {
        let changed: Vec<GroupUser> = users.iter().map(|each| change(&each.user)).collect();
        let refused = match vector.ppdu(&changed) {
            Ok(ppdu) => return Some(ppdu),
            Err(refused) => refused,
        };
        match refused {
            GroupFault::Parameter { user: None, fault } => {
                faults.fault(fault.parameter, fault.said);
            }
            GroupFault::Parameter { user: Some(user), fault } => {
                faults.fault(self.path(users[user].place, fault.parameter), fault.said);
            }
            GroupFault::TooLong { lasts, user, room } => {
                let Resolved { place, user: own, frames } = &users[user];
                let more = changed[user].psdu.0.saturating_sub(own.psdu.0);
                // What follows the A-MPDU begins at a multiple of 4 bytes.
                let own_room = |room: Bytes| match more {
                    0 => room,
                    more => Bytes(room.0.saturating_sub(more) / 4 * 4),
                };
                match room.map(own_room).filter(|room| *room > frames.header + DELIMITER) {
                    Some(room) => frames.refuse_length(lasts, room, faults),
                    None => faults.fault(format!("users[{place}]"), too_long(lasts)),
                }
            }
        }
        None
    }

    fn bitmap(&self, users: &[Resolved]) -> u16 {
        let most = users.iter().filter_map(|each| each.frames.mpdus).max().unwrap_or(1);
        let needed = if most <= 64 { Bitmap::Of64 } else { Bitmap::Of256 };
        self.keys.block_ack_window.unwrap_or(needed).bits()
    }

    fn told(&self, users: &[Resolved], data: &GroupPpdu, exchange: Exchange) -> Json {
        let Exchange { parts, lasts } = exchange;
        let each = users.iter().zip(&data.users).enumerate().map(|(nth, (user, part))| {
            json!({
                "user": nth,
                "ru": part.ru.size.tones(),
                "ru_index": part.ru.index,
                "ru_allocation": user_info_code(part.ru),
                "mcs": user.user.mcs,
                "streams": user.user.streams,
                "coding": part.coding.name(),
                "rate_mbps": part.rate.as_mbps(),
                "psdu_bytes": user.user.psdu.0,
                "mpdus": user.frames.mpdus,
                "payload_bytes": user.frames.payload().0,
                "symbols": part.symbols,
                "idle_us": us(part.idle),
                "padding_bytes": part.padding.0,
            })
        });
        let each: Vec<Json> = each.collect();
        let payload = Bytes(users.iter().map(|user| user.frames.payload().0).sum());
        let total_us = us(lasts);
        json!({
            "direction": self.direction().name(),
            "width_mhz": self.width().mhz(),
            "users": each,
            "parts": parts,
            "payload_bytes": payload.0,
            "total_us": total_us,
            "throughput_mbps": payload.bits() as f64 / total_us,
        })
    }
}
