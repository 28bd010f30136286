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

/// What becomes of a packet that has crossed a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The node at the far end has it now.
    Delivered,
    /// It is corrupted and discarded.
    Lost,
    /// Reordering holds it.
    Held,
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

    /// Like [`Link::next_begun`].
    #[inline]
    pub fn next_begun(&mut self, now: Instant) -> Option<(Instant, &Packet, usize)> {
        self.link.next_begun(now)
    }

    /// Like [`Link::on_packet`].
    #[inline]
    pub fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Command>) {
        self.link.on_packet(now, packet, out);
    }

    /// When this timer has expired: the first packet that has crossed the link, and what becomes of
    /// it. It is removed by [`Lossy::remove_crossed`]. After the last one [`Lossy::on_timer`] is
    /// called.
    #[inline]
    pub fn first_crossed(&mut self, now: Instant, timer: LinkTimer) -> Option<(&Packet, Fate)> {
        if timer != LinkTimer::Arrival {
            let held = self.reorder.as_ref().filter(|_| timer == LinkTimer::Held)?;
            return Some((held.first(now)?, Fate::Delivered));
        }
        let packet = self.link.first_arrived(now)?;
        let fate = if self.channel.as_mut().is_some_and(|channel| channel.loses(now, packet)) {
            self.lost += 1;
            Fate::Lost
        } else if self.reorder.as_mut().is_some_and(|reorder| reorder.holds(now, packet)) {
            Fate::Held
        } else {
            Fate::Delivered
        };
        Some((packet, fate))
    }

    /// Removes the packet that [`Lossy::first_crossed`] has returned.
    #[inline]
    pub fn remove_crossed(&mut self, timer: LinkTimer) {
        match &mut self.reorder {
            Some(reorder) if timer == LinkTimer::Held => reorder.remove_first(),
            _ => self.link.remove_arrived(),
        }
    }

    /// Like [`Link::on_timer`].
    #[inline]
    pub fn on_timer(&mut self, now: Instant, timer: LinkTimer, out: &mut Vec<Command>) {
        self.link.on_timer(now, timer, out);
        if let Some(reorder) = &mut self.reorder {
            out.extend(reorder.newly_due().map(|at| Command::Set(LinkTimer::Held, at)));
        }
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
        let (mut fates, mut dropped) = (Vec::new(), Vec::new());
        let mut event_queue: Vec<(Instant, LinkTimer)> = Vec::new();
        let mut now = Instant(0);
        loop {
            for command in out.drain(..) {
                match command {
                    Command::Signal(crate::Signal::Drop(packet)) => {
                        dropped.push((now.0, number(&packet)));
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
            while let Some((packet, fate)) = lossy.first_crossed(now, timer) {
                fates.push((now.0, number(packet), fate));
                lossy.remove_crossed(timer);
            }
            lossy.on_timer(now, timer, &mut out);
        }
        let expected =
            [(12_000, 0, Fate::Lost), (24_000, 1, Fate::Delivered), (36_000, 2, Fate::Lost)];
        assert_eq!((&fates[..], &dropped[..]), (&expected[..], &[(0, 3)][..]));
        assert_eq!((lossy.lost(), lossy.link().counters().packets), (2, 3));
        assert_eq!(lossy.link().busy(now), Duration(36_000));
    }
}
