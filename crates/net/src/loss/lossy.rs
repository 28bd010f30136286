//! A link that loses packets: a decorator around a [`Link`].

use super::Channel;
use crate::command::{Command, LinkTimer};
use crate::link::{Link, LinkSettings};
use crate::reorder::Reorder;
use kernel::{Instant, Rng};
use wire::Packet;

/// The random streams of a link.
#[derive(Clone, Debug)]
pub struct LinkStreams {
    /// The random stream of its queue.
    pub queue: Rng,
    /// The random stream of the channel state.
    pub channel: Rng,
    /// The random stream of the losses of packets.
    pub packets: Rng,
    /// The random stream of reordering.
    pub order: Rng,
}

/// A link on which some packets are corrupted. A lost packet occupies the queue and the link like
/// any other.
#[derive(Debug)]
pub struct Lossy {
    link: Link,
    /// The loss model; without one no packet is lost.
    channel: Option<Box<dyn Channel>>,
    lost: u64,
    reorder: Option<Box<Reorder>>,
}

impl Lossy {
    /// An idle link.
    pub fn new(settings: &LinkSettings, streams: LinkStreams) -> Self {
        let LinkStreams { queue, channel, packets, order } = streams;
        let losses = settings.loss.as_ref();
        Self {
            link: Link::new(settings, queue),
            channel: losses.map(|losses| losses.get().build(channel, packets)),
            lost: 0,
            reorder: settings.reorder.map(|reorder| Box::new(Reorder::new(reorder, order))),
        }
    }

    /// The same link, which [reports departures](Link::reporting_departures).
    #[must_use]
    pub fn reporting_departures(self) -> Self {
        Self { link: self.link.reporting_departures(), ..self }
    }

    /// Like [`Link::watch`].
    pub fn watch(&mut self) {
        self.link.watch();
    }

    /// Like [`Link::on_packet`].
    #[inline]
    pub fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Command>) {
        self.link.on_packet(now, packet, out);
    }

    /// Like [`Link::on_timer`], with [`Command::Lost`] instead of [`Command::Deliver`] for some
    /// packets.
    #[inline]
    pub fn on_timer(&mut self, now: Instant, timer: LinkTimer, out: &mut Vec<Command>) {
        if timer == LinkTimer::Held {
            return self.release(now, out);
        }
        let before = out.len();
        self.link.on_timer(now, timer, out);
        if let Some(channel) = &mut self.channel {
            for command in &mut out[before..] {
                if let Command::Deliver(packet) = *command
                    && channel.loses(now, &packet)
                {
                    self.lost += 1;
                    *command = Command::Lost(packet);
                }
            }
        }
        if let Some(reorder) = &mut self.reorder {
            reorder.hold(now, before, out);
        }
    }

    /// Delivers the packets that reordering has held until now.
    #[cold]
    fn release(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(reorder) = &mut self.reorder else { return };
        while let Some(packet) = reorder.next(now) {
            out.push(Command::Deliver(packet));
        }
        out.extend(reorder.due().map(|at| Command::Set(LinkTimer::Held, at)));
    }

    /// Calls `visit` for each packet between the two ends.
    pub fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.link.each(visit);
        self.reorder.iter().for_each(|reorder| reorder.each(visit));
    }

    /// Packets between the queue and the far end.
    pub fn in_flight(&self) -> usize {
        self.link.in_flight() + self.reorder.as_ref().map_or(0, |reorder| reorder.len())
    }

    /// The inner link, whose counters include lost packets as delivered.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Packets lost since the start.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::{number, packet, rng};
    use crate::{DropTailConfig, Limit, ListConfig, LossSettings, QueueSettings};
    use kernel::{BitRate, Duration};

    #[test]
    fn a_lost_packet_uses_the_link_and_its_place_in_the_queue() {
        let limit = Limit::packets(3);
        let settings = LinkSettings {
            rate: Some(BitRate(1_000_000_000)),
            queue: QueueSettings::DropTail(DropTailConfig { limit }),
            loss: Some(LossSettings::List(ListConfig { packets: vec![1, 3] })),
            ..LinkSettings::default()
        };
        let streams = LinkStreams { queue: rng(), channel: rng(), packets: rng(), order: rng() };
        let mut lossy = Lossy::new(&settings, streams);
        let mut out = Vec::new();
        for number in 0..4 {
            lossy.on_packet(Instant(0), &packet(0, number, 1500), &mut out);
        }
        let mut fates = Vec::new();
        let mut event_queue: Vec<(Instant, LinkTimer)> = Vec::new();
        let mut now = Instant(0);
        loop {
            for command in out.drain(..) {
                match command {
                    Command::Deliver(packet) => fates.push((now.0, number(&packet), "delivered")),
                    Command::Lost(packet) => fates.push((now.0, number(&packet), "lost")),
                    Command::Signal(crate::Signal::Drop(packet)) => {
                        fates.push((now.0, number(&packet), "dropped"));
                    }
                    Command::Signal(crate::Signal::Mark(..)) => panic!("drop-tail marks nothing"),
                    Command::Set(LinkTimer::Completion, _) => panic!("there is no driver"),
                    Command::Set(LinkTimer::Held, _) => panic!("nothing is reordered"),
                    Command::Departed(_) => panic!("departures were not requested"),
                    Command::Began(_) => panic!("the link is not watched"),
                    Command::Set(timer, at) => event_queue.push((at, timer)),
                }
            }
            event_queue.sort_by_key(|&(at, timer)| (at, timer == LinkTimer::Ready));
            if event_queue.is_empty() {
                break;
            }
            let (at, timer) = event_queue.remove(0);
            now = at;
            lossy.on_timer(now, timer, &mut out);
        }
        let expected =
            [(0, 3, "dropped"), (12_000, 0, "lost"), (24_000, 1, "delivered"), (36_000, 2, "lost")];
        assert_eq!(fates, expected);
        assert_eq!((lossy.lost(), lossy.link().counters().packets), (2, 3));
        assert_eq!(lossy.link().busy(now), Duration(36_000));
    }
}
