//! The kernel of a synthetic-aperture-radar chain, in three variants.

use analysis::limits::{BoundRule, Precision};
use contract::{Result, Work, WorkKind};
use kernels::Complex32;
use kernels::foldfft::{FoldFft, TYPICAL_SIZES, Variant, foldfft_operations};

use super::{PROCESSOR, case, choice, failed, report_rate, timed};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::paper;
use crate::presentation::View;

pub(in crate::programs) const FOLDFFT: Benchmark = Benchmark {
    name: "foldfft",
    summary: "weight, fold, transform, weight: plain, with a library, blocked (MITRE 3.3)",
    explains: "One rank weights n complex points, folds them to f, transforms the f and weights them again, \
        for a block of instances in cache; the time is that of one instance, the rate is nominal: 2n + 2(n - f) + \
        5 f log2 f + 6 f operations. The methods are plain loops and a textbook FFT, the same loops around a \
        library's FFT, and every step over a block of instances. Their results are compared before. The paper has \
        6.8 MFLOP/s for the plain and 47.3 for the blocked (64, 8) on a Paragon's processor.",
    source: paper::MITRE_METHODOLOGY.part("table 3.1"),
    bound: BoundRule::Peak(Precision::Single),
    view: View::Ways,
    cases,
    measure,
    ..PROCESSOR
};

/// Number of points of input that stay in the first-level cache.
const BLOCK: usize = 4096;

fn cases(_: &Scope) -> Vec<Case> {
    let mut cases = Vec::new();
    for variant in Variant::ALL {
        cases.extend(TYPICAL_SIZES.map(|(points, fold)| {
            let (points, fold) = (points as u64, fold as u64);
            case([("way", variant.name().into()), ("points", points.into()), ("fold", fold.into())])
        }));
    }
    cases
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let (points, fold) = (bench.number("points")?, bench.number("fold")?);
    let variant = choice(bench, "way", &Variant::ALL, Variant::name)?;
    let instances = (BLOCK / points).max(1);
    let input: Vec<Complex32> = (0..instances * points).map(sample).collect();
    let mut output = vec![Complex32::default(); instances * fold];
    let mut plan = planned(points, fold, variant)?;
    check(&input, points, fold, &mut plan)?;

    let operations = foldfft_operations(points, fold);
    let work = Work::new(WorkKind::Fft, (operations * instances as f64) as u64);
    let time = timed(bench, work, instances as u64, || plan.compute(&input, &mut output))?;
    match time {
        Some(time) => report_rate(bench, time, "MFLOP/s", operations),
        None => Ok(()),
    }
}

/// Returns a point of a wave that repeats in no power of two.
fn sample(at: usize) -> Complex32 {
    Complex32::new((at as f32 * 0.7).sin(), (at as f32 * 1.3).cos())
}

fn planned(points: usize, fold: usize, variant: Variant) -> Result<FoldFft> {
    let window = (0..points).map(|at| sample(at).re).collect();
    FoldFft::new(window, (0..fold).map(sample).collect(), variant).map_err(failed)
}

/// Largest difference between two variants of a computation in single precision, as a share of the largest value.
const DIFFERENCE_MAX: f32 = 1e-5;

fn check(input: &[Complex32], points: usize, fold: usize, plan: &mut FoldFft) -> Result<()> {
    let mut results = [(); 2].map(|()| vec![Complex32::default(); input.len() / points * fold]);
    let [found, expected] = &mut results;
    plan.compute(input, found).map_err(failed)?;
    planned(points, fold, Variant::Plain)?.compute(input, expected).map_err(failed)?;
    let largest = expected.iter().map(|c| c.norm()).fold(0.0, f32::max);
    let difference = found.iter().zip(&*expected).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
    if difference <= DIFFERENCE_MAX * largest {
        return Ok(());
    }
    Err(failed(kernels::Error::WrongResult {
        benchmark: "foldfft",
        explanation: format!("it differs by {difference} of {largest} from the plain way"),
    }))
}
