//! Sound in shallow water: a layer between a soft surface and a rigid bottom.
//!
//! Its normal modes are sin(k_z z) with k_z = (m - 1/2) pi / D for a depth D (Jensen and others, *Computational ocean
//! acoustics*, chapter 2). A mode travels with k_r = sqrt(k^2 - k_z^2). Modes with a larger k_z than k do not travel.

use kernels::Complex64;

/// Speed of sound in water in m/s.
const SPEED_M_PER_S: f64 = 1500.0;

/// The water at one frequency, with `N` receivers at different depths.
pub(super) struct Waveguide<const N: usize> {
    depth_m: f64,
    modes: Vec<Mode<N>>,
}

/// A mode that travels.
struct Mode<const N: usize> {
    vertical: f64,
    horizontal: f64,
    /// Its shape at each receiver, which is the same for all sources.
    at_receivers: [f64; N],
}

impl<const N: usize> Waveguide<N> {
    /// Creates water of a depth, at a frequency, with receivers at these depths.
    pub(super) fn new(depth_m: f64, frequency_hz: f64, receivers_m: [f64; N]) -> Self {
        let k = std::f64::consts::TAU * frequency_hz / SPEED_M_PER_S;
        let vertical = |mode: usize| (mode as f64 + 0.5) * std::f64::consts::PI / depth_m;
        let modes = (0..).map(vertical).take_while(|vertical| *vertical < k);
        let mode = |vertical: f64| Mode {
            vertical,
            horizontal: (k * k - vertical * vertical).sqrt(),
            at_receivers: receivers_m.map(|receiver_m| (vertical * receiver_m).sin()),
        };
        Waveguide { depth_m, modes: modes.map(mode).collect() }
    }

    /// Returns the pressures at the receivers, which are `range_m` from a source, up to a common factor.
    pub(super) fn pressures(&self, source_m: f64, range_m: f64) -> [Complex64; N] {
        let mut pressures = [Complex64::ZERO; N];
        for mode in &self.modes {
            let at_source = (mode.vertical * source_m).sin();
            let phase = mode.horizontal * range_m;
            let (wave, spread) = (Complex64::cis(phase), phase.sqrt());
            for (pressure, at_receiver) in pressures.iter_mut().zip(mode.at_receivers) {
                *pressure += wave * (at_source * at_receiver * 2.0 / self.depth_m / spread);
            }
        }
        pressures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_none_at_the_surface_flat_at_the_bottom_and_the_same_both_ways() {
        let water = |receiver_m: f64| Waveguide::new(100.0, 200.0, [receiver_m]);
        let pressure =
            |source_m: f64, receiver_m: f64| water(receiver_m).pressures(source_m, 2000.0)[0];
        // With k = 0.8378 and pi / D = 0.0314 there are modes up to (m - 1/2) < 26.67.
        assert_eq!(water(60.0).modes.len(), 27);
        let loudest = pressure(30.0, 60.0).norm();
        assert!(pressure(30.0, 0.0).norm() < 1e-12 * loudest);
        let rise = pressure(30.0, 100.0) - pressure(30.0, 99.999);
        assert!(rise.norm() < 1e-4 * loudest, "{rise}");
        let back = pressure(60.0, 30.0) - pressure(30.0, 60.0);
        assert!(back.norm() < 1e-12 * loudest);
    }

    /// Far from the source a single mode decreases with the root of the range.
    #[test]
    fn one_mode_spreads_as_a_cylinder() {
        let water = Waveguide::new(10.0, 60.0, [5.0]);
        assert_eq!(water.modes.len(), 1);
        let norm = |range_m: f64| water.pressures(5.0, range_m)[0].norm();
        let ratio = norm(1000.0) / norm(4000.0);
        assert!((ratio - 2.0).abs() < 1e-12, "{ratio}");
    }
}
