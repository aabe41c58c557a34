//! The hydrophones, and the grid of places that are looked at.

use super::waveguide::Waveguide;
use kernels::Complex64;

/// The depth of the water.
const WATER_M: f64 = 100.0;
/// The frequencies that are listened to.
pub(super) const FREQUENCIES_HZ: [f64; 4] = [140.0, 170.0, 210.0, 250.0];
/// The positions of three strings of hydrophones, east and north of the middle: a triangle distinguishes bearings.
const STRINGS_M: [(f64, f64); 3] = [(0.0, 28.0), (24.0, -14.0), (-24.0, -14.0)];
/// The depths of the hydrophones of a string.
const DEPTHS_M: [f64; 4] = [15.0, 35.0, 55.0, 75.0];
/// The number of hydrophones.
pub(super) const HYDROPHONES: usize = STRINGS_M.len() * DEPTHS_M.len();
/// The numbers of a frame: one for each frequency and hydrophone.
pub(super) const SPECTRUM: usize = FREQUENCIES_HZ.len() * HYDROPHONES;
/// The bytes of a frame.
pub const BYTES_A_FRAME: u64 = (SPECTRUM * size_of::<kernels::Complex32>()) as u64;

/// The numbers of ranges, depths and bearings that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// From 1 km to 6 km.
    pub ranges: usize,
    /// From 10 m to 90 m.
    pub depths: usize,
    /// All around.
    pub bearings: usize,
}

impl Grid {
    /// About as many places as the published program takes time for on its processors.
    pub const PUBLISHED: Grid = Grid { ranges: 10, depths: 10, bearings: 10 };

    /// The number of places.
    pub fn places(self) -> usize {
        self.ranges * self.depths * self.bearings
    }

    /// Steps in range, depth and bearing of a place.
    pub(super) fn steps(self, place: usize) -> [usize; 3] {
        let (bearing, rest) = (place % self.bearings, place / self.bearings);
        [rest / self.depths, rest % self.depths, bearing]
    }

    /// The place with these steps.
    pub(super) fn place(self, [range, depth, bearing]: [usize; 3]) -> usize {
        (range * self.depths + depth) * self.bearings + bearing
    }
}

/// The water at all frequencies, with the hydrophones.
pub(super) struct Listener {
    grid: Grid,
    water: [Waveguide<{ DEPTHS_M.len() }>; FREQUENCIES_HZ.len()],
}

impl Listener {
    pub(super) fn new(grid: Grid) -> Self {
        Listener { grid, water: FREQUENCIES_HZ.map(|hz| Waveguide::new(WATER_M, hz, DEPTHS_M)) }
    }

    /// The spectra of a source at a place of the grid, each frequency of size 1.
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
