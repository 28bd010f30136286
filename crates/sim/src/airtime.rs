//! The PPDU-duration calculator behind `simoom airtime`.

use crate::scenario::Issue;
use kernel::{BitRate, Bytes};
use wifi::phy::{self, Preamble, Standard};

/// What to calculate.
#[derive(Clone, Debug, PartialEq)]
pub struct AirtimeQuery {
    /// `11b`, `11a` or `11g`.
    pub standard: String,
    /// Rate in Mb/s; the standard's highest if absent.
    pub rate_mbps: Option<f64>,
    /// Bytes of the PSDU, FCS included.
    pub psdu_bytes: u64,
    /// Whether DSSS and CCK frames have the short preamble.
    pub short_preamble: bool,
}

/// Longest PSDU of these standards (clause 17.2.2: the LENGTH field has 12 bits).
const LONGEST_PSDU: u64 = 4095;

/// The parts of a PPDU and their durations in microseconds, `total` last; all faults at once.
pub fn airtime(query: &AirtimeQuery) -> Result<Vec<(&'static str, f64)>, Vec<Issue>> {
    let mut issues = Vec::new();
    let mut fault = |path: &str, message: String| issues.push(Issue { path: path.into(), message });
    let standard = Standard::named(&query.standard);
    if standard.is_none() {
        fault("standard", format!("{:?} is not known; there are 11a, 11b, 11g", query.standard));
    }
    if !(1..=LONGEST_PSDU).contains(&query.psdu_bytes) {
        let message = format!("must be from 1 to {LONGEST_PSDU}, is {}", query.psdu_bytes);
        fault("psdu_bytes", message);
    }
    let mode = standard.and_then(|standard| match query.rate_mbps {
        None => Some(standard.fastest()),
        Some(rate) if rate.is_finite() && rate > 0.0 => standard.mode(BitRate::from_mbps(rate)),
        Some(_) => None,
    });
    if let (Some(standard), None) = (standard, mode) {
        let rates: Vec<String> =
            standard.modes.iter().map(|mode| mode.rate.as_mbps().to_string()).collect();
        let rate = query.rate_mbps.unwrap_or_default();
        let rates = rates.join(", ");
        fault("rate_mbps", format!("{rate} is not a rate of 802.{}: {rates}", standard.name));
    }
    let Some(mode) = mode.filter(|_| issues.is_empty()) else { return Err(issues) };
    let preamble = if query.short_preamble { Preamble::Short } else { Preamble::Long };
    let parts = phy::airtime(&mode, preamble, Bytes(query.psdu_bytes));
    Ok(vec![
        ("preamble_us", parts.preamble.as_micros_f64()),
        ("header_us", parts.header.as_micros_f64()),
        ("payload_us", parts.payload.as_micros_f64()),
        ("signal_extension_us", parts.extension.as_micros_f64()),
        ("total_us", parts.total().as_micros_f64()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(standard: &str, rate_mbps: Option<f64>, psdu_bytes: u64) -> AirtimeQuery {
        AirtimeQuery { standard: standard.into(), rate_mbps, psdu_bytes, short_preamble: false }
    }

    #[test]
    fn gives_each_part() {
        let parts = airtime(&query("11g", None, 1536)).unwrap();
        let expected = [16.0, 4.0, 228.0, 6.0, 254.0];
        assert_eq!(parts.iter().map(|part| part.1).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn names_every_fault() {
        let issues = airtime(&query("11x", None, 0)).unwrap_err();
        assert_eq!(issues.len(), 2);
        let issues = airtime(&query("11b", Some(54.0), 100)).unwrap_err();
        assert_eq!(issues[0].path, "rate_mbps");
        assert!(issues[0].message.contains("1, 2, 5.5, 11"));
        assert!(airtime(&query("11b", Some(f64::NAN), 100)).is_err());
    }
}
