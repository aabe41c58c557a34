//! The corner turn in memory, alone and with the transforms before it.

use analysis::limits::{BoundRule, Precision};
use contract::{Buffer, Error, Result, Work, WorkKind};
use kernels::fft::{BlockFft, nominal_operations};
use kernels::{Complex32, corner_turn, corner_turn_in_place};
use record::{ParameterValue, Parameters};

use super::{PROCESSOR, case, choice, failed, report_rate, timed};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::presentation::Headline;

pub(in crate::programs) const CORNER_TURN_MEMORY: Benchmark = Benchmark {
    name: "corner-turn-memory",
    summary: "rate of a matrix transpose in memory, in place and out of place",
    explains: "One rank transposes a square matrix of complex single-precision numbers, out of place or in \
        place; the rate is the bytes of the matrix divided by the time, so it can be compared with `copy`, which \
        moves the same bytes. Each element of the result is checked before. The limit of a corner turn is a copy.",
    bound: BoundRule::Copy { bytes: matrix_bytes, counted: 1 },
    headlines: &[Headline {
        words: "fastest corner turn in memory",
        metric: "rate",
        size_bytes: None,
    }],
    cases: |_| {
        let sides = |order: &'static str| {
            SIDES.map(|side| case([("way", order.into()), ("side", side.into())]))
        };
        PLACES.into_iter().flat_map(sides).collect()
    },
    measure: turn,
    ..PROCESSOR
};

pub(in crate::programs) const FFT_CORNER_TURN: Benchmark = Benchmark {
    name: "fft-corner-turn",
    summary: "FFTs of all rows of a 512 x 512 matrix and its corner turn, fused and separate",
    explains: "One rank transforms every row of a 512 x 512 matrix of complex single-precision numbers and \
        transposes it: separately, with two passes over the matrix, or fused, a tile of rows at a time. The rate \
        is nominal: 512 times 5 N log2 N operations; the corner turn counts as none. The results of both are \
        compared before.",
    bound: BoundRule::Peak(Precision::Single),
    cases: fft_cases,
    measure: fft_and_turn,
    ..PROCESSOR
};

/// Returns the number of bytes of the matrix, which is also that of a copy of it.
fn matrix_bytes(parameters: &Parameters) -> Option<u64> {
    let Some(ParameterValue::Number(side)) = parameters.get("side") else { return None };
    side.checked_mul(*side)?.checked_mul(size_of::<Complex32>() as u64)
}

const PLACES: [&str; 2] = ["out-of-place", "in-place"];
const SIDES: [u64; 4] = [128, 512, 1000, 4096];

fn turn(bench: &mut Bench<'_>) -> Result<()> {
    let side = bench.number("side")?;
    let in_place = choice(bench, "way", &PLACES, |name| name)? == PLACES[1];
    let bytes = side * side * size_of::<u64>();
    let (mut input, mut output) = (Buffer::try_zeroed(bytes)?, Buffer::try_zeroed(bytes)?);
    input.elements_mut::<u64>().iter_mut().zip(0..).for_each(|(element, at)| *element = at);
    let turn = |input: &mut [u64], output: &mut [u64]| {
        if in_place {
            corner_turn_in_place(input, side)
        } else {
            corner_turn(input, side, side, output)
        }
    };
    turn(input.elements_mut(), output.elements_mut()).map_err(failed)?;
    check_turned(if in_place { &input } else { &output }, side)?;

    let work = Work::new(WorkKind::CornerTurnBytes, bytes as u64);
    let time = timed(bench, work, 1, || turn(input.elements_mut(), output.elements_mut()))?;
    match time {
        Some(time) => report_rate(bench, time, "MB/s", bytes as f64),
        None => Ok(()),
    }
}

fn check_turned(turned: &Buffer, side: usize) -> Result<()> {
    let right = |at: usize| (at % side * side + at / side) as u64;
    let mut elements = turned.elements::<u64>().iter().enumerate();
    match elements.find(|&(at, &element)| element != right(at)) {
        None => Ok(()),
        Some((at, element)) => Err(Error::Program(format!(
            "wrong data: element {element} lies in row {}, column {}",
            at / side,
            at % side
        ))),
    }
}

const ROWS: usize = 512;
const ORDERS: [&str; 2] = ["apart", "fused"];

fn fft_cases(_: &Scope) -> Vec<Case> {
    ORDERS.into_iter().map(|order| case([("way", order.into())])).collect()
}

/// Matrices of both variants.
struct Matrices {
    fft: BlockFft,
    rows: Buffer,
    turned: Buffer,
}

impl Matrices {
    fn new() -> Result<Self> {
        let bytes = ROWS * ROWS * size_of::<Complex32>();
        let fft = BlockFft::new(ROWS).map_err(failed)?;
        Ok(Matrices { fft, rows: Buffer::try_zeroed(bytes)?, turned: Buffer::try_zeroed(bytes)? })
    }

    fn fill(&mut self) {
        let points = self.rows.elements_mut::<Complex32>().iter_mut().enumerate();
        points.for_each(|(at, point)| point.re = (at % 1013) as f32 / 1013.0);
    }

    fn run(&mut self, fused: bool) -> kernels::Result<()> {
        let turned = self.turned.elements_mut::<Complex32>();
        if fused {
            return self.fft.transform_turned(self.rows.elements(), turned);
        }
        self.fft.transform(self.rows.elements_mut())?;
        corner_turn(self.rows.elements(), ROWS, ROWS, turned)
    }
}

fn fft_and_turn(bench: &mut Bench<'_>) -> Result<()> {
    let fused = choice(bench, "way", &ORDERS, |name| name)? == ORDERS[1];
    check_both_ways()?;
    let mut matrices = Matrices::new()?;
    let operations = nominal_operations(ROWS) * ROWS as f64;
    let work = Work::new(WorkKind::Fft, operations as u64);
    let time = timed(bench, work, 1, || matrices.run(fused))?;
    match time {
        Some(time) => report_rate(bench, time, "MFLOP/s", operations),
        None => Ok(()),
    }
}

fn check_both_ways() -> Result<()> {
    let (mut fused, mut separate) = (Matrices::new()?, Matrices::new()?);
    for (matrices, is_fused) in [(&mut fused, true), (&mut separate, false)] {
        matrices.fill();
        matrices.run(is_fused).map_err(failed)?;
    }
    let found = fused.turned.elements::<Complex32>().iter();
    let mut pairs = found.zip(separate.turned.elements::<Complex32>());
    // The largest value is the sum of a row, about half of its points.
    match pairs.position(|(a, b)| (a - b).norm() > 1e-5 * ROWS as f32) {
        None => Ok(()),
        Some(at) => Err(Error::Program(format!("fused and apart differ at element {at}"))),
    }
}
