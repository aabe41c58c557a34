//! Kernels of the HPEC Challenge, with its data sets and its counts of operations.

use analysis::limits::{BoundRule, Precision};
use contract::{Buffer, Result, Work, WorkKind};
use kernels::cfar::{Cfar, OPERATIONS_PER_CELL};
use kernels::fir::{FrequencyFir, TimeFir, frequency_operations, matched_filter, time_operations};
use kernels::qr::{self, Qr};
use kernels::{Complex32, Result as KernelResult};

use super::{PROCESSOR, case, failed, report_rate, timed};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::paper;

const fn kernel(
    name: &'static str,
    summary: &'static str,
    explains: &'static str,
    cases: fn(&Scope) -> Vec<Case>,
    measure: fn(&mut Bench<'_>) -> Result<()>,
) -> Benchmark {
    let source = paper::HPEC.part("kernel benchmarks");
    let bound = BoundRule::Peak(Precision::Single);
    Benchmark { name, summary, explains, source, bound, cases, measure, ..PROCESSOR }
}

pub(in crate::programs) const TDFIR: Benchmark = kernel(
    "tdfir",
    "a bank of FIR filters in the time domain (HPEC Challenge)",
    "One rank filters as many rows of complex single-precision points as the set has filters, each with as many taps, in the \
        time domain; all points that come out are kept. The time is that of the whole bank, the rate nominal: 8 \
        operations for each row, point of input and tap. Set 1 has 64 filters of 128 taps over 4096 points, set 2 20 \
        filters of 12 taps over 1024.",
    banks,
    |bench| measure_bank(bench, Domain::Time),
);

pub(in crate::programs) const FDFIR: Benchmark = kernel(
    "fdfir",
    "a bank of FIR filters by transforms (HPEC Challenge)",
    "The same filters as tdfir by fast convolution, in pieces that overlap and stay in cache. The rate is nominal: for \
        each row two transforms of its length N, 5 N log2 N operations each, and a product of 8 N.",
    banks,
    |bench| measure_bank(bench, Domain::Frequency),
);

pub(in crate::programs) const QR: Benchmark = kernel(
    "qr",
    "QR factorisation of complex matrices (HPEC Challenge)",
    "One rank factors a complex single-precision matrix of m x n by Householder reflections, and makes the whole unitary \
        factor of m x m and the triangular one. The rate is nominal: 16 m (m n - n^2 / 2) + 16 (m n^2 / 2 - n^3 / 6) \
        operations. Adaptive weights of antennas come from such factorisations.",
    |_| {
        QR_SETS
            .map(|(rows, columns)| case([("rows", rows.into()), ("columns", columns.into())]))
            .to_vec()
    },
    measure_qr,
);

pub(in crate::programs) const CFAR: Benchmark = kernel(
    "cfar",
    "constant false-alarm rate detection over a cube of cells (HPEC Challenge)",
    "One rank holds the power of every cell of a cube, beams by Doppler bins by ranges, against the mean power of its \
        neighbours in range, some on each side beyond a guard, and counts those beyond a threshold. The time is that of the \
        cube, the rate nominal: 7 operations a cell.",
    |_| CFAR_SETS.map(|set| case([("set", set.number.into())])).to_vec(),
    measure_cfar,
);

/// Numbers of filters, points and taps.
const BANKS: [(u64, u64, u64); 2] = [(64, 4096, 128), (20, 1024, 12)];
const QR_SETS: [(u64, u64); 3] = [(500, 100), (180, 60), (150, 150)];

struct CfarSet {
    number: u64,
    rows: usize,
    ranges: usize,
    cells: usize,
    guard: usize,
}

/// Beams times Doppler bins are rows of ranges.
const CFAR_SETS: [CfarSet; 4] = [
    CfarSet { number: 0, rows: 16 * 24, ranges: 64, cells: 5, guard: 4 },
    CfarSet { number: 1, rows: 48 * 128, ranges: 3500, cells: 10, guard: 8 },
    CfarSet { number: 2, rows: 48 * 64, ranges: 1909, cells: 10, guard: 8 },
    CfarSet { number: 3, rows: 16 * 16, ranges: 9900, cells: 20, guard: 16 },
];

/// Ratio above which a cell counts as a target. With noise alone, whose mean is over at least 10 cells, some in 10^7
/// exceed it.
const THRESHOLD: f32 = 100.0;

fn banks(_: &Scope) -> Vec<Case> {
    let case = |(filters, points, taps): (u64, u64, u64)| {
        case([("filters", filters.into()), ("points", points.into()), ("taps", taps.into())])
    };
    BANKS.map(case).to_vec()
}

#[derive(Clone, Copy)]
enum Domain {
    Time,
    Frequency,
}

type Filter = Box<dyn FnMut(&[Complex32], &mut [Complex32]) -> KernelResult<()>>;

fn measure_bank(bench: &mut Bench<'_>, domain: Domain) -> Result<()> {
    let (filters, points) = (bench.number("filters")?, bench.number("points")?);
    let taps = bench.number("taps")?;
    let results = points + taps - 1;
    let filter = |domain| -> Result<Filter> {
        let matched = matched_filter(taps);
        Ok(match domain {
            Domain::Time => {
                let mut filter = TimeFir::new(&matched).map_err(failed)?;
                Box::new(move |input, output| filter.filter(input, output))
            }
            Domain::Frequency => {
                let mut filter = FrequencyFir::new(&matched, points).map_err(failed)?;
                Box::new(move |input, output| filter.filter(input, output))
            }
        })
    };
    let input: Vec<Complex32> = (0..filters * points).map(sample).collect();
    let [mut output, mut other] = [0, 1].map(|_| vec![Complex32::default(); filters * results]);
    // Each filter has its own tables, because a bank's filters differ.
    let mut bank = (0..filters).map(|_| filter(domain)).collect::<Result<Vec<_>>>()?;
    let apply = |output: &mut [Complex32], bank: &mut [Filter]| {
        let rows = input.chunks_exact(points).zip(output.chunks_exact_mut(results));
        rows.zip(bank).try_for_each(|((input, output), filter)| filter(input, output))
    };
    let opposite = match domain {
        Domain::Time => Domain::Frequency,
        Domain::Frequency => Domain::Time,
    };
    let mut other_bank = (0..filters).map(|_| filter(opposite)).collect::<Result<Vec<_>>>()?;
    apply(&mut output, &mut bank)
        .and_then(|()| apply(&mut other, &mut other_bank))
        .map_err(failed)?;
    check("filters", &output, &other)?;

    let (operations, kind) = match domain {
        Domain::Time => (time_operations(filters, points, taps), WorkKind::FloatingPoint),
        Domain::Frequency => (frequency_operations(filters, points), WorkKind::Fft),
    };
    let work = Work::new(kind, operations as u64);
    let time = timed(bench, work, 1, || apply(&mut output, &mut bank))?;
    time.map_or(Ok(()), |time| report_rate(bench, time, "MFLOP/s", operations))
}

fn measure_qr(bench: &mut Bench<'_>) -> Result<()> {
    let (rows, columns) = (bench.number("rows")?, bench.number("columns")?);
    let matrix: Vec<Complex32> = (0..rows * columns).map(sample).collect();
    let mut unitary = vec![Complex32::default(); rows * rows];
    let mut factorisation = Qr::new(rows, columns).map_err(failed)?;
    let mut factor = || {
        factorisation.factor(&matrix)?;
        factorisation.unitary(&mut unitary)
    };
    factor().map_err(failed)?;
    let operations = qr::operations(rows, columns);
    let work = Work::new(WorkKind::FloatingPoint, operations as u64);
    let time = timed(bench, work, 1, &mut factor)?;
    let product = |at: usize| -> Complex32 {
        let (row, column) = (at / columns, at % columns);
        let terms = 0..=column;
        terms.map(|k| unitary[k * rows + row] * factorisation.triangle(k, column)).sum()
    };
    let made: Vec<Complex32> = (0..rows * columns).map(product).collect();
    check("qr", &made, &matrix)?;
    time.map_or(Ok(()), |time| report_rate(bench, time, "MFLOP/s", operations))
}

fn measure_cfar(bench: &mut Bench<'_>) -> Result<()> {
    let number = bench.number("set")? as u64;
    let set = CFAR_SETS.iter().find(|set| set.number == number);
    let set = set.ok_or_else(|| bench.unknown("set"))?;
    let mut cube = Buffer::try_zeroed(set.rows * set.ranges * size_of::<Complex32>())?;
    let cells = cube.elements_mut::<Complex32>();
    cells.iter_mut().enumerate().for_each(|(at, cell)| *cell = sample(at));
    // A target in the middle of every 100th row.
    let targets: Vec<usize> =
        (0..set.rows).step_by(100).map(|row| row * set.ranges + set.ranges / 2).collect();
    targets.iter().for_each(|&at| cells[at] = Complex32::new(100.0, 0.0));
    let mut detector = Cfar::new(set.guard, set.cells);
    let mut ratios = vec![0.0; set.ranges];
    let mut found = 0;
    let mut detect = || {
        found = 0;
        for row in cells.chunks_exact(set.ranges) {
            detector.ratios(row, &mut ratios)?;
            found += ratios.iter().filter(|&&ratio| ratio > THRESHOLD).count();
        }
        Ok(())
    };
    let operations = OPERATIONS_PER_CELL * (set.rows * set.ranges) as f64;
    detect().map_err(failed)?;
    let time = timed(bench, Work::new(WorkKind::FloatingPoint, operations as u64), 1, &mut detect)?;
    if found != 0 && found != targets.len() {
        let explanation = format!("it found {found} targets of {}", targets.len());
        return Err(failed(kernels::Error::WrongResult { benchmark: "cfar", explanation }));
    }
    time.map_or(Ok(()), |time| report_rate(bench, time, "MFLOP/s", operations))
}

/// Returns a point of a wave that repeats in no power of two.
fn sample(at: usize) -> Complex32 {
    Complex32::new((at as f32 * 0.7).sin(), (at as f32 * 1.3).cos())
}

/// Largest root-mean-square difference between two variants of a computation in single precision.
const DIFFERENCE_MAX: f32 = 1e-5;

fn check(benchmark: &'static str, found: &[Complex32], expected: &[Complex32]) -> Result<()> {
    let size: f32 = expected.iter().map(|x| x.norm_sqr()).sum();
    let difference: f32 = found.iter().zip(expected).map(|(a, b)| (a - b).norm_sqr()).sum();
    let share = (difference / size).sqrt();
    if share <= DIFFERENCE_MAX {
        return Ok(());
    }
    let explanation = format!("it is off by {share} of what it must be");
    Err(failed(kernels::Error::WrongResult { benchmark, explanation }))
}
