//! For observers: the frames on the air and their outcomes, and what the EDCAFs wait for.

mod frames;

use super::frame::{OnAir, Reach, Transmission, Users};
use super::node::Node;
use super::{ReceivedFrame, Space};
use crate::mac::{Bitmap, Opening};
use crate::phy::decibels;
use crate::watch::{OpenWait, Waiting, WatchRecord};
use kernel::{Duration, Instant};
use wire::{Frame, FrameKind, FrameLoss, FrameOutcome, TrafficClass, Wait, WaitKind};

/// How often the start of the oldest open wait is looked for.
const LOOK: Duration = Duration::from_micros(1000);

/// What is recorded of a space.
#[derive(Debug, Default)]
pub(super) struct SpaceWatch {
    /// What receivers decoded, if an observer wants it.
    pub(super) heard: Option<Vec<ReceivedFrame>>,
    /// Frames and waits, if an observer wants them.
    pub(super) records: Option<Records>,
}

/// The records of frames and waits.
#[derive(Debug)]
pub(super) struct Records {
    made: Vec<WatchRecord>,
    exchanges: u64,
    /// The number of the exchange that each node began last.
    latest: Vec<u64>,
    /// The frames on the air, in the order in which they began.
    on_air: Vec<FrameOnAir>,
    /// Nodes whose EDCAFs may have changed what they wait for.
    touched: Vec<u32>,
    /// By EDCAF, what it waits for and since when.
    waits: Vec<(Waiting, OpenWait)>,
    /// No wait without a record began before.
    open_since: Instant,
    /// When that was found.
    looked_at: Instant,
    /// Up to when the NAV of each node has a record.
    navs: Vec<Instant>,
}

/// A frame on the air.
#[derive(Debug)]
struct FrameOnAir {
    /// The number of its transmission.
    id: u32,
    frame: Frame,
    /// Why its receiver does not receive it, if that is so from its start, and the node whose
    /// transmission is the cause.
    hindered: Option<(FrameLoss, Option<u32>)>,
    /// Of a user of several: whether it has received its data.
    reach: Option<Reach>,
}

impl SpaceWatch {
    /// A node has received a frame to its end, which is kept for observers that listen.
    pub(super) fn hear(&mut self, heard: impl FnOnce() -> ReceivedFrame) {
        if let Some(all) = &mut self.heard {
            all.push(heard());
        }
    }

    /// A node has received a frame to its end. `decoded` has the MPDUs that it lost, if it decoded
    /// the frame.
    #[inline(never)]
    pub(super) fn on_reception(
        &mut self,
        now: Instant,
        id: u32,
        receiver: &Node,
        frame: &OnAir,
        decoded: Option<&Bitmap>,
        nav_reset_at: Option<Instant>,
    ) {
        let (Some(records), Some(lost)) = (&mut self.records, decoded) else { return };
        if frame.to.is_none_or(|to| to == receiver.id) {
            return records.note_received(id, receiver.id, lost);
        }
        records.note_nav(now, receiver, frame, nav_reset_at);
    }

    /// The last frame that a node has received sets its NAV by its HE-SIG-A.
    pub(super) fn on_signal(&mut self, now: Instant, receiver: &Node, frame: &OnAir) {
        if let Some(heard) = self.heard.as_mut().and_then(|all| all.last_mut()) {
            heard.hears_signal = true;
        }
        if let Some(records) = &mut self.records {
            records.note_nav(now, receiver, frame, None);
        }
    }

    /// It is known what a user has received of a frame to several.
    pub(super) fn note_reach(&mut self, id: u32, user: u32, reach: &Reach) {
        let Some(records) = &mut self.records else { return };
        let is_own = |own: &&mut FrameOnAir| own.id == id && own.frame.to == Some(user);
        if let Some(own) = records.on_air.iter_mut().find(is_own) {
            own.reach = Some(*reach);
        }
    }

    /// The state of a node changes.
    pub(super) fn touch(&mut self, node: u32) {
        if let Some(records) = &mut self.records {
            records.touched.push(node);
        }
    }
}

impl Records {
    /// A frame sets the NAV of a node.
    fn note_nav(
        &mut self,
        now: Instant,
        receiver: &Node,
        frame: &OnAir,
        nav_reset_at: Option<Instant>,
    ) {
        let mut carrier = receiver.carrier.clone();
        let before = carrier.reserved_until();
        carrier.reserve(now + frame.reserves, nav_reset_at);
        // A NAV that an RTS has set may have been kept because a frame followed it.
        self.add_nav(receiver.id, self.open_since, before);
        self.add_nav(receiver.id, now.max(before), carrier.reserved_until());
    }

    fn new(space: &Space) -> Self {
        let nodes = space.nodes.len();
        let mut waits = Vec::new();
        for node in 0..nodes as u32 {
            let all = (0..space.rules.mac.per_node).map(|index| space.waiting(node, index));
            waits.extend(all.map(|waiting| (waiting, OpenWait::default())));
        }
        Self {
            made: Vec::new(),
            exchanges: 0,
            latest: vec![0; nodes],
            on_air: Vec::new(),
            touched: Vec::new(),
            waits,
            open_since: Instant::ZERO,
            looked_at: Instant::ZERO,
            navs: vec![Instant::ZERO; nodes],
        }
    }

    fn add_nav(&mut self, node: u32, start: Instant, end: Instant) {
        let recorded = &mut self.navs[node as usize];
        let start = start.max(*recorded);
        if start < end {
            *recorded = end;
            let (class, kind) = (TrafficClass::BestEffort, WaitKind::Nav);
            self.made.push(WatchRecord::Wait(Wait { radio: node, class, start, end, kind }));
        }
    }

    fn note_received(&mut self, id: u32, node: u32, lost: &Bitmap) {
        let is_own = |on_air: &&mut FrameOnAir| {
            on_air.id == id && on_air.frame.to.is_none_or(|to| to == node)
        };
        let Some(on_air) = self.on_air.iter_mut().find(is_own) else { return };
        let mut index = 0;
        for mpdu in &mut on_air.frame.mpdus {
            index += u16::from(mpdu.subframe.is_none_or(|place| place == 0));
            mpdu.received |= !lost.has(index - 1);
        }
    }

    /// When the oldest open wait began.
    fn oldest_wait(&self, now: Instant) -> Instant {
        let open = self.waits.iter().map(|(waiting, wait)| wait.since(now, waiting));
        open.min().unwrap_or(now)
    }
}

impl Space {
    /// Starts to record frames and waits.
    pub fn watch(&mut self) {
        let records = Records::new(self);
        self.watch.get_or_insert_default().records = Some(records);
    }

    fn records(&mut self) -> Option<&mut Records> {
        self.watch.as_mut()?.records.as_mut()
    }

    /// The records that were made, if the space is watched, and an instant before which nothing
    /// begins that is still to be recorded.
    pub fn watched(&mut self, now: Instant) -> Option<(&mut Vec<WatchRecord>, Instant)> {
        let records = self.records()?;
        if now.since(records.looked_at) >= LOOK {
            (records.open_since, records.looked_at) = (records.oldest_wait(now), now);
        }
        let begun = records.on_air.first().map_or(now, |on_air| on_air.frame.start);
        let until = begun.min(records.open_since);
        Some((&mut records.made, until))
    }

    /// Records the waits up to now, although they go on.
    pub fn cut_waits(&mut self, now: Instant) {
        let Some(records) = self.records() else { return };
        for (waiting, wait) in &mut records.waits {
            wait.cut(now, waiting, &mut records.made);
        }
        (records.open_since, records.looked_at) = (records.oldest_wait(now), now);
    }

    /// The run ends: records what is on the air.
    pub fn close_watch(&mut self, now: Instant) {
        self.cut_waits(now);
        let Some(records) = self.records() else { return };
        for on_air in records.on_air.drain(..) {
            let outcome = FrameOutcome::Unknown;
            records.made.push(WatchRecord::Frame(Frame { outcome, ..on_air.frame }));
        }
    }

    /// What an EDCAF waits for.
    fn waiting(&self, node: u32, index: u32) -> Waiting {
        let (has_frame, counting) = self.nodes[node as usize].waiting(index as usize);
        let class = self.rules.mac.class_of(index);
        Waiting { node, class, has_frame, counting, slot: self.rules.timing().slot }
    }

    /// Records the waits of nodes whose state has changed.
    #[inline(never)]
    pub(super) fn record_waits(&mut self, now: Instant) {
        let Some(records) = self.records() else { return };
        let mut touched = std::mem::take(&mut records.touched);
        touched.sort_unstable();
        touched.dedup();
        let (per_node, busy_slot) = (self.rules.mac.per_node, self.rules.mac.busy_slot());
        for node in touched.drain(..) {
            for index in 0..per_node {
                let present = self.waiting(node, index);
                let Some(records) = self.records() else { return };
                let (before, wait) = &mut records.waits[(node * per_node + index) as usize];
                if present.counting != before.counting {
                    wait.record(now, before, Some(busy_slot), &mut records.made);
                }
                if before.has_frame && !present.has_frame && before.counting.is_none() {
                    // A TXOP goes on with a frame that has come meanwhile.
                    wait.begin(now);
                }
                if present.has_frame && !before.has_frame {
                    wait.begin(now);
                }
                *before = present;
            }
        }
        if let Some(records) = self.records() {
            records.touched = touched;
        }
    }

    /// A frame begins.
    #[inline(never)]
    pub(super) fn record_begin(&mut self, now: Instant, id: u32) {
        let frame = self.signals.transmission(id).frame;
        let OnAir { from, to, kind, .. } = frame;
        let is_answer = frame.is_control_response() || frame.answers_trigger();
        let initiator = if is_answer { to.unwrap_or(from) } else { from };
        let owner = &self.nodes[initiator as usize];
        let edcaf = owner.edcaf(usize::from(frame.edcaf));
        let is_mu_bar = frame.users == Users::Several
            && kind == FrameKind::Trigger
            && owner.triggered().is_none();
        let follows_cts = frame.users == Users::Several && owner.mu_rts().is_some();
        let is_later =
            frame.users == Users::Chained || is_mu_bar || follows_cts || frame.answers_trigger();
        let opens = match kind {
            FrameKind::Rts | FrameKind::CtsToSelf => true,
            FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck => false,
            _ => edcaf.opening == Opening::None && frame.beside.is_none() && !is_later,
        };
        let made = self.frames_of(now, id, initiator);
        let hindered = made.iter().map(|record| self.hindrance(now, id, record.to)).collect();
        let hindered: Vec<_> = hindered;
        let Some(records) = self.records() else { return };
        if opens {
            records.latest[initiator as usize] = records.exchanges;
            records.exchanges += 1;
        }
        if kind == FrameKind::Cts && frame.beside.is_some() {
            // The secondary frame and its response belong to the exchange of the primary one.
            records.latest[from as usize] = records.latest[initiator as usize];
        }
        let exchange = records.latest[initiator as usize];
        for (frame, hindered) in made.into_iter().zip(hindered) {
            let frame = Frame { exchange, ..frame };
            records.on_air.push(FrameOnAir { id, frame, hindered, reach: None });
        }
    }

    /// The power at which a receiver hears a frame, in dBm.
    fn signal_at(&self, now: Instant, id: u32, to: Option<u32>) -> Option<f64> {
        let from = self.signals.transmission(id).frame.from;
        let to = to.filter(|&to| to != from)?;
        let mean = || self.signals.mean_power(from, to, now);
        let power = self.signals.power_of(id, to).or_else(mean)?;
        Some(decibels(power.milliwatts).0)
    }

    /// Why a receiver of a frame that begins now cannot receive it, and by whose transmission.
    fn hindrance(
        &self,
        now: Instant,
        id: u32,
        to: Option<u32>,
    ) -> Option<(FrameLoss, Option<u32>)> {
        let from = self.signals.transmission(id).frame.from;
        let to = to.filter(|&to| to != from)?;
        let detect = self.rules.levels.detect;
        let signal =
            self.signals.power_of(id, to).or_else(|| self.signals.mean_power(from, to, now));
        let receiver = &self.receivers[to as usize];
        if signal.is_none_or(|power| power.milliwatts < detect) {
            return Some((FrameLoss::TooWeak, None));
        }
        if receiver.misses(now) {
            return Some((FrameLoss::ReceiverTransmits, Some(to)));
        }
        let other = self.signals.transmission(receiver.received_transmission()?);
        let is_beside = self.signals.transmission(id).is_joint_with(other);
        (!is_beside).then_some((FrameLoss::ReceiverBusy, Some(other.frame.from)))
    }

    /// A frame of a node joins the exchange of another node.
    #[inline(never)]
    pub(super) fn record_join(&mut self, node: u32, from: u32) {
        if let Some(records) = self.records() {
            records.latest[node as usize] = records.latest[from as usize];
        }
    }

    /// A wave arrives: it is known whether receivers of its frame can receive it.
    #[inline(never)]
    pub(super) fn record_arrival(&mut self, now: Instant, id: u32) {
        let source = self.signals.source(id);
        let Some(records) = self.records() else { return };
        let mut on_air = std::mem::take(&mut records.on_air);
        for FrameOnAir { frame, hindered, .. } in on_air.iter_mut().filter(|it| it.id == source) {
            if frame.to.is_some_and(|to| self.signals.power_of(id, to).is_some()) {
                *hindered = self.hindrance(now, id, frame.to);
            }
        }
        let Some(records) = self.records() else { return };
        records.on_air = on_air;
    }

    /// A frame ends.
    #[inline(never)]
    pub(super) fn record_end(&mut self, id: u32) {
        let Transmission { frame, reach, start, .. } = *self.signals.transmission(id);
        loop {
            let Some(records) = self.records() else { return };
            let Some(place) = records.on_air.iter().position(|own| own.id == id) else { return };
            let own = records.on_air.remove(place);
            let FrameOnAir { frame: mut record, hindered, reach: of_user, .. } = own;
            let frame = OnAir { to: record.to, ..frame };
            // A user that has received nothing to its end has no reach.
            let is_user = frame.users.has_units(frame.kind) && frame.users == Users::Several;
            let reach = of_user.unwrap_or(if is_user { Reach::default() } else { reach });
            let reach = if frame.answers_mu_rts() { self.reach_together(id) } else { reach };
            let (found, other) = self.outcome(id, &frame, &reach, start);
            (record.outcome, record.lost_to) = match (found, hindered) {
                (Some(outcome), _) => (outcome, other),
                (None, Some((cause, by))) => (FrameOutcome::Lost(cause), by),
                (None, None) if other == frame.to => {
                    (FrameOutcome::Lost(FrameLoss::ReceiverTransmits), other)
                }
                (None, None) => (FrameOutcome::Lost(FrameLoss::Interference), other),
            };
            let Some(records) = self.records() else { return };
            records.made.push(WatchRecord::Frame(record));
        }
    }

    /// The outcome of a frame, if its receiver received it to its end, and the node that disturbed
    /// it: the receiver itself, if it began to transmit.
    fn outcome(
        &self,
        id: u32,
        frame: &OnAir,
        reach: &Reach,
        start: Instant,
    ) -> (Option<FrameOutcome>, Option<u32>) {
        let strongest = || frame.to.and_then(|to| self.signals.strongest_other(id, to));
        let outcome = match frame.to {
            Some(to) if to == frame.from => FrameOutcome::NotAddressed,
            _ if reach.decoded > 0 => FrameOutcome::Received,
            _ if reach.interfered > 0 => {
                return (Some(FrameOutcome::Lost(FrameLoss::Interference)), strongest());
            }
            _ if reach.by_interferers > 0 => FrameOutcome::Lost(FrameLoss::Interference),
            _ if reach.noise > 0 => FrameOutcome::Lost(FrameLoss::Noise),
            Some(to) if self.receivers[to as usize].has_sent_since(start) => {
                return (None, Some(to));
            }
            _ => return (None, strongest()),
        };
        (Some(outcome), None)
    }
}
