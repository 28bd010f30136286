//! A station's DCF state: its frame in service, retry counts, window and duplicate filter.

use super::timing::BackoffDraw;
use crate::phy::Mode;
use kernel::{Bytes, Rng};
use wire::Packet;

/// The frame in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) packet: Packet,
    /// Node it goes to over the air; `None` is broadcast.
    pub(crate) to: Option<u32>,
    pub(crate) mode: Mode,
    /// Bytes of the PSDU, FCS included.
    pub(crate) psdu: Bytes,
    pub(crate) with_rts: bool,
    pub(crate) sequence: u16,
    /// Attempts that failed before the data frame got an answer (SRC; clause 10.3.4.4).
    short_retries: u32,
    /// Attempts in which the data frame after a CTS got no ACK (LRC).
    long_retries: u32,
    /// The data frame was on the air before: its Retry bit (clause 9.2.4.1.6).
    pub(crate) retry: bool,
    /// The receiver has the frame.
    pub(crate) received: bool,
}

/// What a failed attempt leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Retry,
    Drop,
}

/// Retry limits and contention windows of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Persistence {
    pub(crate) short_limit: u32,
    pub(crate) long_limit: u32,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
    pub(crate) draw: BackoffDraw,
}

/// One node's DCF.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) frame: Option<Frame>,
    cw: u32,
    next_sequence: u16,
    backoff: Backoff,
}

/// Where back-offs come from: the node's random stream, or a test's list.
#[derive(Debug)]
pub(crate) enum Backoff {
    Random(Rng),
    #[cfg(test)]
    Listed(std::collections::VecDeque<u32>),
}

impl Station {
    pub(crate) fn new(persistence: &Persistence, backoff: Backoff) -> Self {
        Self { frame: None, cw: persistence.cw_min, next_sequence: 0, backoff }
    }

    /// Takes a packet into service.
    pub(crate) fn load(
        &mut self,
        packet: Packet,
        to: Option<u32>,
        mode: Mode,
        psdu: Bytes,
        with_rts: bool,
    ) {
        debug_assert!(self.frame.is_none(), "one frame in service at a time");
        let sequence = self.next_sequence;
        // Twelve bits (clause 9.2.4.4.2).
        self.next_sequence = (sequence + 1) & 0xfff;
        self.frame = Some(Frame {
            packet,
            to,
            mode,
            psdu,
            with_rts,
            sequence,
            short_retries: 0,
            long_retries: 0,
            retry: false,
            received: false,
        });
    }

    /// Draws a back-off from the current window.
    pub(crate) fn draw(&mut self, persistence: &Persistence) -> u32 {
        let highest = match persistence.draw {
            BackoffDraw::Standard => self.cw,
            BackoffDraw::Ns2 => self.cw.saturating_sub(1),
        };
        match &mut self.backoff {
            Backoff::Random(rng) => rng.up_to(highest),
            #[cfg(test)]
            Backoff::Listed(list) => list.pop_front().unwrap_or(highest),
        }
    }

    /// The frame got its answer, or needed none.
    pub(crate) fn succeed(&mut self, persistence: &Persistence) -> Option<Frame> {
        self.cw = persistence.cw_min;
        self.frame.take()
    }

    /// The frame got no answer; `after_cts` says that its CTS had come.
    ///
    /// Limits count attempts in all: a frame is given up when its count reaches the limit, and the
    /// window then starts anew (clauses 10.3.3, 10.3.4.4).
    pub(crate) fn fail(&mut self, persistence: &Persistence, after_cts: bool) -> Failure {
        let Some(frame) = &mut self.frame else { return Failure::Retry };
        frame.retry |= after_cts || !frame.with_rts;
        let exhausted = if after_cts {
            frame.short_retries = 0;
            frame.long_retries += 1;
            frame.long_retries >= persistence.long_limit
        } else {
            frame.short_retries += 1;
            frame.short_retries >= persistence.short_limit
        };
        if exhausted {
            self.cw = persistence.cw_min;
            Failure::Drop
        } else {
            self.cw = (2 * self.cw + 1).min(persistence.cw_max);
            Failure::Retry
        }
    }

    /// The contention window.
    pub(crate) fn window(&self) -> u32 {
        self.cw
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::DOT11B;
    use kernel::{Instant, Seed};
    use wire::{Body, Datagram, Ecn, FlowId, NodeId, TrafficClass};

    const PERSISTENCE: Persistence = Persistence {
        short_limit: 3,
        long_limit: 2,
        cw_min: 31,
        cw_max: 100,
        draw: BackoffDraw::Standard,
    };

    fn station(with_rts: bool) -> Station {
        let seed = Seed { root: 1, replication: 0 };
        let mut station = Station::new(&PERSISTENCE, Backoff::Random(seed.stream("test", 0)));
        load(&mut station, with_rts);
        station
    }

    fn load(station: &mut Station, with_rts: bool) {
        let packet = Packet {
            from: NodeId(1),
            to: Some(NodeId(0)),
            size: Bytes(64),
            born: Instant::ZERO,
            ecn: Ecn::default(),
            class: TrafficClass::default(),
            body: Body::Datagram(Datagram { flow: FlowId(0), number: 1, len: 36 }),
        };
        station.load(packet, Some(0), DOT11B.fastest(), Bytes(100), with_rts);
    }

    #[test]
    fn the_window_doubles_up_to_its_largest_and_starts_anew_with_the_next_frame() {
        let mut station = station(false);
        assert_eq!(station.fail(&PERSISTENCE, false), Failure::Retry);
        assert_eq!(station.window(), 63);
        assert_eq!(station.fail(&PERSISTENCE, false), Failure::Retry);
        assert_eq!(station.window(), 100);
        assert_eq!(station.fail(&PERSISTENCE, false), Failure::Drop);
        assert_eq!(station.window(), 31);
        station.frame = None;
        load(&mut station, false);
        station.fail(&PERSISTENCE, false);
        assert!(station.succeed(&PERSISTENCE).is_some_and(|frame| frame.sequence == 1));
        assert_eq!(station.window(), 31);
    }

    #[test]
    fn the_two_retry_counts_are_apart() {
        let mut station = station(true);
        assert_eq!(station.fail(&PERSISTENCE, false), Failure::Retry);
        assert_eq!(station.fail(&PERSISTENCE, false), Failure::Retry);
        assert_eq!(
            station.fail(&PERSISTENCE, true),
            Failure::Retry,
            "the CTS resets the short one"
        );
        assert_eq!(station.fail(&PERSISTENCE, false), Failure::Retry);
        assert_eq!(station.fail(&PERSISTENCE, true), Failure::Drop, "the long one stays");
    }

    #[test]
    fn the_retry_bit_tells_of_data_that_was_on_the_air() {
        let retry = |with_rts, after_cts| {
            let mut station = station(with_rts);
            station.fail(&PERSISTENCE, after_cts);
            station.frame.is_some_and(|frame| frame.retry)
        };
        assert!(retry(false, false));
        assert!(!retry(true, false));
        assert!(retry(true, true));
    }

    #[test]
    fn sequence_numbers_have_twelve_bits() {
        let mut station = station(false);
        for _ in 0..4096 {
            station.frame = None;
            load(&mut station, false);
        }
        assert_eq!(station.frame.map(|frame| frame.sequence), Some(0));
    }

    #[test]
    fn back_offs_cover_the_window() {
        let mut station = station(false);
        let mut draws = |draw| {
            let persistence = Persistence { draw, cw_min: 31, ..PERSISTENCE };
            let mut seen = [0u32; 33];
            for _ in 0..32_000 {
                seen[station.draw(&persistence) as usize] += 1;
            }
            seen
        };
        let standard = draws(BackoffDraw::Standard);
        // Each of the 32 values 1000 times, within five standard deviations.
        assert!(standard[..32].iter().all(|count| count.abs_diff(1000) < 160), "{standard:?}");
        assert_eq!(standard[32], 0);
        let ns2 = draws(BackoffDraw::Ns2);
        assert!(ns2[..31].iter().all(|count| count.abs_diff(1032) < 160), "{ns2:?}");
        assert_eq!(ns2[31..], [0, 0]);
    }
}
