//! An access point that sends to several stations at once.
//!
//! What it assembles is of `mac/mu/downlink`.
//!
//! No other node can disturb an exchange, so that all its frames are computed when it begins, as
//! those of other exchanges are. Noise destroys MPDUs, BlockAckReqs and BlockAcks of each user
//! independently; a MU-BAR is received by some users and not by others.

mod assemble;
mod count;
mod ending;
mod watch;

use super::earlier::has_units;
use super::several::Several;
use super::{ACCESS_POINT, Cell, FrameOnAir, directions_of};
use crate::mac::mu::{Downlink, GroupDeferral, MuExchange, MuUser, RandomAccessCounters, Stations};
use crate::mac::{Edcaf, ExchangeOutcome, Originator, PeerRate, Rules};
use crate::phy::Width;
use kernel::{BitRate, Db, Instant};

/// What an access point has that sends to several stations at once.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) downlink: Downlink,
    /// The last exchange ended with a PPDU of several users.
    pub(super) ended_in_group: bool,
    /// Who defers because of earlier exchanges of the TXOP.
    pub(super) before: Option<GroupDeferral>,
}

impl Groups {
    /// `None` if the access point sends to one station at a time.
    pub(super) fn of(rules: &Rules, stations: u32, edcafs: &mut [Edcaf]) -> Option<Box<Self>> {
        let own = edcafs.iter_mut().filter(|edcaf| edcaf.node == ACCESS_POINT);
        let downlink = Downlink::of(rules, (1..=stations).collect(), own)?;
        Some(Box::new(Self { downlink, ended_in_group: false, before: None }))
    }

    /// Counters of RA-RUs.
    pub(super) fn random(&mut self) -> &mut RandomAccessCounters {
        &mut self.downlink.counters.random
    }
}

/// The stations of the cell.
pub(super) struct OfCell<'a> {
    pub(super) width: Width,
    pub(super) rates: &'a mut [PeerRate],
}

impl Stations for OfCell<'_> {
    fn width(&self) -> Width {
        self.width
    }

    fn has_units(&self, station: u32) -> bool {
        has_units(self.rates, station)
    }

    fn bit_rate(&self, station: u32) -> BitRate {
        let [_, down] = directions_of(station);
        self.rates[down].mode.rate
    }

    fn rate(&mut self, station: u32) -> &mut PeerRate {
        let [_, down] = directions_of(station);
        &mut self.rates[down]
    }

    /// A cell knows no powers.
    fn snr(&self, _: u32) -> Option<Db> {
        None
    }
}

impl Cell {
    /// The exchange with several users on the air, or their part in a collision.
    pub fn group(&self) -> Option<&MuExchange> {
        match self.several()? {
            Several::Group(group) => Some(group),
            Several::Triggered(_) => None,
        }
    }

    /// The MPDUs of a user of the exchange on the air.
    #[allow(clippy::inline_always, reason = "it runs for each user of a PPDU")]
    #[inline(always)]
    pub fn frames_to<'a>(&'a self, user: &'a MuUser) -> impl Iterator<Item = FrameOnAir<'a>> {
        let originator = self.originator_of(user);
        (0..user.mpdus()).map(move |i| {
            let (sequence, mpdu) = originator.frame_on_air(usize::from(i));
            let wasted = mpdu.received || user.is_lost(i);
            FrameOnAir { sequence, bytes: mpdu.bytes, wasted, originator, mpdu }
        })
    }

    /// The originator for a user of the exchange on the air.
    #[allow(clippy::inline_always, reason = "it runs for each user of a PPDU")]
    #[inline(always)]
    fn originator_of(&self, user: &MuUser) -> &Originator {
        let edcaf = self.edcaf(self.sender);
        match &self.groups {
            Some(groups) => groups.downlink.of_user(self.sender, edcaf, user),
            None => &edcaf.originator,
        }
    }

    /// The originator of an EDCAF of the access point for a receiver.
    #[allow(clippy::inline_always, reason = "it runs for each user of a PPDU")]
    #[inline(always)]
    pub(super) fn originator_to(&self, f: u32, receiver: u32) -> &Originator {
        let edcaf = self.edcaf(f);
        match &self.groups {
            Some(groups) => groups.downlink.originator(f, edcaf, receiver),
            None => &edcaf.originator,
        }
    }

    /// The originators that wait while another is served, each with its node.
    pub(super) fn waiting_originators(&self) -> impl Iterator<Item = &Originator> {
        self.groups.iter().flat_map(|groups| groups.downlink.waiting())
    }

    /// What PPDUs to several users are assembled from, if this EDCAF is of the access point.
    fn downlink_of(&mut self, f: u32) -> Option<(&mut Downlink, &mut Edcaf)> {
        let groups = self.groups.as_mut().filter(|_| f < self.rules.per_node)?;
        Some((&mut groups.downlink, &mut self.edcafs[f as usize]))
    }

    /// An EDCAF of the access point that is idle takes a packet for this receiver into service.
    #[cold]
    #[inline(never)]
    pub(super) fn turn_to(&mut self, f: u32, receiver: Option<u32>) {
        if let Some((downlink, edcaf)) = self.downlink_of(f) {
            downlink.turn_to(f, edcaf, receiver);
        }
    }

    /// The service of an EDCAF has ended, and perhaps not that of others.
    #[cold]
    #[inline(never)]
    pub(super) fn bring_forward(&mut self, f: u32) {
        if let Some((downlink, edcaf)) = self.downlink_of(f) {
            downlink.bring_forward(f, edcaf);
        }
    }

    /// The access point sends to one station alone.
    #[cold]
    #[inline(never)]
    pub(super) fn note_single(&mut self, f: u32) {
        let (to, exchange) = (self.edcaf(f).to(), self.exchange);
        let Some(groups) = &mut self.groups else { return };
        groups.ended_in_group = false;
        if let (Some((downlink, _)), Some(exchange)) = (self.downlink_of(f), exchange) {
            downlink.on_sent_alone(f, &exchange, to);
            self.note_down();
        }
    }

    /// What the access point sends to one station, or to all, collides.
    #[cold]
    #[inline(never)]
    pub(super) fn note_collided_single(&mut self, now: Instant, f: u32) {
        self.note_down();
        let edcaf = self.edcaf(f);
        let (to, has_data) = (edcaf.to(), !edcaf.with_rts());
        let exchange = edcaf.exchange(&self.rules, now, ExchangeOutcome::Success);
        if let Some((downlink, _)) = self.downlink_of(f).filter(|_| has_data) {
            downlink.on_sent_alone(f, &exchange, to);
        }
    }

    /// When the NAV of others ends that have this by an exchange, and perhaps a longer one by an
    /// earlier one of the TXOP.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    pub(super) fn reserved_before(&self, own: Instant) -> Instant {
        if self.groups.is_some() { own.max(self.nav_before(None)) } else { own }
    }

    /// After a PPDU to one station, users of earlier exchanges of the TXOP count slots again.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    pub(super) fn resume_after_single(&mut self, nav: Instant, reserved_until: Instant) {
        if self.groups.is_some() {
            self.resume_before(nav, reserved_until);
        }
    }

    /// The NAV that earlier exchanges of the TXOP have set, of a station or of all others.
    #[cold]
    #[inline(never)]
    pub(super) fn nav_before(&self, station: Option<u32>) -> Instant {
        let before = self.groups.as_ref().and_then(|groups| groups.before.as_ref());
        match (before, station) {
            (None, _) | (_, Some(ACCESS_POINT)) => Instant::ZERO,
            (Some(before), Some(station)) => before.nav_of(station),
            (Some(before), None) => before.reserved,
        }
    }

    /// Users of earlier exchanges of the TXOP count slots again, each after its NAV: that of this
    /// last exchange, or one that is still set.
    #[cold]
    #[inline(never)]
    pub(super) fn resume_before(&mut self, nav: Instant, reserved_until: Instant) {
        if reserved_until <= nav {
            return;
        }
        let before = self.groups.as_mut().and_then(|groups| groups.before.take());
        if let Some(before) = before {
            self.resume_users(nav, reserved_until, &before);
        }
    }
}
