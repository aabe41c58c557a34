//! The distributed corner turn: a matrix that is distributed over the ranks by rows is distributed by columns
//! afterwards.

mod matrix;
mod part;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use contract::{Error, Result, WorkKind};
use pattern::corner_turn::Design;
use record::Parameters;

use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group, Repeats};
use crate::options::PERIODS;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO};
use crate::ranks::RankRule;
use crate::{paper, period};
use matrix::Matrix;
use part::MatrixPart;

pub(in crate::programs) const CORNER_TURN: Benchmark = Benchmark {
    name: "corner-turn",
    group: Group::RealTime,
    summary: "corner turn of a distributed matrix each period: the shortest sustained period",
    explains: "Rank r has the r-th part of the rows of a matrix before, and the r-th part of its columns, as \
        rows, afterwards. In every period it transposes its part in memory, so that the data for each other rank \
        are contiguous, exchanges one block with each rank, and moves the received blocks into place. Blocks are \
        sent in the stages of a corner-turn pattern, in each of which a rank sends or receives one. A rank meets \
        its deadline if all this ends within the period; every element of the last matrix is checked. `rate` is \
        the data that a rank sends, divided by the shortest sustained period. By default each rank has 1 MiB, so \
        blocks become half as long when the number of ranks doubles.",
    source: paper::MITRE.part("sections 4.3.3 and 6.3"),
    ranks: RankRule::Pairs(1),
    cases,
    program: Program {
        in_a_row: false,
        // The rows of two turns and those turned in memory; the received blocks and the result.
        blocks: |shape| Blocks { send: 3 * shape.ranks, receive: 2 * shape.ranks, ..Blocks::NONE },
        received: Received::Nothing,
        ..BETWEEN_TWO
    },
    measure,
    lasts_s: Some(|settings, _| period::lasts_s(settings)),
    repeats: Repeats::Trials,
    options: &[PERIODS],
    repeatable: false,
    ..BENCHMARK
};

/// Default amount of data of each rank: the messages of 2, 4, 8 ... ranks are then those of the paper's table 6.1.
const ROWS: u64 = 512;
const BYTES_A_RANK: u64 = 1 << 20;

fn cases(scope: &Scope) -> Vec<Case> {
    let wanted = &scope.settings.corner_turn;
    let (ranks, element) = (scope.ranks as u64, wanted.element_bytes);
    let matrices = match (scope.sizes, wanted.matrix) {
        (Some(sizes), _) => {
            // A block is at least a whole element. Sizes that result in the same block make one measurement.
            let elements = sizes.bytes().iter().map(|&size| (size / element.max(1)).max(1));
            elements.collect::<BTreeSet<_>>().into_iter().map(|n| of_blocks(n, ranks)).collect()
        }
        (None, Some(matrix)) => vec![matrix],
        (None, None) => {
            let rows = ROWS.next_multiple_of(ranks);
            let columns = (BYTES_A_RANK / element.max(1) * ranks / rows).next_multiple_of(ranks);
            vec![(rows, columns)]
        }
    };
    let case = |(rows, columns): (u64, u64)| Case {
        parameters: Parameters::from([
            ("rows".into(), rows.into()),
            ("columns".into(), columns.into()),
            ("element_bytes".into(), element.into()),
            ("order".into(), wanted.order.as_str().into()),
        ]),
        size_bytes: (rows / ranks) * (columns / ranks) * element,
    };
    period::variants(scope, matrices.into_iter().map(case).collect())
}

/// Returns the matrix whose blocks have this number of elements each and are as square as possible.
fn of_blocks(elements: u64, ranks: u64) -> (u64, u64) {
    let rows =
        (1..=elements.isqrt()).rev().find(|rows| elements.is_multiple_of(*rows)).unwrap_or(1);
    (rows * ranks, elements / rows * ranks)
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    if bench.skips_without_rate(&[WorkKind::CornerTurnBytes])? {
        return Ok(());
    }
    let element_bytes = bench.number("element_bytes")?;
    match element_bytes {
        4 => measure_of::<u32>(bench),
        8 => measure_of::<u64>(bench),
        16 => measure_of::<u128>(bench),
        other => Err(Error::Program(format!(
            "elements have 4, 8 or 16 bytes, not {other}; use --element"
        ))),
    }
}

fn measure_of<T: matrix::MatrixElement>(bench: &mut Bench<'_>) -> Result<()> {
    let ranks = bench.shape.ranks;
    let (rows, columns) = (bench.number("rows")?, bench.number("columns")?);
    let matrix = Matrix::<T>::new(rows, columns, ranks, bench.settings.seed)?;
    let design = design(bench)?;
    let schedule = design.schedule(ranks).map_err(|error| Error::Program(error.to_string()))?;
    let mut part = MatrixPart::new(&matrix, &schedule, bench.shape.me)?;
    part.begin(bench.rank)?;
    let found = period::find(bench, &mut |rank, trial, deadlines| {
        for instance in 0..trial.instances {
            deadlines.wait_for(rank, instance);
            part.turn(rank)?;
            deadlines.ended(instance, 0, rank.now());
        }
        Ok(())
    })?;
    part.finish(bench.rank)?;
    let sent = bench.shape.bytes_to_others();
    period::report(bench, found, Parameters::new(), |first| {
        Ok(period::rate(first, sent as f64).into_iter().collect())
    })
}

fn design(bench: &Bench<'_>) -> Result<Design> {
    let name = bench.step.parameters.get("order").map(ToString::to_string).unwrap_or_default();
    Design::ALL
        .into_iter()
        .find(|design| design.name() == name)
        .ok_or_else(|| Error::Program(format!("there is no order of blocks called `{name}`")))
}
