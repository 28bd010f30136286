//! The PPDUs of access points to several users among radios.

use kernel::{Bytes, Duration, Instant};
use wifi::mac::MuExchange;
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

/// The last PPDU of each access point to several users.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<GroupSent>);

impl Groups {
    /// A frame begins.
    pub(super) fn on_begin(&mut self, frame: &OngoingFrame, space: &Space) {
        if !(frame.users == Users::Several && frame.kind == FrameKind::Data) {
            return;
        }
        let Some(exchange) = space.group_of(frame.from).cloned() else { return };
        let to = |user| space.mpdus_to(frame.from, frame.edcaf, user).collect();
        let mpdus = exchange.users.iter().map(|user| to(user.station)).collect();
        let (from, end) = (frame.from, frame.end);
        self.0.retain(|group| group.from != from);
        self.0.push(GroupSent { from, end, exchange, mpdus });
    }

    /// A PPDU of an access point that ends now, whose MPDUs are not looked at.
    #[cfg(test)]
    pub(super) fn put(&mut self, from: u32, end: Instant, exchange: MuExchange) {
        let mpdus = exchange.users.iter().map(|_| Vec::new()).collect();
        self.0.push(GroupSent { from, end, exchange, mpdus });
    }

    pub(super) fn of(&self, access_point: u32) -> Option<&GroupSent> {
        self.0.iter().find(|group| group.from == access_point)
    }

    /// To whom a frame is, as a node sees it: a user is one, and others are none.
    pub(super) fn receiver(&self, frame: &OngoingFrame, node: u32) -> Option<u32> {
        if frame.users != Users::Several {
            return frame.to;
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
        let group = self.of(node);
        let own = group.and_then(|group| group.exchange.users.get(usize::from(nth)));
        let all = RuSize::widest_for(frame.mode.width, 1);
        own.zip(all)
            .map_or(1.0, |(own, all)| f64::from(all.tones()) / f64::from(own.ru.size.tones()))
    }
}
