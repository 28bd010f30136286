//! Checks aggregates on the air: the limits of the scenario, and the windows of block ack
//! agreements.

use super::earlier::Known;
use super::rule::rule;
use kernel::{Bytes, Duration, Instant};
use std::collections::BTreeMap;
use wifi::mac::Aggregation;
use wifi::phy::LONGEST_PPDU;

/// Sequence numbers have twelve bits (clause 9.2.4.4.2).
const NUMBERS: u64 = 4096;

/// A PSDU with data whose transmission begins.
#[derive(Clone, Debug)]
pub(super) struct DataPsdu {
    pub(super) from: u32,
    /// Its access category.
    pub(super) function: u8,
    pub(super) to: Option<u32>,
    pub(super) bytes: Bytes,
    /// The duration of the whole PPDU.
    pub(super) lasting: Duration,
    /// The sequence number and the size in bytes of each data frame.
    pub(super) mpdus: Vec<(u16, Bytes)>,
}

/// The frames sent so far of each sequence number space.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    limits: Option<Aggregation>,
    known: Known,
    /// The nodes whose frames may be sent before earlier ones for other receivers.
    reordering: Vec<u32>,
    /// The highest number so far, continued beyond 4096.
    highest: BTreeMap<(u32, u8, Option<u32>), u64>,
}

impl Blocks {
    pub(super) fn new(limits: Option<Aggregation>, reordering: Vec<u32>, known: Known) -> Self {
        Self { limits, known, reordering, highest: BTreeMap::new() }
    }

    pub(super) fn on_psdu(&mut self, now: Instant, psdu: &DataPsdu) {
        self.check_size(now, psdu);
        self.on_numbers(now, psdu.from, psdu.function, psdu.to, &psdu.mpdus);
    }

    /// Frames with these numbers are sent, would be sent after the CTS, or are requested by a
    /// BlockAckReq.
    pub(super) fn on_numbers(
        &mut self,
        now: Instant,
        from: u32,
        function: u8,
        to: Option<u32>,
        mpdus: &[(u16, Bytes)],
    ) {
        // With block ack, frames are numbered separately for each receiver.
        let agreement = self.limits.filter(|_| to.is_some());
        let single = if self.reordering.contains(&from) { NUMBERS / 2 } else { 1 };
        let own = to.and_then(|to| self.known.limits(from, to)).map_or(NUMBERS, |(most, _)| most);
        let window = agreement.map_or(single, |limits| u64::from(limits.window).min(own));
        let stream = (from, function, self.limits.and(to));
        let first = mpdus.first().map_or(0, |&(number, _)| NUMBERS + u64::from(number));
        let highest = self.highest.entry(stream).or_insert(first);
        let before = *highest;
        let counted_on = |&(number, _): &(u16, Bytes)| {
            let ahead = (u64::from(number) + NUMBERS - before % NUMBERS) % NUMBERS;
            // A number is new if it is less than half of the number space ahead.
            if ahead < NUMBERS / 2 { before + ahead } else { before + ahead - NUMBERS }
        };
        let numbers: Vec<u64> = mpdus.iter().map(counted_on).collect();
        let ascend = numbers.windows(2).all(|pair| pair[0] < pair[1]);
        rule(now, ascend, "numbers in an aggregate ascend", || format!("{stream:?}: {mpdus:?}"));
        *highest = numbers.iter().copied().fold(before, u64::max);
        let behind = numbers.iter().map(|number| *highest - number).max().unwrap_or(0);
        rule(now, behind < window, "frames lie within the window", || {
            format!("{behind} behind, and the window has {window}: {stream:?}: {mpdus:?}")
        });
    }

    fn check_size(&self, now: Instant, psdu: &DataPsdu) {
        let count = psdu.mpdus.len();
        let (frames, bytes, duration) = self.limits.map_or((1, Bytes(0), LONGEST_PPDU), |limits| {
            (usize::from(limits.frames.max(1)), limits.bytes, limits.duration.min(LONGEST_PPDU))
        });
        let frames = if psdu.to.is_some() { frames } else { 1 };
        rule(
            now,
            (1..=frames).contains(&count),
            "an A-MPDU has no more frames than it may",
            || format!("{count} of {frames}: {psdu:?}"),
        );
        let held: u64 = psdu.mpdus.iter().map(|(_, bytes)| bytes.0).sum();
        rule(now, held <= psdu.bytes.0, "a PSDU holds its frames", || format!("{psdu:?}"));
        if count < 2 {
            // A single frame is allowed whatever its size.
            return;
        }
        let own = psdu.to.and_then(|to| self.known.limits(psdu.from, to));
        let bytes = own.map_or(bytes, |(_, most)| bytes.min(most));
        rule(now, psdu.bytes <= bytes, "an A-MPDU has no more bytes than it may", || {
            format!("{} of {bytes}", psdu.bytes)
        });
        rule(now, psdu.lasting <= duration, "an A-MPDU lasts no longer than it may", || {
            format!("{} of {duration}", psdu.lasting)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(window: u16, frames: u16) -> Blocks {
        Blocks::new(
            Some(Aggregation {
                window,
                frames,
                bytes: Bytes(10_000),
                duration: Duration::from_micros(2000),
                ..Aggregation::default()
            }),
            Vec::new(),
            Known::default(),
        )
    }

    fn air(blocks: &mut Blocks, numbers: &[u16], bytes: u64, lasting_us: u64) {
        let mpdus: Vec<_> = numbers.iter().map(|&number| (number, Bytes(100))).collect();
        let lasting = Duration::from_micros(lasting_us);
        let (function, to) = (1, Some(2));
        let psdu = DataPsdu { from: 0, function, to, bytes: Bytes(bytes), lasting, mpdus };
        blocks.on_psdu(Instant(5), &psdu);
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        let mut blocks = blocks(8, 4);
        air(&mut blocks, &[0, 1, 2, 3], 400, 500);
        air(&mut blocks, &[1, 4, 5, 8], 10_000, 2000);
        air(&mut blocks, &[8], 20_000, 9000);
        // The whole number space, in steps of the window size.
        for number in 9..9000u16 {
            air(&mut blocks, &[number % 4096], 100, 500);
        }
    }

    #[test]
    #[should_panic(expected = "no more frames than it may")]
    fn too_many_frames_are_found() {
        air(&mut blocks(8, 4), &[0, 1, 2, 3, 4], 500, 500);
    }

    #[test]
    #[should_panic(expected = "no more bytes than it may")]
    fn too_many_bytes_are_found() {
        air(&mut blocks(8, 4), &[0, 1], 10_001, 500);
    }

    #[test]
    #[should_panic(expected = "lasts no longer than it may")]
    fn too_long_a_ppdu_is_found() {
        air(&mut blocks(8, 4), &[0, 1], 500, 2001);
    }

    #[test]
    #[should_panic(expected = "a PSDU holds its frames")]
    fn a_psdu_shorter_than_its_frames_is_found() {
        air(&mut blocks(8, 4), &[0, 1], 199, 500);
    }

    #[test]
    #[should_panic(expected = "numbers in an aggregate ascend")]
    fn a_number_twice_is_found() {
        air(&mut blocks(8, 4), &[0, 0], 500, 500);
    }

    #[test]
    #[should_panic(expected = "frames lie within the window")]
    fn a_frame_beyond_the_window_is_found() {
        air(&mut blocks(8, 4), &[4090, 2], 500, 500);
    }

    #[test]
    #[should_panic(expected = "frames lie within the window")]
    fn a_frame_behind_the_window_is_found() {
        let mut blocks = blocks(8, 4);
        air(&mut blocks, &[0, 7], 500, 500);
        air(&mut blocks, &[8], 500, 500);
        air(&mut blocks, &[0], 500, 500);
    }

    #[test]
    #[should_panic(expected = "frames lie within the window")]
    fn without_an_agreement_only_the_last_frame_is_repeated() {
        let mut blocks = Blocks::new(None, Vec::new(), Known::default());
        air(&mut blocks, &[4095], 500, 500);
        air(&mut blocks, &[0], 500, 500);
        air(&mut blocks, &[4095], 500, 500);
    }
}
