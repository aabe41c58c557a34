//! One long Fourier transform, in stages through a master and by turning the matrix.

use applications::Library;
use applications::transform::{StagedTransform, TransposeTransform};
use contract::Result;

use super::{APPLICATION, boxed, cases, form, form_of, measure};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::paper;
use crate::presentation::Headline;

pub(in crate::programs) const PARALLEL_FFT: Benchmark = Benchmark {
    name: "parallel-fft",
    summary: "one long Fourier transform: stages through a master, and corner turns",
    explains: "One transform of double-precision complex points, in natural order before and after; the size \
        is that of the points: 64 MiB are 4 Mi points, and others are rounded down to a power of two. The form \
        `stages` is that of the paper, with radix 2 and decimation in time: every rank transforms two blocks and \
        combines them, then half of the ranks combine the results of two ranks each, until rank 0 combines the \
        last two; after each stage all points pass through rank 0. `stages-hcs` does the same over HCS_LIB; both \
        need a power of two of ranks. The form `transpose` is a current one: the points are distributed over the \
        ranks as rows of a matrix, whose columns and rows are transformed alternately with corner turns between \
        them. The best serial program is the same on one rank. Points are checked against the definition, and the \
        sum of all squares by Parseval's theorem.",
    source: paper::SCALE.part("section 5"),
    headlines: &[Headline {
        words: "long transform, best efficiency",
        metric: "efficiency",
        size_bytes: Some(SIZES[2]),
    }],
    cases: transforms,
    measure: run,
    ..APPLICATION
};

const SIZES: [u64; 3] = [1 << 20, 16 << 20, 64 << 20];
const POINT: u64 = 16;
const POINTS_MIN: u64 = 4;
const TRANSPOSE: &str = "transpose";
const STAGES: &str = "stages";
const STAGES_HCS: &str = "stages-hcs";

fn transforms(scope: &Scope) -> Vec<Case> {
    let forms = [TRANSPOSE, STAGES, STAGES_HCS].map(|name| form(name, []));
    cases(scope, &SIZES, |size| POINTS_MIN.max(1 << (size / POINT).max(1).ilog2()) * POINT, &forms)
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let (count, seed) = ((bench.step.size_bytes / POINT) as usize, bench.settings.seed);
    let staged = |bench: &mut Bench<'_>, library| {
        StagedTransform::new(bench.rank, count, library, seed).map(boxed)
    };
    let made = match &form_of(bench)[..] {
        TRANSPOSE => TransposeTransform::new(bench.rank, count, seed).map(boxed),
        STAGES => staged(bench, Library::Messages),
        STAGES_HCS => staged(bench, Library::Hcs),
        _ => return Err(bench.unknown(super::FORM)),
    };
    measure(bench, made)
}
