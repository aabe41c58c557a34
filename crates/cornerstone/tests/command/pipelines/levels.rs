//! The levels of a chain and their work, by the operations that docs/pipelines.md counts.

use benchmark::{Chain, Function};

/// Rates of the machine, in units a microsecond: operations, operations of transforms, bytes copied, bytes turned, bytes on
/// a link. Messages cost no time of processors.
pub(super) struct Rates {
    pub(super) operations: f64,
    pub(super) transforms: f64,
    pub(super) copies: f64,
    pub(super) turns: f64,
    pub(super) link: f64,
}

/// One level of the chain: the source, a stage, or the sink.
pub(super) struct Level {
    pub(super) ranks: Vec<usize>,
    /// Number of blocks of each rank in a matrix, their rows and columns.
    pub(super) blocks: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Time of a block.
    pub(super) work_us: f64,
    pub(super) turns: bool,
    /// Number of matrices whose results have memory of their own; none if a block is sent from where it arrived.
    pub(super) sets: usize,
}

pub(super) const ELEMENT_BYTES: f64 = 8.0;

/// Returns the work of a function on a row, of which the table of docs/pipelines.md has the operations, and the length of
/// its result.
fn row(function: &Function, columns: usize, rates: &Rates) -> (f64, usize) {
    let value = serde_json::to_value(function).unwrap();
    let number = |name: &str| value["numbers"][name].as_u64().unwrap_or(0) as usize;
    let (n, antennas) = (columns as f64, number("antennas"));
    let transform = 5.0 * n * n.log2() / rates.transforms;
    let scalar = |operations: f64| operations / rates.operations;
    match value["name"].as_str().unwrap() {
        "fft" => (transform, columns),
        "fdfir" | "convolution" => (2.0 * transform + 8.0 * n / rates.transforms, columns),
        "tdfir" => (scalar(8.0 * n * number("taps") as f64), columns),
        "weight" => (scalar(2.0 * n), columns),
        "magnitude" => (scalar(4.0 * n), columns),
        "cfar" => (scalar(7.0 * n), columns),
        "inner-product" => (scalar(8.0 * (n - antennas as f64)), columns / antennas - 1),
        // The snapshots, and as many rows again as there are antennas, which keep the weights from growing.
        "qr-weights" => {
            let (m, a) = ((columns / antennas + antennas) as f64, antennas as f64);
            (scalar(16.0 * (m * a * a / 2.0 - a * a * a / 6.0)), columns + antennas)
        }
        "corner-turn" => (n * ELEMENT_BYTES / rates.turns, columns),
        other => panic!("the oracle does not know {other}"),
    }
}

/// Returns the levels of a chain, with the work of a block in each.
pub(super) fn levels(chain: &Chain, rates: &Rates) -> Vec<Level> {
    let (mut rows, mut columns) = (chain.rows, chain.columns);
    let mut all = Vec::new();
    let mut add = |ranks: &Vec<usize>, functions: &[Function]| {
        let block_rows = chain.rows_per_message;
        let (mut each_us, mut result) = (0.0, columns);
        let turns = functions.last().is_some_and(is_turn);
        for function in functions {
            let (us, length) = row(function, result, rates);
            (each_us, result) = (each_us + us, length);
        }
        let is_other_length = result != columns;
        if is_other_length && !turns {
            each_us += result as f64 * ELEMENT_BYTES / rates.copies;
        }
        all.push(Level {
            ranks: ranks.clone(),
            blocks: rows / ranks.len() / block_rows,
            rows: block_rows,
            columns,
            work_us: each_us * block_rows as f64,
            turns,
            sets: if turns || is_other_length { chain.buffers } else { 0 },
        });
        (rows, columns) = if turns { (result, rows) } else { (rows, result) };
    };
    add(&chain.source, &[]);
    chain.stages.iter().for_each(|stage| add(&stage.on, &stage.functions));
    add(&chain.sink, &[]);
    all
}

fn is_turn(function: &Function) -> bool {
    serde_json::to_value(function).unwrap()["name"] == "corner-turn"
}
