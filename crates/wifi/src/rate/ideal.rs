//! The fastest mode for the signal to noise ratio.

use super::{AttemptParameters, LinkModes, RateControl, Rule, TxReport};
use crate::phy::error::{ErrorModel, required_snr};
use crate::phy::{Mode, decibels};
use kernel::{Bytes, Db, Instant, Rng};
use settings::{Faults, Path, Settings};

/// The fastest mode that the signal allows; requires a radio.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct IdealSettings {}

/// The loss ratio that it tolerates, and the PSDU size for which it is computed.
const PSDU: Bytes = Bytes(1536);
const LOSS: f64 = 0.1;

impl Rule for IdealSettings {
    fn check(&self, link: &LinkModes, _: Instant, at: &Path, faults: &mut Faults) {
        if !link.has_radio {
            let message = "goes by the strength of the signal, and this cell has no radio: every \
                           node hears every other, whatever the mode";
            faults.fault(at, message);
        }
    }

    fn build(
        &self,
        link: &LinkModes,
        model: &dyn ErrorModel,
        _: Rng,
    ) -> Option<Box<dyn RateControl>> {
        Some(Box::new(Ideal::new(link.modes(), model, PSDU, LOSS)))
    }
}

/// The fastest mode whose loss ratio at the last known signal to noise ratio is below a limit; the
/// most robust mode until a ratio is known.
#[derive(Clone, Debug)]
pub struct Ideal {
    /// Modes, and the ratio that each needs in 20 MHz, the most robust first.
    modes: Vec<(Db, Mode)>,
    snr: Option<Db>,
}

impl Ideal {
    /// For PSDUs of this size, of which at most a fraction `loss` may be lost.
    pub fn new(
        modes: impl IntoIterator<Item = Mode>,
        model: &dyn ErrorModel,
        psdu: Bytes,
        loss: f64,
    ) -> Self {
        let needs = |mode: Mode| {
            // The streams share the power.
            let shared = decibels(f64::from(mode.streams));
            (required_snr(model, &mode, psdu, loss) + shared + in_20_mhz(&mode), mode)
        };
        let mut modes: Vec<(Db, Mode)> = modes.into_iter().map(needs).collect();
        assert!(!modes.is_empty(), "a link has a mode");
        modes.sort_by(|(a, _), (b, _)| a.0.total_cmp(&b.0));
        Self { modes, snr: None }
    }
}

impl RateControl for Ideal {
    fn select(&mut self, _now: Instant, _attempt: u32) -> AttemptParameters {
        let allowed = self.modes.iter().filter(|(needed, _)| Some(*needed) <= self.snr);
        let fastest = allowed.max_by_key(|(_, mode)| mode.rate);
        AttemptParameters::plain(fastest.unwrap_or(&self.modes[0]).1)
    }

    fn on_report(&mut self, _now: Instant, report: &TxReport) {
        if let Some(snr) = report.snr {
            self.snr = Some(snr + in_20_mhz(&report.mode));
        }
    }
}

/// The ratio in 20 MHz exceeds that in the mode's bandwidth by this much, because a wider band has
/// more noise.
fn in_20_mhz(mode: &Mode) -> Db {
    decibels(f64::from(mode.occupied().mhz()) / 20.0)
}

#[cfg(test)]
mod tests {
    use super::super::Answer;
    use super::*;
    use crate::phy::error::Nist;
    use crate::phy::{Band, DOT11A, ModeClass, TxVector, Width};

    fn report(mode: Mode, snr: f64) -> TxReport {
        TxReport { mode, rts: false, sent: 1, answer: Answer::Acked(1), snr: Some(Db(snr)) }
    }

    fn rate(ideal: &mut Ideal) -> f64 {
        ideal.select(Instant::ZERO, 0).mode.rate.as_mbps()
    }

    #[test]
    fn the_rate_follows_the_signal() {
        let modes = DOT11A.modes.iter().copied();
        let mut ideal = Ideal::new(modes, &Nist {}, Bytes(1536), 0.1);
        assert_eq!(rate(&mut ideal), 6.0, "nothing known yet");
        for (snr, mbps) in [
            (30.0, 54.0),
            (22.64, 54.0),
            (22.62, 48.0),
            (13.52, 24.0),
            (13.50, 18.0),
            (3.98, 6.0),
            (-5.0, 6.0),
        ] {
            ideal.on_report(Instant::ZERO, &report(DOT11A.modes[0], snr));
            assert_eq!(rate(&mut ideal), mbps, "{snr} dB");
        }
    }

    #[test]
    fn without_a_new_ratio_the_last_one_holds() {
        let mut ideal = Ideal::new(DOT11A.modes.iter().copied(), &Nist {}, Bytes(1536), 0.1);
        ideal.on_report(Instant::ZERO, &report(DOT11A.modes[0], 30.0));
        let lost = TxReport { answer: Answer::None, snr: None, ..report(DOT11A.fastest(), 0.0) };
        ideal.on_report(Instant::ZERO, &lost);
        assert_eq!(rate(&mut ideal), 54.0);
    }

    #[test]
    fn wide_modes_and_streams_need_more() {
        let base = TxVector { mcs: 4, ..TxVector::of(ModeClass::He, Band::Ghz5) };
        let modes = [
            base.mode().unwrap(),
            TxVector { width: Width::Mhz80, ..base }.mode().unwrap(),
            TxVector { streams: 2, ..base }.mode().unwrap(),
        ];
        let mut ideal = Ideal::new(modes, &Nist {}, Bytes(1536), 0.1);
        let needed = |mode: &Mode| ideal.modes.iter().find(|(_, m)| m == mode).unwrap().0.0;
        assert!((needed(&modes[1]) - needed(&modes[0]) - 6.0206).abs() < 1e-3);
        assert!((needed(&modes[2]) - needed(&modes[0]) - 3.0103).abs() < 1e-3);
        // A ratio measured in 80 MHz is 6 dB higher in 20 MHz.
        let heard = needed(&modes[0]) - 6.0;
        ideal.on_report(Instant::ZERO, &report(modes[1], heard));
        assert_eq!(ideal.select(Instant::ZERO, 0).mode, modes[0]);
    }
}
