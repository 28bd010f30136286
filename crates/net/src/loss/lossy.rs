//! A link that loses packets: a decorator around a [`Link`].

use super::LossModel;
use crate::link::{Command, Link, LinkTimer};
use kernel::Instant;
use wire::Packet;

/// A link of which some packets reach the far end spoilt. A lost packet takes its place in the
/// queue and its time on the link like any other.
#[derive(Debug)]
pub struct Lossy {
    link: Link,
    model: Box<dyn LossModel>,
    lost: u64,
}

impl Lossy {
    /// This link with these losses.
    pub fn new(link: Link, model: Box<dyn LossModel>) -> Self {
        Self { link, model, lost: 0 }
    }

    /// As [`Link::on_packet`].
    pub fn on_packet(&mut self, now: Instant, packet: Packet, out: &mut Vec<Command>) {
        self.link.on_packet(now, packet, out);
    }

    /// As [`Link::on_timer`], with [`Command::Lost`] in place of [`Command::Deliver`] for some.
    pub fn on_timer(&mut self, now: Instant, timer: LinkTimer, out: &mut Vec<Command>) {
        let before = out.len();
        self.link.on_timer(now, timer, out);
        for command in &mut out[before..] {
            if let Command::Deliver(packet) = *command
                && self.model.loses(now, &packet)
            {
                self.lost += 1;
                *command = Command::Lost(packet);
            }
        }
    }

    /// The link itself; its counters count lost packets as delivered.
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
    use crate::loss::List;
    use crate::queue::tests::{number, packet};
    use crate::{Discipline, Limit};
    use kernel::{BitRate, Bytes, Duration};

    #[test]
    fn a_lost_packet_uses_the_link_and_its_place_in_the_queue() {
        let rate = Some(BitRate(1_000_000_000));
        let queue = crate::queue::tests::build(&Discipline::DropTail { limit: Limit::packets(3) });
        let link = Link::new(rate, Duration::ZERO, Bytes::ZERO, queue);
        let mut lossy = Lossy::new(link, Box::new(List::new(vec![1, 3])));
        let mut out = Vec::new();
        for number in 0..4 {
            lossy.on_packet(Instant(0), packet(0, number, 1500), &mut out);
        }
        let mut fates = Vec::new();
        let mut agenda: Vec<(Instant, LinkTimer)> = Vec::new();
        let mut now = Instant(0);
        loop {
            for command in out.drain(..) {
                match command {
                    Command::Deliver(packet) => fates.push((now.0, number(&packet), "delivered")),
                    Command::Lost(packet) => fates.push((now.0, number(&packet), "lost")),
                    Command::Signal(crate::Signal::Drop(packet)) => {
                        fates.push((now.0, number(&packet), "dropped"));
                    }
                    Command::Signal(crate::Signal::Mark(_)) => panic!("drop-tail marks nothing"),
                    Command::Departed(_) => panic!("nobody asked for departures"),
                    Command::Arrive(at) => agenda.push((at, LinkTimer::Arrival)),
                    Command::Ready(at) => agenda.push((at, LinkTimer::Ready)),
                }
            }
            agenda.sort_by_key(|&(at, timer)| (at, timer == LinkTimer::Ready));
            if agenda.is_empty() {
                break;
            }
            let (at, timer) = agenda.remove(0);
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
