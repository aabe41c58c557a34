//! The product of two matrices, by rows on request and in blocks.

use applications::Library;
use applications::multiply::{Blocks, GRAIN_MAX, Rows};
use contract::Result;

use super::{APPLICATION, boxed, cases, form, form_of, measure};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::paper;
use crate::presentation::Headline;

pub(in crate::programs) const MULTIPLY: Benchmark = Benchmark {
    name: "multiply",
    summary: "the product of two matrices: rows assigned on request, and distributed blocks",
    explains: "The product of two square matrices of doubles; the size is that of one of them: 512 KiB, 2 MiB \
        and 8 MiB are those of order 256, 512 and 1024. The form `rows` is that of the paper: rank 0 assigns \
        `grain` rows at a time to ranks that request work, which multiply them with the second matrix, transposed \
        in advance and broadcast to them; `rows-hcs` does the same over HCS_LIB. The form `blocks` is a current \
        one: all matrices are distributed over a grid of ranks, and panels are sent while a library multiplies \
        others. The best serial program is one call of that library. Rows of the product are checked against the \
        definition.",
    source: paper::SCALE.part("section 5"),
    headlines: &[Headline {
        words: "product of matrices, best efficiency",
        metric: "efficiency",
        size_bytes: Some(bytes(ORDERS[2])),
    }],
    cases: multiplies,
    measure: run,
    ..APPLICATION
};

const ORDERS: [u64; 3] = [256, 512, 1024];
const GRAIN: &str = "grain";
const ROWS: &str = "rows";
const ROWS_HCS: &str = "rows-hcs";
const BLOCKS: &str = "blocks";

/// Returns the number of bytes of a matrix.
const fn bytes(order: u64) -> u64 {
    order * order * 8
}

fn order(bytes: u64) -> u64 {
    (bytes / 8).isqrt().max(1)
}

fn multiplies(scope: &Scope) -> Vec<Case> {
    let grain = |grain: u64| [(GRAIN, grain.into())];
    let forms = [
        form(BLOCKS, []),
        form(ROWS, grain(1)),
        form(ROWS, grain(GRAIN_MAX as u64)),
        form(ROWS_HCS, grain(1)),
    ];
    cases(scope, &ORDERS.map(bytes), |size| bytes(order(size)), &forms)
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let (order, seed) = (order(bench.step.size_bytes) as usize, bench.settings.seed);
    let library = match &form_of(bench)[..] {
        BLOCKS => None,
        ROWS => Some(Library::Messages),
        ROWS_HCS => Some(Library::Hcs),
        _ => return Err(bench.unknown(super::FORM)),
    };
    let made = match library {
        None => Blocks::new(bench.rank, order, seed).map(boxed),
        Some(library) => {
            let grain = bench.number(GRAIN)?;
            Rows::new(bench.rank, (order, grain), library, seed).map(boxed)
        }
    };
    measure(bench, made)
}
