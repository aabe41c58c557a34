//! Sound in shallow water: a layer between a surface that gives way and a bottom that does not.
//!
//! Its normal modes are sin(k_z z) with k_z = (m - 1/2) pi / D for a depth D (Jensen and others, *Computational ocean acoustics*,
//! chapter 2). A mode travels with k_r = sqrt(k^2 - k_z^2); those with a larger k_z than k do not travel.

use kernels::Complex64;

/// The speed of sound in water.
const SPEED_M_PER_S: f64 = 1500.0;

/// The water at one frequency.
pub(super) struct Waveguide {
    depth_m: f64,
    /// Vertical and horizontal wave numbers of the modes that travel.
    modes: Vec<(f64, f64)>,
}

impl Waveguide {
    /// Water of a depth, at a frequency.
    pub(super) fn new(depth_m: f64, frequency_hz: f64) -> Self {
        let k = std::f64::consts::TAU * frequency_hz / SPEED_M_PER_S;
        let vertical = |mode: usize| (mode as f64 + 0.5) * std::f64::consts::PI / depth_m;
        let modes = (0..).map(vertical).take_while(|vertical| *vertical < k);
        let modes =
            modes.map(|vertical| (vertical, (k * k - vertical * vertical).sqrt())).collect();
        Waveguide { depth_m, modes }
    }

    /// The pressure at a receiver, `range_m` from a source, but for a factor that all receivers share.
    pub(super) fn pressure(&self, source_m: f64, receiver_m: f64, range_m: f64) -> Complex64 {
        let mode = |&(vertical, horizontal): &(f64, f64)| {
            let shape =
                (vertical * source_m).sin() * (vertical * receiver_m).sin() * 2.0 / self.depth_m;
            Complex64::from_polar(shape / (horizontal * range_m).sqrt(), horizontal * range_m)
        };
        self.modes.iter().map(mode).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_none_at_the_surface_flat_at_the_bottom_and_the_same_both_ways() {
        let water = Waveguide::new(100.0, 200.0);
        // k = 0.8378, pi / D = 0.0314: modes up to (m - 1/2) < 26.67.
        assert_eq!(water.modes.len(), 27);
        let loudest = water.pressure(30.0, 60.0, 2000.0).norm();
        assert!(water.pressure(30.0, 0.0, 2000.0).norm() < 1e-12 * loudest);
        let rise = water.pressure(30.0, 100.0, 2000.0) - water.pressure(30.0, 99.999, 2000.0);
        assert!(rise.norm() < 1e-4 * loudest, "{rise}");
        let back = water.pressure(60.0, 30.0, 2000.0) - water.pressure(30.0, 60.0, 2000.0);
        assert!(back.norm() < 1e-12 * loudest);
    }

    /// Far from the source a mode alone falls by the root of the range.
    #[test]
    fn one_mode_spreads_as_a_cylinder() {
        let water = Waveguide::new(10.0, 60.0);
        assert_eq!(water.modes.len(), 1);
        let ratio =
            water.pressure(5.0, 5.0, 1000.0).norm() / water.pressure(5.0, 5.0, 4000.0).norm();
        assert!((ratio - 2.0).abs() < 1e-12, "{ratio}");
    }
}
