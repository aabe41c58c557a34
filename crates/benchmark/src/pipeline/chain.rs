//! A processing chain: what flows through it, and what each stage does with it.

use contract::{Work, WorkKind};
use kernels::Complex32;
use kernels::fft::nominal_operations;
use serde::{Deserialize, Serialize};

/// A chain of stages between a source and a sink. Matrices of complex single-precision numbers flow through it, one each
/// period, cut into messages of whole rows.
///
/// Comes from a file by [`Chain::read`], which checks all that its parts rely on: every stage divides its matrix among
/// its ranks in whole messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Its name, in lower case: the file's.
    pub name: String,
    /// Where it comes from, and what stands there: results keep it, so that they can be understood without the file.
    pub file: String,
    /// The file's text.
    pub text: String,
    /// What it is, in a line.
    pub title: String,
    /// Rows of the matrix that the source injects.
    pub rows: usize,
    /// Its columns.
    pub columns: usize,
    /// Rows that travel in one message.
    pub rows_per_message: usize,
    /// How many messages a rank receives ahead and works on together: 1 for a single buffer, 2 for double buffering.
    pub buffers: usize,
    /// Whether a stage goes on while its result is still being sent.
    pub overlap_sends: bool,
    /// The stages, in the order of the flow.
    pub stages: Vec<Stage>,
}

/// One stage of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// What the results call it.
    pub name: String,
    /// What it does with its part of each matrix, in this order.
    pub functions: Vec<Function>,
    /// How many ranks share its work: each has as many successive rows.
    pub ranks: usize,
}

/// What a stage may do with a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Function {
    /// A forward transform of each row, in place.
    Fft,
    /// Each row times the same real weights, in place.
    Weight,
    /// Rows become columns. Only as the last function of a stage: what follows needs other rows than the stage has.
    CornerTurn,
}

/// Bytes of a matrix element.
pub(super) const ELEMENT_BYTES: usize = size_of::<Complex32>();

impl Function {
    /// All of them, with the names that files use.
    pub(super) const NAMED: [(Function, &str); 3] = [
        (Function::Fft, "fft"),
        (Function::Weight, "weight"),
        (Function::CornerTurn, "corner-turn"),
    ];

    /// The work of doing it to `rows` rows of `columns` elements.
    pub(super) fn work(self, rows: usize, columns: usize) -> Work {
        let elements = rows * columns;
        match self {
            Function::Fft => {
                Work::new(WorkKind::Fft, (rows as f64 * nominal_operations(columns)) as u64)
            }
            // A real weight times a complex number.
            Function::Weight => Work::new(WorkKind::FloatingPoint, 2 * elements as u64),
            Function::CornerTurn => {
                Work::new(WorkKind::CornerTurnBytes, (elements * ELEMENT_BYTES) as u64)
            }
        }
    }
}

impl Stage {
    /// Whether the stage hands on columns as rows.
    pub(super) fn turns(&self) -> bool {
        self.functions.last() == Some(&Function::CornerTurn)
    }

    /// What is done to a message of rows while it is in cache: all but the corner turn.
    pub(super) fn row_functions(&self) -> &[Function] {
        match self.functions.split_last() {
            Some((Function::CornerTurn, before)) => before,
            _ => &self.functions,
        }
    }
}

impl Chain {
    /// The ranks that the chain needs: those of all stages, the source and the sink.
    pub fn ranks(&self) -> usize {
        2 + self.stages.iter().map(|stage| stage.ranks).sum::<usize>()
    }

    /// Bytes of a matrix.
    pub fn matrix_bytes(&self) -> usize {
        self.rows * self.columns * ELEMENT_BYTES
    }

    /// Nominal floating-point operations on a matrix in the whole chain: a corner turn counts for none.
    pub(crate) fn operations(&self) -> f64 {
        let turned =
            |level: usize| self.stages[..level].iter().filter(|s| s.turns()).count() % 2 == 1;
        let operations = |(level, stage): (usize, &Stage)| -> f64 {
            let (rows, columns) = match turned(level) {
                true => (self.columns, self.rows),
                false => (self.rows, self.columns),
            };
            let work = stage.row_functions().iter().map(|function| function.work(rows, columns));
            work.map(|work| work.amount as f64).sum()
        };
        self.stages.iter().enumerate().map(operations).sum()
    }

    /// What is wrong with the chain's numbers, if anything, with the stage it concerns.
    pub(crate) fn mistake(&self) -> Option<(Option<usize>, String)> {
        let Chain { rows, columns, rows_per_message: wanted, .. } = *self;
        let (mut rows, mut columns) = (rows, columns);
        for (index, stage) in self.stages.iter().enumerate() {
            if let Some(mistake) = stage.mistake(rows, wanted) {
                return Some((Some(index), mistake));
            }
            if stage.turns() {
                (rows, columns) = (columns, rows);
            }
        }
        (rows % wanted != 0).then(|| {
            let what = format!(
                "the sink gets {rows} rows, which are no whole number of messages of {wanted} rows"
            );
            (None, what)
        })
    }

    /// The numbers of rows in a message that this chain allows, shortest first.
    pub fn granularities(&self) -> Vec<usize> {
        let allowed = |&rows_per_message: &usize| {
            Chain { rows_per_message, ..self.clone() }.mistake().is_none()
        };
        (1..=self.rows.max(self.columns)).filter(allowed).collect()
    }
}

impl Stage {
    fn mistake(&self, rows: usize, rows_per_message: usize) -> Option<String> {
        let turn = self.functions.iter().position(|function| *function == Function::CornerTurn);
        if turn.is_some_and(|turn| turn + 1 < self.functions.len()) {
            return Some(
                "has a function after its corner turn, which needs rows that other ranks have; put it into a stage of its own"
                    .into(),
            );
        }
        let own = rows / self.ranks;
        if !rows.is_multiple_of(self.ranks) {
            return Some(format!("has {} ranks, which do not divide its {rows} rows", self.ranks));
        }
        (!own.is_multiple_of(rows_per_message)).then(|| {
            format!(
                "gives each rank {own} rows, which are no whole number of messages of {rows_per_message} rows"
            )
        })
    }
}
