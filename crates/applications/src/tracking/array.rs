//! The hydrophones, and the grid of searched places.

use super::waveguide::Waveguide;
use kernels::Complex64;

/// Depth of the water in metres.
const WATER_M: f64 = 100.0;
/// The frequencies of the spectra in Hz.
pub(super) const FREQUENCIES_HZ: [f64; 4] = [140.0, 170.0, 210.0, 250.0];
/// The positions of three strings of hydrophones in metres, east and north of the middle. A triangle distinguishes
/// bearings.
const STRINGS_M: [(f64, f64); 3] = [(0.0, 28.0), (24.0, -14.0), (-24.0, -14.0)];
/// The depths of the hydrophones of a string in metres.
const DEPTHS_M: [f64; 4] = [15.0, 35.0, 55.0, 75.0];
/// Number of hydrophones.
pub(super) const HYDROPHONES: usize = STRINGS_M.len() * DEPTHS_M.len();
/// Number of elements of a frame: one for each frequency and hydrophone.
pub(super) const SPECTRUM: usize = FREQUENCIES_HZ.len() * HYDROPHONES;
/// Length of a frame in bytes.
pub const BYTES_A_FRAME: u64 = (SPECTRUM * size_of::<kernels::Complex32>()) as u64;

/// The numbers of ranges, depths and bearings that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Number of ranges from 1 km to 6 km.
    pub ranges: usize,
    /// Number of depths from 10 m to 90 m.
    pub depths: usize,
    /// Number of bearings, all around.
    pub bearings: usize,
}

impl Grid {
    /// A grid with about the number of places of the published program, according to its times.
    pub const PUBLISHED: Grid = Grid { ranges: 10, depths: 10, bearings: 10 };

    /// Returns the number of places.
    pub fn places(self) -> usize {
        self.ranges * self.depths * self.bearings
    }

    /// Returns the steps in range, depth and bearing of a place.
    pub(super) fn steps(self, place: usize) -> [usize; 3] {
        let (bearing, rest) = (place % self.bearings, place / self.bearings);
        [rest / self.depths, rest % self.depths, bearing]
    }

    /// Returns the place with these steps.
    pub(super) fn place(self, [range, depth, bearing]: [usize; 3]) -> usize {
        (range * self.depths + depth) * self.bearings + bearing
    }
}

/// The water at all frequencies, with the hydrophones.
pub(super) struct HydrophoneArray {
    grid: Grid,
    water: [Waveguide<{ DEPTHS_M.len() }>; FREQUENCIES_HZ.len()],
}

impl HydrophoneArray {
    pub(super) fn new(grid: Grid) -> Self {
        HydrophoneArray {
            grid,
            water: FREQUENCIES_HZ.map(|hz| Waveguide::new(WATER_M, hz, DEPTHS_M)),
        }
    }

    /// Returns the spectra of a source at a place of the grid, each frequency of size 1.
    pub(super) fn spectrum(&self, place: usize) -> Vec<Complex64> {
        let [range, depth, bearing] = self.grid.steps(place);
        let range_m = 1000.0 + 5000.0 * range as f64 / self.grid.ranges as f64;
        let source_m = 10.0 + 80.0 * depth as f64 / self.grid.depths as f64;
        let angle = std::f64::consts::TAU * bearing as f64 / self.grid.bearings as f64;
        let (east, north) = (range_m * angle.sin(), range_m * angle.cos());
        let mut spectrum = Vec::with_capacity(SPECTRUM);
        for water in &self.water {
            let from = spectrum.len();
            for (x, y) in STRINGS_M {
                let string_m = (east - x).hypot(north - y);
                spectrum.extend(water.pressures(source_m, string_m));
            }
            let size =
                spectrum[from..].iter().map(|x: &Complex64| x.norm_sqr()).sum::<f64>().sqrt();
            spectrum[from..].iter_mut().for_each(|x| *x /= size);
        }
        spectrum
    }
}
