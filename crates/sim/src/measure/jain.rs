//! Jain's index of fairness.

/// Jain's index of fairness (Jain, Chiu, Hawe, DEC-TR-301, 1984): 1 if all shares are equal, 1/n if
/// one flow has everything. Without shares, and if all are zero, it is NaN: nothing was divided.
pub fn jain(shares: impl IntoIterator<Item = f64>) -> f64 {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        n += 1.0;
        sum += share;
        squares += share * share;
    }
    sum * sum / (n * squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        assert_eq!(jain([3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain([5.0, 0.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain([1.0, 2.0, 3.0]), 36.0 / 42.0);
        assert!(jain([0.0, 0.0]).is_nan());
        assert!(jain([]).is_nan());
    }

    proptest! {
        #[test]
        fn lies_between_1_over_n_and_1_and_ignores_scale(
            shares in prop::collection::vec(0.0..1e6, 1..30),
            scale in 1e-3..1e3,
        ) {
            let index = jain(shares.iter().copied());
            prop_assert!(index <= 1.0 + 1e-12 && index >= 1.0 / shares.len() as f64 - 1e-12);
            prop_assert!((jain(shares.iter().map(|x| x * scale)) - index).abs() < 1e-9);
        }
    }
}
