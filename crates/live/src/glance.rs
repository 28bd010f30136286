//! What an emulation says of itself while it goes on.

use crate::lateness::KEPT_UP;
use crate::ports::PortReport;
use kernel::Instant;
use sim::Readings;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time from one glance to the next.
const EVERY: Duration = Duration::from_millis(500);

/// How an emulation goes.
#[derive(Clone, Debug, Default)]
pub struct Glance {
    /// The simulated time.
    pub at: Instant,
    /// Packets that were handed over so far, and those of them that were later than 1 ms.
    pub handed_over: [u64; 2],
    /// The longest lateness so far, and since the last glance.
    pub latest: [Duration; 2],
    /// The time since the last glance.
    pub step: Duration,
    /// Packets that were dropped in the network.
    pub dropped: u64,
    /// The network has fallen behind so far that its results are invalid.
    pub fell_behind: bool,
    /// The ports.
    pub ports: Vec<PortGlance>,
    /// The values that were asked for, over the time since the last glance.
    pub values: Vec<f64>,
}

/// How a port does.
#[derive(Clone, Debug, Default)]
pub struct PortGlance {
    /// What it has carried so far.
    pub report: PortReport,
    /// Its packets that are in the network.
    pub on_the_way: usize,
    /// The mean delays in the network since the last glance, from the port and to it; `None`
    /// without a packet.
    pub delays: [Option<Duration>; 2],
}

/// Where others see how an emulation goes. The loop waits for nobody who looks.
#[derive(Clone, Debug, Default)]
pub struct Window(Arc<Mutex<Option<Glance>>>);

impl Window {
    /// The last glance; `None` before the first.
    pub fn look(&self) -> Option<Glance> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn show(&self, glance: Glance) {
        if let Ok(mut last) = self.0.try_lock() {
            *last = Some(glance);
        }
    }
}

/// What the loop keeps for glances.
#[derive(Debug)]
pub struct Watch {
    window: Window,
    readings: Readings,
    shown_at: Duration,
    handed_over: [u64; 2],
    latest: [Duration; 2],
    /// By port: delays of packets from it and to it, and how many.
    delays: Vec<[(Duration, u32); 2]>,
}

impl Watch {
    /// Shows glances in a window, with these values of the network.
    pub fn new(window: Window, readings: Readings) -> Self {
        let (shown_at, latest) = (Duration::ZERO, [Duration::ZERO; 2]);
        Self { window, readings, shown_at, handed_over: [0; 2], latest, delays: Vec::new() }
    }

    /// A packet from one port to another, which were `delay` apart, was handed over this late.
    pub(crate) fn note(&mut self, ports: [usize; 2], delay: Duration, late: Duration) {
        self.handed_over[0] += 1;
        self.handed_over[1] += u64::from(late > KEPT_UP);
        self.latest = self.latest.map(|latest| latest.max(late));
        self.delays.resize(self.delays.len().max(ports[0].max(ports[1]) + 1), Default::default());
        for (side, port) in ports.into_iter().enumerate() {
            let (sum, count) = &mut self.delays[port][side];
            *sum += delay;
            *count += 1;
        }
    }

    pub(crate) fn is_due(&self, now: Duration) -> bool {
        now >= self.shown_at + EVERY
    }

    /// Shows a glance. `ports` has what each has carried, and how many of its packets are on the
    /// way; `read` reads the values.
    pub(crate) fn show(
        &mut self,
        now: Duration,
        at: Instant,
        dropped: u64,
        fell_behind: bool,
        ports: impl Iterator<Item = (PortReport, usize)>,
        read: impl FnOnce(&mut Readings, &mut [f64]),
    ) {
        let mut values = vec![0.0; self.readings.paths().count()];
        read(&mut self.readings, &mut values);
        let mean = |(sum, count): (Duration, u32)| (count > 0).then(|| sum / count);
        let delays = std::mem::take(&mut self.delays);
        let ports = ports.enumerate().map(|(number, (report, on_the_way))| {
            let delays = delays.get(number).copied().unwrap_or_default().map(mean);
            PortGlance { report, on_the_way, delays }
        });
        let step = now.saturating_sub(self.shown_at);
        let (handed_over, latest, ports) = (self.handed_over, self.latest, ports.collect());
        self.window.show(Glance {
            at,
            handed_over,
            latest,
            step,
            dropped,
            fell_behind,
            ports,
            values,
        });
        self.shown_at = now;
        self.latest[1] = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_tells_what_has_happened_since_the_last() {
        let (window, micros) = (Window::default(), Duration::from_micros);
        let mut watch = Watch::new(window.clone(), Readings::default());
        assert!(window.look().is_none());
        watch.note([0, 1], micros(3000), micros(1500));
        watch.note([0, 1], micros(5000), micros(10));
        let show = |watch: &mut Watch, at_ms| {
            let ports = [(PortReport::default(), 2), (PortReport::default(), 0)];
            let now = Duration::from_millis(at_ms);
            watch.show(now, Instant::ZERO, 0, false, ports.into_iter(), |_, _| {});
            window.look().unwrap()
        };
        assert!(!watch.is_due(Duration::from_millis(499)) && watch.is_due(EVERY));
        let first = show(&mut watch, 500);
        assert_eq!((first.handed_over, first.latest), ([2, 1], [micros(1500); 2]));
        assert_eq!(first.ports[0].delays, [Some(micros(4000)), None]);
        assert_eq!(first.ports[1].delays, [None, Some(micros(4000))]);
        assert_eq!(first.ports[0].on_the_way, 2);
        let second = show(&mut watch, 1100);
        assert_eq!((second.handed_over, second.latest), ([2, 1], [micros(1500), Duration::ZERO]));
        assert_eq!(second.step, Duration::from_millis(600));
        assert_eq!(second.ports[1].delays, [None; 2]);
    }
}
