//! Batch means: the precision of a rate, from a single run.

use kernel::Instant;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean rate over the batches and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Per second.
    pub mean: f64,
    /// Standard error of the mean, per second.
    standard_error: f64,
    /// Number of batches.
    batches: f64,
}

impl Estimate {
    /// Half the width of the 95 % interval, per second.
    pub fn half_width(&self) -> f64 {
        student_975(self.batches - 1.0) * self.standard_error
    }
}

/// The mean rate of a counter over batches of equal length, and its interval (Law, *Simulation
/// Modeling and Analysis*, section 9.5.3).
///
/// Takes the counter at the start of the window and at the end of each batch. `None` for fewer than
/// two batches. Student's quantile is exact to 9 decimals for up to 1000 batches.
pub fn batch_means(snapshots: impl IntoIterator<Item = (Instant, f64)>) -> Option<Estimate> {
    let mut snapshots = snapshots.into_iter();
    let first = snapshots.next()?;
    let rate = |before: &mut (Instant, f64), now: (Instant, f64)| {
        let (start, counter) = std::mem::replace(before, now);
        Some((now.1 - counter) / (now.0 - start).as_secs_f64())
    };
    estimate(&snapshots.scan(first, rate).collect::<Vec<f64>>())
}

fn estimate(rates: &[f64]) -> Option<Estimate> {
    if rates.len() < 2 {
        return None;
    }
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let squares: f64 = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
    let standard_error = (squares / (n - 1.0) / n).sqrt();
    Some(Estimate { mean, standard_error, batches: n })
}

/// Student's 97.5 % quantile, rounded to 9 decimals. The last bits of the library's logarithms may
/// differ between platforms; results must not.
fn student_975(degrees_of_freedom: f64) -> f64 {
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("degrees of freedom > 0");
    (student.inverse_cdf(0.975) * 1e9).round() * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_quantiles_are_the_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
        let table = [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (19.0, 2.093)];
        for (degrees, quantile) in table {
            assert!((student_975(degrees) - quantile).abs() < 5e-4);
        }
        // A scenario may have at most 1000 batches.
        assert!((student_975(999.0) - 1.962_341_461).abs() < 2e-9);
    }

    fn snapshots<const N: usize>(points: [(u64, f64); N]) -> Option<Estimate> {
        batch_means(points.map(|(s, counter)| (Instant(s * 1_000_000_000), counter)))
    }

    #[test]
    fn snapshots_become_rates_and_an_interval() {
        let points = [(1, 100.0), (3, 120.0), (5, 144.0), (7, 164.0), (9, 188.0)];
        let found = snapshots(points).unwrap();
        // Rates 10, 12, 10, 12: sd = sqrt(4/3), standard error sd/2; Student's quantile of 3
        // degrees 3.182446.
        assert_eq!(found.mean, 11.0);
        assert!((found.half_width() - 3.182_446 * (4.0f64 / 3.0).sqrt() / 2.0).abs() < 1e-6);
    }

    #[test]
    fn batches_may_differ_by_a_nanosecond() {
        let ends = [5, 8, 11, 15];
        let found = batch_means(ends.map(|ns| (Instant(ns), ns as f64))).unwrap();
        assert!((found.mean - 1e9).abs() < 1.0 && found.half_width() < 1.0, "{found:?}");
    }

    #[test]
    fn one_batch_has_no_spread() {
        assert_eq!(snapshots([]), None);
        assert_eq!(snapshots([(0, 0.0)]), None);
        assert_eq!(snapshots([(0, 0.0), (1, 1.0)]), None);
        let two = snapshots([(0, 0.0), (1, 1.0), (2, 2.0)]).unwrap();
        assert_eq!(two.half_width(), 0.0);
    }

    #[test]
    fn the_interval_covers_the_truth_in_95_of_100_cases() {
        let mut rng = kernel::Seed { root: 7, replication: 0 }.stream("test.batch", 0);
        let (cases, mut covered) = (4000, 0);
        for _ in 0..cases {
            // A sum of twelve uniform variates is nearly normal.
            let rates: Vec<f64> =
                (0..20).map(|_| (0..12).map(|_| rng.uniform()).sum::<f64>()).collect();
            let found = estimate(&rates).unwrap();
            covered += u32::from((found.mean - 6.0).abs() <= found.half_width());
        }
        // Three standard deviations of 4000 trials at 0.95 are 1.03 %.
        let share = f64::from(covered) / f64::from(cases);
        assert!((share - 0.95).abs() < 0.0103, "{share}");
    }
}
