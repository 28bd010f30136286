//! A decorator that steers a congestion control by the throughput that the first hop can carry.
//!
//! Okada, Nobayashi and Ikenaga, "TCP Congestion Control based on Transmission Rate of Wireless LAN
//! Interfaces": when the rate of the interface rises, the window becomes at least throughput × RTT
//! / 2, and when the rate falls, at most that (equations (1) and (2)).

use super::{
    Ack, Cause, Connection, Control, ControlSettings, Controller, CubicConfig, Event, Loss,
    Steerable, Wants,
};
use crate::{Config, Hint};
use kernel::{BitRate, Bytes, Duration, Segments};
use settings::{AnySetting, Choice, Fault, Faults, Named, Path, Settings, Variant, said};
use std::collections::VecDeque;
use std::sync::OnceLock;

/// A congestion control with knowledge of the link rate (Okada, Nobayashi and Ikenaga).
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "CrossLayer", check = relate)]
pub struct CrossLayerConfig {
    /// The congestion control that is steered.
    pub inner: Inner,
    /// The round-trip time from which the window is computed.
    pub average: Average,
    /// The number of samples in the mean.
    #[setting(default = 10, range = 1..=100_000)]
    pub samples: usize,
    /// Link rates, ascending. Default: those of 802.11ac at 20 MHz with one stream and a guard
    /// interval of 400 ns.
    #[setting(range = 1e-3..=1e6)]
    pub rates_mbps: Option<Vec<BitRate>>,
    /// The throughput of the application at each rate. Default: with A-MPDUs of 32 frames of 1498
    /// bytes.
    #[setting(range = 1e-3..=1e6)]
    pub throughputs_mbps: Option<Vec<BitRate>>,
}

fn relate(keys: &CrossLayerConfig, at: &Path, faults: &mut Faults) {
    let rates = keys.rates_mbps.as_deref().unwrap_or_default();
    let (n, m) = (rates.len(), keys.throughputs_mbps.as_ref().map_or(0, Vec::len));
    let given = keys.rates_mbps.is_some() || keys.throughputs_mbps.is_some();
    if given && (n == 0 || n != m) {
        let message = said!("{n} rates for {m} throughputs_mbps", "each rate has one");
        faults.fault(at.key("rates_mbps"), message);
    } else if !rates.is_sorted_by(|a, b| a < b) {
        let is: Vec<_> = rates.iter().map(|rate| rate.as_mbps()).collect();
        let message = format!("must ascend, as [6.5, 13.0], is {is:?}");
        faults.fault(at.key("rates_mbps"), message);
    }
}

impl Controller for CrossLayerConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        let inner = self.inner.0.get().steerable(connection.config);
        let inner = inner.expect("only what can be steered is named");
        Box::new(CrossLayer::new(inner, self, connection.config.mss()))
    }
}

/// A congestion control that another one may steer.
#[derive(Clone, Debug, PartialEq)]
pub struct Inner(pub Box<ControlSettings>);

impl Default for Inner {
    fn default() -> Self {
        Self(Box::new(ControlSettings::Cubic(CubicConfig::default())))
    }
}

impl Choice for Inner {
    const TITLE: &'static str = "Inner";
    const MEANING: &'static str = "A controller that another one may steer.";
    const VARIANTS: &'static [Variant] = ControlSettings::VARIANTS;
    const NAMES: &'static [&'static str] = ControlSettings::NAMES;

    fn names() -> &'static [&'static str] {
        static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
        NAMES.get_or_init(|| {
            let mut all = ControlSettings::all();
            all.retain(|control| control.get().steerable(&Config::default()).is_some());
            all.iter().map(Choice::name).collect()
        })
    }

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn inner(&self) -> Option<&dyn AnySetting> {
        self.0.inner()
    }

    fn pick(named: &Named<'_>) -> Result<Self, Fault> {
        ControlSettings::pick(named).map(|control| Self(Box::new(control)))
    }
}

settings::setting_by_choice!(Inner);

/// The throughput of the application by link rate: pairs (rate, throughput), ascending.
#[derive(Clone, Debug, PartialEq)]
struct Throughputs(Vec<(f64, f64)>);

impl Throughputs {
    fn of(settings: &CrossLayerConfig) -> Self {
        match (&settings.rates_mbps, &settings.throughputs_mbps) {
            (Some(rates), Some(gets)) => {
                let rows = rates.iter().zip(gets);
                Self(rows.map(|(rate, gets)| (rate.0 as f64, gets.0 as f64)).collect())
            }
            _ => Self::dot11ac_20mhz(),
        }
    }

    /// 802.11ac at 20 MHz with one stream, guard interval 400 ns, A-MPDUs of at most 32 frames of
    /// 1498 bytes: the effective throughput by Sharon and Alpert, "MAC level Throughput comparison:
    /// 802.11ac vs. 802.11n" (Physical Communication 12, 2014), for MCS 0 to 8.
    fn dot11ac_20mhz() -> Self {
        const MBPS: [(f64, f64); 9] = [
            (7.2, 6.52),
            (14.4, 13.04),
            (21.7, 19.57),
            (28.9, 26.09),
            (43.3, 39.24),
            (57.8, 52.27),
            (65.0, 58.81),
            (72.2, 65.41),
            (86.7, 77.82),
        ];
        Self(MBPS.map(|(rate, gets)| (rate * 1e6, gets * 1e6)).to_vec())
    }

    /// The throughput in bit/s: linear between rows, proportional beyond them.
    fn at(&self, rate: BitRate) -> f64 {
        let rate = rate.0 as f64;
        let above = self.0.partition_point(|row| row.0 < rate);
        let proportional = |row: (f64, f64)| row.1 * rate / row.0;
        match (above.checked_sub(1).map(|below| self.0[below]), self.0.get(above)) {
            (Some(low), Some(high)) => low.1 + (high.1 - low.1) * (rate - low.0) / (high.0 - low.0),
            (None, Some(&row)) | (Some(row), None) => proportional(row),
            (None, None) => 0.0,
        }
    }
}

/// The round-trip time in equation (2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Average {
    /// The mean of the last samples (`RTT_en`).
    #[default]
    Samples,
    /// The smoothed round-trip time of RFC 6298.
    Smoothed,
}

/// A congestion control with a window, which is steered when the rate of the first hop changes.
#[derive(Debug)]
pub struct CrossLayer {
    inner: Box<dyn Steerable>,
    throughputs: Throughputs,
    average: Average,
    mss: Bytes,
    /// The last samples, if their mean is used.
    most_samples: usize,
    samples: VecDeque<Duration>,
    srtt: Duration,
    rate: Option<BitRate>,
    /// The window by equation (2), which is applied at the end of recovery, and whether the rate
    /// rose.
    waiting: Option<(f64, bool)>,
    /// Segments that were outstanding at the last loss and have not been delivered. While there are
    /// any, the window is not steered.
    unrepaired: f64,
    recovering: bool,
    ideal: f64,
}

impl CrossLayer {
    /// Decorates `inner` for segments of size `mss`.
    pub fn new(inner: Box<dyn Steerable>, settings: &CrossLayerConfig, mss: Bytes) -> Self {
        Self {
            inner,
            throughputs: Throughputs::of(settings),
            average: settings.average,
            mss,
            most_samples: settings.samples.max(1),
            samples: VecDeque::new(),
            srtt: Duration::ZERO,
            rate: None,
            waiting: None,
            unrepaired: 0.0,
            recovering: false,
            ideal: f64::NAN,
        }
    }

    fn learn(&mut self, ack: &Ack) {
        self.srtt = ack.srtt;
        self.recovering = ack.recovery;
        self.unrepaired = (self.unrepaired - ack.acked.0).max(0.0);
        if let (Average::Samples, Some(rtt)) = (self.average, ack.rtt) {
            while self.samples.len() >= self.most_samples {
                self.samples.pop_front();
            }
            self.samples.push_back(rtt);
        }
    }

    fn average_s(&self) -> f64 {
        match self.average {
            Average::Smoothed => self.srtt.as_secs_f64(),
            Average::Samples => {
                let sum: Duration = self.samples.iter().copied().sum();
                sum.as_secs_f64() / self.samples.len().max(1) as f64
            }
        }
    }

    /// Applies equation (1), at once or when recovery is over.
    fn steer(&mut self) {
        if self.recovering || self.unrepaired > 0.0 {
            return;
        }
        let Some((ideal, rose)) = self.waiting.take() else { return };
        let window = self.inner.window().0;
        let ideal = ideal.max(2.0);
        if (rose && ideal > window) || (!rose && ideal < window) {
            self.inner.steer(Segments(ideal));
        }
    }

    fn on_undo(&mut self) {
        self.unrepaired = 0.0;
        self.inner.on_event(Event::Undo);
    }

    fn on_hint(&mut self, hint: &Hint) {
        self.inner.on_event(Event::Hint(hint));
        let Hint::LinkRate(rate) = *hint else { return };
        // The first rate is no change.
        let Some(before) = self.rate.replace(rate) else { return };
        let rtt_s = self.average_s();
        if rate == before || rtt_s == 0.0 {
            return;
        }
        // Equation (2), with the round-trip times from before the change.
        self.ideal = self.throughputs.at(rate) * rtt_s / 2.0 / self.mss.bits() as f64;
        self.waiting = Some((self.ideal, rate > before));
        self.steer();
    }
}

impl Control for CrossLayer {
    fn window(&self) -> Segments {
        self.inner.window()
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.learn(ack);
        self.inner.on_ack(ack);
        self.steer();
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause != Cause::Ecn && !loss.repeated {
            self.unrepaired = loss.in_flight.0;
        }
        self.inner.on_loss(loss);
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Undo => self.on_undo(),
            Event::Hint(hint) => self.on_hint(hint),
            _ => {}
        }
    }

    fn wants(&self) -> Wants {
        Wants { pacing: self.inner.wants().pacing, ..Wants::default() }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.inner.gauges(visit);
        visit("ideal_window_segments", self.ideal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::control::fixture::{ack_at, gauge, loss};
    use crate::control::{Cubic, CubicConfig, NewReno};

    const MSS: Bytes = Bytes(1448);

    fn at_mcs_0(window: f64) -> CrossLayer {
        let window = Segments(window);
        let config = Config {
            initial_window: Some(window),
            initial_ssthresh: Some(window),
            ..Config::default()
        };
        let inner = Box::new(Cubic::new(&config, CubicConfig::default()));
        let mut control = CrossLayer::new(inner, &CrossLayerConfig::default(), MSS);
        control.on_hint(&mbps(7.2));
        // Older samples are discarded; the windows in the paper imply 30.4 ms.
        for rtt_ms in [90.0; 5].iter().chain(&[30.4; 10]) {
            control.on_ack(&ack_at(1.0, 0.0, *rtt_ms));
        }
        control
    }

    fn mbps(rate: f64) -> Hint {
        Hint::LinkRate(BitRate::from_mbps(rate))
    }

    #[test]
    fn the_windows_of_the_paper() {
        // Figure 2: 100 KB after a change to MCS 5, 147 KB after one to MCS 8.
        for (rate, kilobytes) in [(57.8, 100.0), (86.7, 147.0)] {
            let mut control = at_mcs_0(20.0);
            control.on_hint(&mbps(rate));
            let is = control.window().0 * MSS.0 as f64 / 1e3;
            assert!((is / kilobytes - 1.0).abs() < 0.02, "{is} KB for {kilobytes}");
            assert_eq!(gauge(&control, "ssthresh_segments"), Some(control.window().0));
        }
    }

    #[test]
    fn a_rise_never_lowers_and_a_fall_never_raises() {
        let mut control = at_mcs_0(500.0);
        control.on_hint(&mbps(86.7));
        assert_eq!(control.window().0, 500.0);
        control.on_hint(&mbps(7.2));
        let low = control.window().0;
        assert!((low - 6.52e6 * 0.0304 / 2.0 / (8.0 * 1448.0)).abs() < 0.01, "{low}");
        let mut control = at_mcs_0(2.0);
        control.on_hint(&mbps(86.7));
        control.on_hint(&mbps(86.7));
        let high = control.window().0;
        control.on_hint(&mbps(72.2));
        assert!(control.window().0 < high);
        let mut control = at_mcs_0(3.0);
        control.rate = Some(BitRate::from_mbps(86.7));
        control.on_hint(&mbps(72.2));
        assert_eq!(control.window().0, 3.0);
    }

    #[test]
    fn a_change_waits_for_the_end_of_recovery() {
        let mut control = at_mcs_0(20.0);
        control.on_loss(&loss(Cause::FastRetransmit, 20.0));
        control.on_hint(&mbps(86.7));
        assert_eq!(control.window().0, 14.0);
        let held = Ack { may_grow: false, recovery: true, ..ack_at(1.0, 5.0, 30.4) };
        control.on_ack(&held);
        assert_eq!(control.window().0, 14.0);
        control.on_ack(&ack_at(1.0, 15.0, 30.4));
        assert!(control.window().0 > 90.0, "{}", control.window().0);
    }

    #[test]
    fn without_a_change_or_a_sample_nothing_is_steered() {
        let inner = Box::new(NewReno::new(Segments(4.0), Some(Segments(4.0))));
        let smoothed = CrossLayerConfig { average: Average::Smoothed, ..Default::default() };
        let mut control = CrossLayer::new(inner, &smoothed, MSS);
        control.on_hint(&mbps(7.2));
        control.on_hint(&mbps(86.7));
        assert_eq!(control.window().0, 4.0);
        control.on_ack(&ack_at(0.0, 1.0, 100.0));
        control.on_hint(&mbps(86.7));
        assert_eq!(control.window().0, 4.0);
        control.on_hint(&mbps(7.2));
        control.on_hint(&mbps(86.7));
        assert!(control.window().0 > 300.0);
    }

    #[test]
    fn throughputs_between_the_rows_are_linear_and_beyond_proportional() {
        let at = |rate| Throughputs::dot11ac_20mhz().at(BitRate::from_mbps(rate)) * 1e-6;
        assert!((at(57.8) - 52.27).abs() < 1e-9);
        assert!((at(61.4) - 55.54).abs() < 1e-9);
        assert!((at(3.6) - 3.26).abs() < 1e-9);
        assert!((at(173.4) - 155.64).abs() < 1e-9);
    }
}
