//! The PPDUs of access points to several users among radios.

use kernel::{Bytes, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};
use wifi::mac::{MuExchange, TriggerKind, TriggeredExchange, TriggeredUser};
use wifi::phy::Puncturing;
use wifi::phy::he::RuSize;
use wifi::space::{OngoingFrame, Space, Users};
use wire::FrameKind;

/// A PPDU to several users, and their MPDUs.
#[derive(Debug)]
pub(super) struct GroupSent {
    from: u32,
    pub(super) end: Instant,
    pub(super) exchange: MuExchange,
    pub(super) mpdus: Vec<Vec<(u16, Bytes)>>,
}

impl GroupSent {
    /// The MPDUs of all users.
    pub(super) fn total(&self) -> usize {
        self.mpdus.iter().map(Vec::len).sum()
    }
}

/// An MU-RTS.
#[derive(Debug)]
struct Opened {
    from: u32,
    /// Those that it asks.
    stations: Vec<u32>,
    /// How many MPDUs the access point sends after it.
    mpdus: usize,
}

/// A Trigger frame, and what stations answer.
#[derive(Debug)]
pub(super) struct TriggerSent {
    pub(super) frame: OngoingFrame,
    pub(super) exchange: TriggeredExchange,
    /// The stations whose answers the access point has decoded.
    pub(super) decoded: BTreeSet<u32>,
    /// Those that have decoded its acknowledgement.
    pub(super) told: BTreeSet<u32>,
}

/// The last PPDU of each access point to several users, and its last Trigger frame that asks
/// stations for frames of their own.
#[derive(Debug, Default)]
pub(super) struct Groups {
    sent: Vec<GroupSent>,
    triggers: Vec<TriggerSent>,
    /// The last MU-RTS of each access point.
    opened: Vec<Opened>,
    /// The access points to which stations that roam have turned: they accept frames of no other.
    turned: BTreeMap<u32, u32>,
}

impl Groups {
    /// Who answers Trigger frames may have changed.
    pub(super) fn follow(&mut self, space: &Space) {
        for own in &mut self.triggers {
            let now = space.triggered_by(own.frame.from);
            if let Some(now) = now.filter(|now| now.trigger.start == own.frame.start) {
                own.exchange = now.clone();
            }
        }
    }

    /// A frame begins. Returns what its access point has triggered before, which is over then.
    pub(super) fn on_begin(&mut self, frame: &OngoingFrame, space: &Space) -> Option<TriggerSent> {
        match frame.users {
            Users::Opening => {
                self.on_mu_rts(frame.from, space);
                return None;
            }
            Users::Together => return None,
            _ => {}
        }
        let access_point = frame.to.filter(|_| frame.users.is_unit()).unwrap_or(frame.from);
        if let Some(exchange) = space.triggered_by(access_point).cloned() {
            let is_trigger = frame.kind == FrameKind::Trigger;
            if !is_trigger {
                return None;
            }
            let over = self.end_trigger(access_point);
            let (frame, decoded, told) = (*frame, BTreeSet::new(), BTreeSet::new());
            self.triggers.push(TriggerSent { frame, exchange, decoded, told });
            self.sent.retain(|group| group.from != access_point);
            return over;
        }
        if !(frame.users == Users::Several && frame.kind == FrameKind::Data) {
            return None;
        }
        let over = self.end_trigger(frame.from);
        let Some(exchange) = space.group_of(frame.from).cloned() else { return over };
        let to = |user| space.mpdus_to(frame.from, frame.edcaf, user).collect();
        let mpdus = exchange.users.iter().map(|user| to(user.station)).collect();
        let (from, end) = (frame.from, frame.end);
        self.sent.retain(|group| group.from != from);
        self.sent.push(GroupSent { from, end, exchange, mpdus });
        over
    }

    /// An access point begins an exchange with an MU-RTS.
    fn on_mu_rts(&mut self, from: u32, space: &Space) {
        let (stations, mpdus) = match (space.triggered_by(from), space.group_of(from)) {
            (Some(triggered), _) => {
                let asked = triggered.users.iter().filter(|user| !user.is_random);
                (asked.map(|user| user.station).collect(), 1)
            }
            (None, Some(group)) => {
                let mpdus = group.users.iter().map(|user| usize::from(user.mpdus())).sum();
                (group.users.iter().map(|user| user.station).collect(), mpdus)
            }
            (None, None) => (Vec::new(), 0),
        };
        self.opened.retain(|own| own.from != from);
        self.opened.push(Opened { from, stations, mpdus });
    }

    /// The stations that the last MU-RTS of an access point has asked, and how many MPDUs follow.
    pub(super) fn opened(&self, access_point: u32) -> (&[u32], usize) {
        let own = self.opened.iter().find(|own| own.from == access_point);
        own.map_or((&[], 0), |own| (&own.stations, own.mpdus))
    }

    fn end_trigger(&mut self, access_point: u32) -> Option<TriggerSent> {
        let place = self.triggers.iter().position(|own| own.frame.from == access_point)?;
        Some(self.triggers.swap_remove(place))
    }

    /// An access point has decoded what a station answers to its Trigger frame. Returns whether it
    /// is alone with that in its resource unit.
    pub(super) fn on_decoded(&mut self, access_point: u32, station: u32) -> bool {
        let Some(own) = self.trigger_mut(access_point) else { return true };
        own.decoded.insert(station);
        let decoded = own.exchange.users.iter().filter(|user| own.decoded.contains(&user.station));
        let unit = |station| decoded.clone().find(|user| user.station == station).map(|it| it.unit);
        decoded.clone().filter(|user| Some(user.unit) == unit(station)).count() <= 1
    }

    /// A node has decoded a frame for it: if it is a Multi-STA BlockAck that acknowledges something
    /// to it, returns the type of the Trigger frame and what the node has answered.
    pub(super) fn on_told(
        &mut self,
        frame: &OngoingFrame,
        node: u32,
    ) -> Option<(TriggerKind, TriggeredUser)> {
        if frame.users != Users::Several || frame.kind != FrameKind::BlockAck {
            return None;
        }
        let TriggerSent { exchange, told, .. } = self.trigger_mut(frame.from)?;
        let mut users = exchange.users.iter();
        let user = users.find(|user| user.station == node && user.is_acknowledged())?;
        told.insert(node);
        Some((exchange.kind, *user))
    }

    fn trigger_mut(&mut self, access_point: u32) -> Option<&mut TriggerSent> {
        self.triggers.iter_mut().find(|own| own.frame.from == access_point)
    }

    /// The Trigger frame of an access point to which stations answer.
    pub(super) fn trigger_of(&self, access_point: u32) -> Option<&TriggerSent> {
        self.triggers.iter().find(|own| own.frame.from == access_point)
    }

    /// A PPDU of an access point that ends now, whose MPDUs are not looked at.
    #[cfg(test)]
    pub(super) fn put(&mut self, from: u32, end: Instant, exchange: MuExchange) {
        let mpdus = exchange.users.iter().map(|_| Vec::new()).collect();
        self.sent.push(GroupSent { from, end, exchange, mpdus });
    }

    /// An access point asks these stations for CTSs before so many MPDUs.
    #[cfg(test)]
    pub(super) fn put_opened(&mut self, from: u32, stations: Vec<u32>, mpdus: usize) {
        self.opened.push(Opened { from, stations, mpdus });
    }

    /// A Trigger frame, whose stations have sent and been decoded.
    #[cfg(test)]
    pub(super) fn put_trigger(&mut self, frame: OngoingFrame, exchange: TriggeredExchange) {
        let decoded = exchange.users.iter().map(|user| user.station).collect();
        self.triggers.push(TriggerSent { frame, exchange, decoded, told: BTreeSet::new() });
    }

    /// What access points have decoded of answers is as if they had not.
    #[cfg(test)]
    pub(super) fn forget_decoded(&mut self) {
        self.triggers.iter_mut().for_each(|own| own.decoded.clear());
    }

    pub(super) fn of(&self, access_point: u32) -> Option<&GroupSent> {
        self.sent.iter().find(|group| group.from == access_point)
    }

    /// A station accepts frames from this access point, and from no other.
    pub(super) fn on_left(&mut self, station: u32, towards: u32) {
        self.turned.insert(station, towards);
    }

    /// To whom a frame is, as a node sees it: a user is one, and others are none.
    pub(super) fn receiver(&self, frame: &OngoingFrame, node: u32) -> Option<u32> {
        let is_to_users = matches!(frame.users, Users::Several | Users::Opening);
        if is_to_users && self.turned.get(&node).is_some_and(|&own| own != frame.from) {
            return Some(frame.from);
        }
        if frame.users == Users::Opening {
            let is_asked = self.opened(frame.from).0.contains(&node);
            return Some(if is_asked { node } else { frame.from });
        }
        if frame.users != Users::Several {
            return frame.to;
        }
        if let Some(own) = self.trigger_of(frame.from) {
            let is_asked = |user: &&TriggeredUser| {
                user.station == node && (frame.kind == FrameKind::Trigger || user.sends())
            };
            let is_user = own.exchange.users.iter().any(|user| is_asked(&user));
            return Some(if is_user { node } else { frame.from });
        }
        let mut users = self.of(frame.from).into_iter().flat_map(|group| &group.exchange.users);
        Some(if users.any(|user| user.station == node) { node } else { frame.from })
    }

    /// After what time a frame in resource units is known to be one: an HE MU PPDU at the end of
    /// its preamble, an HE TB PPDU at the end of L-SIG.
    pub(super) fn detected_after(&self, frame: &OngoingFrame) -> Option<Duration> {
        match (frame.users, frame.kind) {
            (Users::Unit(_), _) => Some(Duration::from_micros(20)),
            (Users::Several, FrameKind::Data) => {
                self.of(frame.from).map(|group| group.exchange.fields.preamble())
            }
            _ => None,
        }
    }

    /// How much narrower than the channel the resource unit of a station is that answers a node.
    pub(super) fn concentration(&self, frame: &OngoingFrame, node: u32) -> f64 {
        let Users::Unit(nth) = frame.users else { return 1.0 };
        if frame.to != Some(node) {
            return 1.0;
        }
        let of_trigger = self.trigger_of(node).and_then(|own| {
            let mut users = own.exchange.users.iter();
            users.find(|user| user.station == frame.from).map(|user| user.ru.size)
        });
        let of_group =
            || self.of(node)?.exchange.users.get(usize::from(nth)).map(|own| own.ru.size);
        let own = of_trigger.or_else(of_group);
        own.map_or(1.0, |own| f64::from(tones(frame.mode.channel())) / f64::from(own.tones()))
    }
}

/// The tones of the largest resource units of a channel without what is punctured: 242 in 20 MHz,
/// 484 in 40, 996 in 80.
fn tones(channel: Puncturing) -> u32 {
    let is_free =
        |first: u32, number| (first..first + number).all(|nth| !channel.punctured.has(nth));
    let last = channel.width.mhz() / 20;
    let mut sum = 0;
    for block in (0..last).step_by(4) {
        if last >= 4 && is_free(block, 4) {
            sum += RuSize::Tones996.tones();
            continue;
        }
        for half in (block..last.min(block + 4)).step_by(2) {
            sum += match (is_free(half, 1), half + 1 < last && is_free(half + 1, 1)) {
                (true, true) => RuSize::Tones484.tones(),
                (false, false) => 0,
                _ => RuSize::Tones242.tones(),
            };
        }
    }
    sum
}
