//! The program: for each frame the correlations of all places of the grid, and the best place of all ranks.

use bytemuck::{Pod, Zeroable};
use contract::{Error, Rank, Result, Work, WorkKind};
use kernels::Complex32;
use random::mix;

use super::array::{Grid, HydrophoneArray, SPECTRUM};
use super::replicas::{OPERATIONS_PER_PLACE, Replicas, power};
use crate::application::{Application, Quantity, Timed};
use crate::split::part;

/// Number of frames after which the source moves by a step.
const FRAMES_A_STEP: usize = 8;
/// Number of frames that are checked against the direct powers of all places. The track is checked in all frames.
const CHECKED_DIRECTLY: usize = 3;
/// The amplitude of the noise in each element, for a source of size 1 in as many elements as there are hydrophones.
const NOISE: f64 = 0.15;

/// The data of a frame that each rank sends to the others: 40 bytes, as in the published program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Candidate {
    power: f64,
    frame: u64,
    range: f64,
    depth: f64,
    bearing: f64,
}

/// A tracker of one source that moves through the grid.
pub struct Tracker {
    grid: Grid,
    hydrophones: HydrophoneArray,
    /// The measured spectra, frame by frame.
    frames: Vec<Complex32>,
    /// The places of the source, with which the track must agree.
    truth: Vec<usize>,
    mine: Replicas,
    my_places: usize,
    /// All replicas, for the serial program.
    serial: Option<Replicas>,
    all: Vec<Candidate>,
    track: Vec<usize>,
}

impl Tracker {
    /// Prepares the tracking of a source over `frames` frames. All ranks must call it.
    ///
    /// # Errors
    /// [`Error::Program`] for an empty grid or track, and for more ranks than places.
    pub fn new(rank: &mut dyn Rank, grid: Grid, frames: usize, seed: u64) -> Result<Self> {
        let (me, ranks, places) = (rank.rank(), rank.size(), grid.places());
        if places == 0 || frames == 0 {
            return Err(Error::Program(format!(
                "there is nothing to track in {frames} frames over {places} places"
            )));
        }
        if ranks > places {
            return Err(Error::Program(format!(
                "a grid of {places} places cannot be divided among {ranks} ranks"
            )));
        }
        let hydrophones = HydrophoneArray::new(grid);
        let mine = part(places, ranks, me);
        let truth: Vec<usize> = (0..frames).map(|frame| moving(grid, seed, frame)).collect();
        let frames = measured(&hydrophones, &truth, seed);
        Ok(Tracker {
            my_places: mine.len(),
            mine: Replicas::new(&hydrophones, mine),
            serial: (me == 0).then(|| Replicas::new(&hydrophones, 0..places)),
            all: vec![Candidate::default(); ranks],
            track: Vec::with_capacity(truth.len()),
            grid,
            hydrophones,
            frames,
            truth,
        })
    }

    fn work(places: usize) -> Work {
        Work::new(WorkKind::FloatingPoint, OPERATIONS_PER_PLACE * places as u64)
    }

    fn candidate(&self, frame: usize, found: Option<(usize, f32)>) -> Candidate {
        let Some((place, power)) = found else { return Candidate::default() };
        let [range, depth, bearing] = self.grid.steps(place).map(|step| step as f64);
        Candidate { power: power.into(), frame: frame as u64, range, depth, bearing }
    }
}

/// Returns the position of the source. Every [`FRAMES_A_STEP`] frames it moves by one step in range and three in
/// bearing, and every second time by one in depth. It comes back at the other side of the grid.
fn moving(grid: Grid, seed: u64, frame: usize) -> usize {
    let step = frame / FRAMES_A_STEP + (mix(seed) % 1000) as usize;
    grid.place([step % grid.ranges, step / 2 % grid.depths, step * 3 % grid.bearings])
}

/// Returns the spectra of a source at these places, with noise.
fn measured(hydrophones: &HydrophoneArray, truth: &[usize], seed: u64) -> Vec<Complex32> {
    let uniform = |at: u64| (mix(seed ^ mix(at)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let mut frames = Vec::with_capacity(truth.len() * SPECTRUM);
    let mut latest = (usize::MAX, Vec::new());
    for &place in truth {
        if latest.0 != place {
            latest = (place, hydrophones.spectrum(place));
        }
        for x in &latest.1 {
            let at = 2 * frames.len() as u64;
            let (re, im) = (x.re + NOISE * uniform(at), x.im + NOISE * uniform(at + 1));
            frames.push(Complex32::new(re as f32, im as f32));
        }
    }
    frames
}

impl Application for Tracker {
    fn kinds(&self) -> &[WorkKind] {
        &[WorkKind::FloatingPoint]
    }

    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.track.clear();
        for frame in 0..self.truth.len() {
            let mut found = None;
            let spectra = &self.frames[frame * SPECTRUM..][..SPECTRUM];
            rank.compute(Self::work(self.my_places), |_| found = self.mine.best(spectra));
            let own = self.candidate(frame, found);
            rank.rank
                .allgather(bytemuck::bytes_of(&own), bytemuck::cast_slice_mut(&mut self.all))?;
            let best = self.all.iter().max_by(|a, b| a.power.total_cmp(&b.power));
            let best = best.copied().unwrap_or_default();
            self.track.push(
                self.grid.place([best.range, best.depth, best.bearing].map(|step| step as usize)),
            );
        }
        Ok(())
    }

    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        let Some(replicas) = &self.serial else { return Ok(()) };
        for spectra in self.frames.chunks_exact(SPECTRUM) {
            rank.compute(Self::work(self.grid.places()), |_| {
                std::hint::black_box(replicas.best(spectra));
            });
        }
        Ok(())
    }

    fn check(&mut self, _: &mut dyn Rank) -> Result<()> {
        let wrong = |(frame, (found, place)): (usize, (&usize, &usize))| {
            (found != place).then(|| {
                Error::Program(format!(
                    "the target of frame {frame} is at {:?} (steps in range, depth and bearing) and was found at {:?}",
                    self.grid.steps(*place),
                    self.grid.steps(*found)
                ))
            })
        };
        if let Some(error) = self.track.iter().zip(&self.truth).enumerate().find_map(wrong) {
            return Err(error);
        }
        let step = self.truth.len().div_ceil(CHECKED_DIRECTLY);
        for frame in (0..self.truth.len()).step_by(step) {
            let spectra = &self.frames[frame * SPECTRUM..][..SPECTRUM];
            let direct = |place: usize| power(&self.hydrophones, place, spectra);
            let best = (0..self.grid.places()).max_by(|&a, &b| direct(a).total_cmp(&direct(b)));
            if best != Some(self.track[frame]) {
                return Err(Error::Program(format!(
                    "frame {frame} fits place {best:?} best, and {} was found",
                    self.track[frame]
                )));
            }
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<Quantity> {
        vec![Quantity { name: "frames", unit: "", value: self.truth.len() as f64 }]
    }
}
