//! The recipient: detects duplicates, and under a block ack agreement delivers packets in the order
//! in which they were sent (clause 10.25.6).

use super::block_ack::{Bitmap, SEQUENCES, after, distance};
use wire::Packet;

/// Duplicate detection without an agreement (clause 10.3.2.14): the last sequence number that was
/// accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cache(Option<u16>);

impl Cache {
    /// Whether an MPDU is new. A repeated sequence number is a duplicate only if the Retry bit is
    /// set (clause 10.3.2.14.3).
    pub(crate) fn accept(&mut self, sequence: u16, retry: bool) -> bool {
        let new = !retry || self.0 != Some(sequence);
        if new {
            self.0 = Some(sequence);
        }
        new
    }
}

/// The reorder buffer of a block ack agreement and the record of received MPDUs.
///
/// The originator keeps to its window. Each MPDU before the window of the buffer was therefore
/// received or discarded, and no BlockAckReq asks for it again.
#[derive(Clone, Debug)]
pub(crate) struct Recipient {
    /// The number of MPDUs that the buffer holds.
    window: u16,
    /// The next sequence number in order (`WinStartB`).
    start: u16,
    /// The MPDUs received from `start` on.
    arrived: Bitmap,
    /// Packets that wait for earlier ones, in order.
    held: Vec<(u16, Packet)>,
}

impl Recipient {
    /// Creates an empty buffer for so many MPDUs, which begins with sequence number 0.
    pub(crate) fn new(window: u16) -> Self {
        debug_assert!((1..=Bitmap::LEN).contains(&window));
        Self { window, start: 0, arrived: Bitmap::default(), held: Vec::new() }
    }

    /// An MPDU arrives. Passes the packets that may be delivered now to `up`. Returns whether the
    /// MPDU is new.
    #[inline]
    pub(crate) fn on_mpdu<'a>(
        &mut self,
        sequence: u16,
        packets: impl Iterator<Item = &'a Packet>,
        up: impl FnMut(&Packet),
    ) -> bool {
        // Mostly it is the next in order, and nothing is held.
        if sequence == self.start && self.held.is_empty() && self.arrived.is_empty() {
            self.start = after(sequence, 1);
            packets.for_each(up);
            return true;
        }
        self.sort_in(sequence, packets, up)
    }

    /// An MPDU arrives, and others before it or after it are there or missing.
    fn sort_in<'a>(
        &mut self,
        sequence: u16,
        packets: impl Iterator<Item = &'a Packet>,
        mut up: impl FnMut(&Packet),
    ) -> bool {
        let ahead = distance(self.start, sequence);
        if ahead >= SEQUENCES / 2 || self.arrived.has(ahead) && ahead < self.window {
            return false;
        }
        if ahead >= self.window {
            self.advance(ahead + 1 - self.window, &mut up);
        }
        let ahead = distance(self.start, sequence);
        self.arrived.set(ahead);
        if ahead == 0 && self.held.is_empty() {
            packets.for_each(&mut up);
        } else {
            let start = self.start;
            let at = self.held.partition_point(|&(held, _)| distance(start, held) < ahead);
            self.held.splice(at..at, packets.map(|packet| (sequence, *packet)));
        }
        self.advance(self.arrived.leading_ones(), up);
        true
    }

    /// A BlockAckReq arrives: no MPDU before `start` will follow (clause 10.25.6.6.3).
    pub(crate) fn on_request(&mut self, start: u16, mut up: impl FnMut(&Packet)) {
        let ahead = distance(self.start, start);
        if ahead < SEQUENCES / 2 {
            self.advance(ahead, &mut up);
            self.advance(self.arrived.leading_ones(), up);
        }
    }

    /// Which MPDUs were received from sequence number `from` on.
    #[allow(clippy::inline_always, reason = "it runs for each user of a PPDU")]
    #[inline(always)]
    pub(crate) fn block_ack(&self, from: u16) -> Bitmap {
        let ahead = distance(self.start, from);
        if ahead >= SEQUENCES / 2 {
            let behind = distance(from, self.start).min(Bitmap::LEN);
            if self.arrived.is_empty() {
                return Bitmap::ones(behind);
            }
            let mut bitmap = self.arrived;
            bitmap.put_ones_first(behind);
            return bitmap;
        }
        let mut bitmap = self.arrived;
        bitmap.drop_first(ahead.min(Bitmap::LEN));
        bitmap
    }

    /// Packets that wait for earlier ones.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Packet> {
        self.held.iter().map(|(_, packet)| packet)
    }

    /// Removes and returns the packets that wait for earlier ones. Their numbers count as received.
    pub(crate) fn discard_held(&mut self) -> impl Iterator<Item = Packet> {
        self.held.drain(..).map(|(_, packet)| packet)
    }

    /// Moves the window, and delivers the packets before it.
    fn advance(&mut self, by: u16, up: impl FnMut(&Packet)) {
        if by == 0 {
            return;
        }
        let start = self.start;
        if !self.held.is_empty() {
            let released = self.held.partition_point(|&(held, _)| distance(start, held) < by);
            self.held[..released].iter().map(|(_, packet)| packet).for_each(up);
            self.held.drain(..released);
        }
        self.arrived.drop_first(by.min(Bitmap::LEN));
        self.start = after(start, by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::originator::tests::packet;
    use proptest::prelude::*;

    #[test]
    fn a_repeated_number_is_a_duplicate_only_on_a_retry() {
        let mut cache = Cache::default();
        assert!(cache.accept(7, false));
        assert!(!cache.accept(7, true));
        assert!(cache.accept(7, false), "4096 frames later");
        assert!(cache.accept(8, true));
    }

    /// Passes MPDUs to a recipient and returns the numbers of the packets that it delivers.
    fn numbers(recipient: &mut Recipient, sequences: &[u16]) -> Vec<u64> {
        let mut up = Vec::new();
        for &sequence in sequences {
            let packet = packet(u64::from(sequence), 100);
            recipient.on_mpdu(sequence, std::iter::once(&packet), |packet| up.push(*packet));
        }
        up.iter().map(crate::mac::originator::tests::number).collect()
    }

    #[test]
    fn a_lost_mpdu_delays_later_ones() {
        let mut recipient = Recipient::new(64);
        assert_eq!(numbers(&mut recipient, &[0, 1, 3, 5, 4]), [0, 1]);
        assert_eq!(recipient.held().count(), 3);
        let bitmap = recipient.block_ack(0);
        let seen: Vec<u16> = (0..8).filter(|&i| bitmap.has(i)).collect();
        assert_eq!(seen, [0, 1, 3, 4, 5]);
        assert_eq!(numbers(&mut recipient, &[2]), [2, 3, 4, 5]);
        assert_eq!(recipient.held().count(), 0);
    }

    #[test]
    fn duplicates_are_filtered_within_and_before_the_window() {
        let mut recipient = Recipient::new(64);
        assert_eq!(numbers(&mut recipient, &[0, 0, 2, 2, 0]), [0]);
        assert_eq!(numbers(&mut recipient, &[1, 1, 2]), [1, 2]);
    }

    #[test]
    fn a_number_beyond_the_window_moves_it() {
        let mut recipient = Recipient::new(64);
        assert_eq!(numbers(&mut recipient, &[1, 2]), [0; 0]);
        assert_eq!(numbers(&mut recipient, &[64]), [1, 2], "the window is 1..=64");
        assert_eq!(recipient.start, 3);
        assert_eq!(numbers(&mut recipient, &[0]), [0; 0], "too late");
    }

    #[test]
    fn a_block_ack_request_delivers_what_lies_before_its_start() {
        let mut recipient = Recipient::new(64);
        assert_eq!(numbers(&mut recipient, &[1, 3, 4]), [0; 0]);
        let mut up = Vec::new();
        recipient.on_request(3, |packet| up.push(*packet));
        assert_eq!(up.len(), 3);
        assert_eq!(recipient.start, 5);
        recipient.on_request(2, |packet| up.push(*packet));
        assert_eq!((recipient.start, up.len()), (5, 3), "an old request changes nothing");
        assert!(recipient.block_ack(2).has(2) && !recipient.block_ack(2).has(3));
        assert!(recipient.block_ack(6).count() == 0);
    }

    #[test]
    fn windows_wrap_with_the_numbers() {
        let mut recipient = Recipient::new(256);
        recipient.on_request(2000, |_| {});
        recipient.on_request(4000, |_| {});
        assert_eq!(numbers(&mut recipient, &[4001, 3]), [0; 0]);
        assert_eq!(numbers(&mut recipient, &[4000]), [4000, 4001]);
        let rest: Vec<u16> = (4002..4096).chain(0..3).collect();
        assert_eq!(numbers(&mut recipient, &rest).last(), Some(&3));
        assert_eq!(recipient.start, 4);
    }

    proptest! {
        /// With any losses and any order, as long as the originator keeps to its window: each
        /// packet is delivered once, in order, and as soon as all earlier ones are there.
        #[test]
        fn each_packet_is_delivered_once_and_in_order(
            picks in prop::collection::vec(0u16..64, 1..600),
            // Two BlockAckReqs move the window there: each is less than half the sequence number
            // space ahead.
            first in 0u16..4095,
        ) {
            let mut recipient = Recipient::new(64);
            recipient.on_request(first.min(2047), |_| {});
            recipient.on_request(first, |_| {});
            let (mut next, mut ahead, mut expected) = (0u16, Vec::new(), Vec::new());
            let mut seen = Vec::new();
            for pick in picks {
                let index = next + pick;
                let mut up = Vec::new();
                let (sequence, packet) = (after(first, index), packet(u64::from(index), 1));
                let mpdu = std::iter::once(&packet);
                let deliver = |packet: &Packet| up.push(*packet);
                let is_new = if pick % 2 == 0 {
                    recipient.on_mpdu(sequence, mpdu, deliver)
                } else {
                    recipient.sort_in(sequence, mpdu, deliver)
                };
                prop_assert_eq!(is_new, !ahead.contains(&index));
                if is_new {
                    ahead.push(index);
                }
                while let Some(at) = ahead.iter().position(|&i| i == next) {
                    ahead.swap_remove(at);
                    expected.push(u64::from(next));
                    next += 1;
                }
                seen.extend(up.iter().map(crate::mac::originator::tests::number));
                prop_assert_eq!(&seen, &expected);
                prop_assert_eq!(recipient.held().count(), ahead.len());
                let bitmap = recipient.block_ack(after(first, next));
                prop_assert!((0..64).all(|i| bitmap.has(i) == ahead.contains(&(next + i))));
            }
        }
    }
}
