//! Advertising of Bluetooth Low Energy.

use super::{Burst, HISTORY, Source, SourceKind, Spectrum, Surroundings};
use kernel::{Draws, Duration, Instant};
use settings::Settings;
use std::collections::VecDeque;

/// Advertising of Bluetooth Low Energy (Bluetooth Core Specification, volume 6, part B, section
/// 4.4.2): in each event one packet on each of the channels at 2402, 2426 and 2480 MHz.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Advertising")]
pub struct AdvertisingSettings {
    /// Time between two events in milliseconds, to which 0 to 10 ms are added at random.
    #[setting(key = "interval_ms", default = 100.0, range = 20.0..=10_485.76)]
    pub interval: Duration,
    /// Bytes of advertising data.
    #[setting(default = 31, range = 0..=31)]
    pub data_bytes: u64,
    /// Time from the start of a packet to the start of the next packet of the event, in
    /// microseconds.
    #[setting(key = "spacing_us", default = 750.0, range = 400.0..=10_000.0)]
    pub spacing: Duration,
}

/// The channels in the order of use, in MHz (volume 6, part B, section 1.4.1).
const CHANNELS_MHZ: [u32; 3] = [2402, 2426, 2480];
/// The greatest random delay of an event, `advDelay`, in nanoseconds.
const MOST_DELAY: u32 = 10_000_000;

impl SourceKind for AdvertisingSettings {
    fn build(&self, surroundings: &Surroundings) -> Box<dyn Source> {
        let draws = surroundings.seed.draws("interferer.advertising", surroundings.index);
        let first = Instant((draws.uniform(0) * self.interval.0 as f64) as u64);
        Box::new(Advertising {
            interval: self.interval,
            spacing: self.spacing,
            // Preamble, access address, header, address of the device and check at 1 Mb/s.
            packet: Duration::from_micros(8 * (1 + 4 + 2 + 6 + 3 + self.data_bytes)),
            draws,
            events: VecDeque::from([first]),
            number: 1,
        })
    }
}

#[derive(Debug)]
struct Advertising {
    interval: Duration,
    spacing: Duration,
    packet: Duration,
    draws: Draws,
    /// Starts of the events that may be asked for, and of one later event.
    events: VecDeque<Instant>,
    /// The number of events so far.
    number: u64,
}

impl Advertising {
    /// Draws events until one begins after an instant, and forgets those long before it.
    fn advance(&mut self, at: Instant) {
        let lasting = self.spacing * 3;
        while let Some(&last) = self.events.back()
            && last <= at
        {
            let delay = self.draws.up_to(self.number, MOST_DELAY);
            self.events.push_back(last + self.interval + Duration(u64::from(delay)));
            self.number += 1;
        }
        while self.events.front().is_some_and(|&first| first + lasting + HISTORY < at) {
            self.events.pop_front();
        }
    }
}

impl Source for Advertising {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        self.advance(at);
        let Self { spacing, packet, ref events, .. } = *self;
        let mut bursts = events.iter().flat_map(|&event| {
            (0u64..).zip(CHANNELS_MHZ).map(move |(place, mhz)| {
                let start = event + spacing * place;
                let spectrum = Spectrum::narrow(mhz, 2);
                Burst { start, end: start + packet, device: 0, spectrum }
            })
        });
        bursts.find(|burst| burst.end > at)
    }
}
