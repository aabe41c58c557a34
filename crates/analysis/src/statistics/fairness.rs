//! Jain's index of fairness.

/// Returns Jain's index of fairness (Jain, Chiu and Hawe, DEC-TR-301, 1984): (sum x)^2 / (n sum x^2), for rates or
/// shares of any unit. It is 1 if all are equal (also if all are zero), 1/n if only one is not zero, and k/n if k are
/// equal and the others zero. Returns `None` for no values, or for one that is negative or not finite.
pub fn fairness(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !(value.is_finite() && *value >= 0.0)) {
        return None;
    }
    let largest = values.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Some(1.0);
    }
    // Divided by the largest, so that squares of huge or tiny values stay in range.
    let (sum, squares) = values
        .iter()
        .map(|value| value / largest)
        .fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    Some(sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::fairness;

    #[test]
    fn equal_shares_are_fair_and_one_that_has_all_is_not() {
        assert_eq!(fairness(&[5.0; 8]), Some(1.0));
        assert_eq!(fairness(&[7.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(fairness(&[0.0, 0.0]), Some(1.0));
    }

    #[test]
    fn an_uneven_share_by_hand() {
        // (1 + 2 + 3)^2 / (3 (1 + 4 + 9)) = 36 / 42, in any unit.
        for unit in [1.0, 1e-200, 1e200] {
            let found = fairness(&[unit, 2.0 * unit, 3.0 * unit]).unwrap();
            assert!((found - 36.0 / 42.0).abs() < 1e-12, "{found}");
        }
    }

    #[test]
    fn what_is_no_share_has_no_index() {
        for values in [&[][..], &[1.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(fairness(values), None);
        }
    }
}
