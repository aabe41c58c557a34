//! Matched-field tracking of a source in shallow water.

use applications::tracking::{BYTES_A_FRAME, Grid, Tracker};
use contract::Result;
use record::Parameters;

use super::{APPLICATION, boxed, cases, measure};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::paper;

pub(in crate::programs) const TRACKING: Benchmark = Benchmark {
    name: "tracking",
    summary: "matched-field tracking of a source in shallow water (MPI-SHARC 4.5)",
    explains: "Twelve hydrophones receive a source that moves through shallow water, at four frequencies and \
        in noise; the size is that of the measured spectra, 384 bytes per frame. For each place of a grid over \
        range, depth and bearing, the field of a source at this place is computed in advance, by the normal modes \
        of the water. Each frame is correlated with all these fields; every rank has a part of the grid, and after \
        each frame all ranks exchange their best place in an allgather of 40 bytes. The published program makes \
        20,000 of them. The grid of 1000 places takes as much work on a SHARC as that program. The best serial \
        program searches the whole grid. The track found must be the true one in every frame, and some frames are \
        compared with the direct powers of all places.",
    source: paper::MPI_SHARC.part("section 4.5"),
    cases: tracks,
    measure: run,
    ..APPLICATION
};

/// Size of 1000 frames in bytes.
const SIZES: [u64; 1] = [1000 * BYTES_A_FRAME];

fn tracks(scope: &Scope) -> Vec<Case> {
    let frames = |size: u64| size.max(BYTES_A_FRAME) / BYTES_A_FRAME * BYTES_A_FRAME;
    cases(scope, &SIZES, frames, &[Parameters::new()])
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let frames = (bench.step.size_bytes / BYTES_A_FRAME) as usize;
    let made = Tracker::new(bench.rank, Grid::PUBLISHED, frames, bench.settings.seed).map(boxed);
    measure(bench, made)
}
