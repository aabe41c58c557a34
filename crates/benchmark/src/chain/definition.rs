//! A processing chain: what flows through it, and what each stage does with it.

use contract::{Work, WorkKind};
use kernels::Complex32;
use kernels::fft::nominal_operations;
use serde::{Deserialize, Serialize};

/// A chain of stages between a source and a sink. Matrices of complex single-precision numbers flow through it, one each
/// period, cut into messages of whole rows.
///
/// Comes from a text by [`Chain::parse`], which checks all that its parts rely on: every stage divides its matrix among
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
    /// How many matrices may wait at the source: a matrix may be injected so many periods late, and its result come so
    /// much later. They have their place in the source's memory.
    pub backlog: usize,
    /// The ranks that inject the matrix, each as many successive rows.
    pub source: Vec<usize>,
    /// The stages, in the order of the flow.
    pub stages: Vec<Stage>,
    /// The ranks that take the results, each as many successive rows.
    pub sink: Vec<usize>,
}

/// One stage of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// What the results call it.
    pub name: String,
    /// What it does with its part of each matrix, in this order.
    pub functions: Vec<Function>,
    /// The ranks that share its work: each has as many successive rows. A rank may work for several stages.
    pub on: Vec<usize>,
}

/// Something that a chain cannot be: where, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) at: ChainPart,
    what: String,
}

/// A part of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainPart {
    Source,
    /// The stage with this index.
    Stage(usize),
    Sink,
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
pub(crate) const ELEMENT_BYTES: usize = size_of::<Complex32>();

impl Function {
    /// All of them, with the names that files use.
    pub(crate) const NAMED: [(Function, &str); 3] = [
        (Function::Fft, "fft"),
        (Function::Weight, "weight"),
        (Function::CornerTurn, "corner-turn"),
    ];

    /// The work of doing it to `rows` rows of `columns` elements.
    pub(crate) fn work(self, rows: usize, columns: usize) -> Work {
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
    pub(crate) fn turns(&self) -> bool {
        self.functions.last() == Some(&Function::CornerTurn)
    }

    /// What is done to a message of rows while it is in cache: all but the corner turn.
    pub(crate) fn row_functions(&self) -> &[Function] {
        match self.functions.split_last() {
            Some((Function::CornerTurn, before)) => before,
            _ => &self.functions,
        }
    }
}

impl Chain {
    /// The ranks that the chain needs: those of the source, of all stages and of the sink, each counted once.
    pub fn ranks(&self) -> usize {
        self.placed().flatten().max().map_or(0, |last| last + 1)
    }

    /// The ranks of the source, of each stage, and of the sink.
    pub(crate) fn placed(&self) -> impl Iterator<Item = &Vec<usize>> {
        let stages = self.stages.iter().map(|stage| &stage.on);
        std::iter::once(&self.source).chain(stages).chain([&self.sink])
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

    /// What is wrong with the chain's numbers, if anything.
    pub(crate) fn mistake(&self) -> Option<Mistake> {
        let (mut rows, mut columns) = (self.rows, self.columns);
        let wanted = self.rows_per_message;
        let mistake = |at, what: Option<String>| what.map(|what| Mistake { at, what });
        let mut found = mistake(ChainPart::Source, divided(self.source.len(), rows, wanted));
        for (index, stage) in self.stages.iter().enumerate() {
            let what = stage.mistake().or_else(|| divided(stage.on.len(), rows, wanted));
            let what = what.map(|what| format!("{} ({}) {what}", index + 1, stage.name));
            found = found.or_else(|| mistake(ChainPart::Stage(index), what));
            if stage.turns() {
                (rows, columns) = (columns, rows);
            }
        }
        found.or_else(|| mistake(ChainPart::Sink, divided(self.sink.len(), rows, wanted)))
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
    fn mistake(&self) -> Option<String> {
        let turn = self.functions.iter().position(|function| *function == Function::CornerTurn);
        turn.is_some_and(|turn| turn + 1 < self.functions.len()).then(|| {
            "has a function after its corner turn, which needs rows that other ranks have; put it into a stage of its own"
                .into()
        })
    }
}

/// What is wrong with sharing `rows` among `ranks` in whole messages of `wanted` rows, if anything.
fn divided(ranks: usize, rows: usize, wanted: usize) -> Option<String> {
    let own = rows / ranks;
    if !rows.is_multiple_of(ranks) {
        return Some(format!("has {ranks} ranks, which do not divide its {rows} rows"));
    }
    (!own.is_multiple_of(wanted)).then(|| {
        format!(
            "gives each rank {own} rows, which are no whole number of messages of {wanted} rows"
        )
    })
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = match self.at {
            ChainPart::Source => "the source",
            ChainPart::Stage(_) => "stage",
            ChainPart::Sink => "the sink",
        };
        write!(f, "{at} {}", self.what)
    }
}

#[cfg(test)]
impl Chain {
    /// A chain with double buffering of stages with these functions and numbers of ranks of their own.
    pub(crate) fn of(
        (rows, columns, rows_per_message): (usize, usize, usize),
        stages: &[(&[Function], usize)],
    ) -> Chain {
        let mut first = 1;
        let stage = |&(functions, ranks): &(&[Function], usize)| {
            let on = (first..first + ranks).collect();
            first += ranks;
            Stage { name: String::new(), functions: functions.into(), on }
        };
        let stages = stages.iter().map(stage).collect();
        Chain {
            name: "test".into(),
            file: String::new(),
            text: String::new(),
            title: String::new(),
            rows,
            columns,
            rows_per_message,
            buffers: 2,
            overlap_sends: true,
            backlog: 0,
            source: vec![0],
            stages,
            sink: vec![first],
        }
    }
}
