//! A processing chain: what flows through it, and what each stage does with it.

use kernels::Complex32;
use serde::{Deserialize, Serialize};

use super::scene::{Scene, SoughtTarget};
use crate::stage_functions::Function;

/// A chain of stages between a source and a sink. Matrices of complex single-precision numbers flow through it, one
/// each period, cut into messages of whole rows.
///
/// Comes from a text by [`Chain::parse`], which checks all that its parts rely on: every stage divides its matrix among
/// its ranks in whole messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Its name, in lower case: the file's.
    pub name: String,
    /// The name and contents of its file: results keep them, so that they can be understood without the file.
    pub file: String,
    /// The file's text.
    pub text: String,
    /// Its description, in a line.
    pub title: String,
    /// Rows of the matrix that the source injects.
    pub rows: usize,
    /// Its columns.
    pub columns: usize,
    /// Rows that travel in one message.
    pub rows_per_message: usize,
    /// The number of messages that a rank receives ahead or processes: 1 for a single buffer, 2 for double buffering.
    pub buffers: usize,
    /// Whether a stage continues while its result is still being sent.
    pub overlap_sends: bool,
    /// The number of matrices that may wait at the source: a matrix may be injected so many periods late, and its
    /// result come so much later. They have their place in the source's memory.
    pub backlog: usize,
    /// The ranks that inject the matrix, each as many successive rows.
    pub source: Vec<usize>,
    /// The stages, in the order of the flow.
    pub stages: Vec<Stage>,
    /// The ranks that take the results, each as many successive rows.
    pub sink: Vec<usize>,
    /// The scene of the source's matrices; random numbers if there is none.
    pub scene: Option<Scene>,
    /// The targets that the sink is to find in the results.
    pub targets: Vec<SoughtTarget>,
    /// The rows and columns on both sides of a target that it may spill into.
    pub extent: (usize, usize),
}

/// One stage of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name in results.
    pub name: String,
    /// Its functions, which are applied to its part of each matrix in this order.
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
    Scene,
}

/// Bytes of a matrix element.
pub(crate) const ELEMENT_BYTES: usize = size_of::<Complex32>();

impl Stage {
    /// Whether the stage hands on columns as rows.
    pub(crate) fn turns(&self) -> bool {
        self.functions.last().is_some_and(Function::turns)
    }

    /// Columns of what it makes of rows of `columns` elements, before a corner turn.
    ///
    /// # Errors
    /// Which of its functions cannot work on what it gets, and why.
    pub(crate) fn result_columns(&self, columns: usize) -> Result<usize, String> {
        self.row_functions().iter().try_fold(columns, |columns, function| {
            function
                .columns(columns)
                .map_err(|why| format!("cannot do `{}`, which {why}", function.name()))
        })
    }

    /// The functions applied to a message of rows while it is in cache: all except the corner turn.
    pub(crate) fn row_functions(&self) -> &[Function] {
        match self.functions.split_last() {
            Some((last, before)) if last.turns() => before,
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
        let (mut rows, mut columns, mut operations) = (self.rows, self.columns, 0.0);
        for stage in &self.stages {
            for function in stage.row_functions() {
                operations += function.kind().work(function, rows, columns).amount as f64;
                columns = function.columns(columns).unwrap_or(columns);
            }
            if stage.turns() {
                (rows, columns) = (columns, rows);
            }
        }
        operations
    }

    /// Rows and columns of the result.
    pub(crate) fn result_shape(&self) -> (usize, usize) {
        let shape = (self.rows, self.columns);
        self.stages.iter().fold(shape, |(rows, columns), stage| {
            let columns = stage.result_columns(columns).unwrap_or(columns);
            if stage.turns() { (columns, rows) } else { (rows, columns) }
        })
    }

    /// The error in the chain's numbers, if there is one.
    pub(crate) fn mistake(&self) -> Option<Mistake> {
        let (mut rows, mut columns) = (self.rows, self.columns);
        let wanted = self.rows_per_message;
        let mistake = |at, what: Option<String>| what.map(|what| Mistake { at, what });
        let mut found = mistake(ChainPart::Source, divided(self.source.len(), rows, wanted));
        for (index, stage) in self.stages.iter().enumerate() {
            let result = stage.result_columns(columns);
            let what = stage.mistake().or_else(|| result.clone().err());
            let what = what.or_else(|| divided(stage.on.len(), rows, wanted));
            let what = what.map(|what| format!("{} ({}) {what}", index + 1, stage.name));
            found = found.or_else(|| mistake(ChainPart::Stage(index), what));
            columns = result.unwrap_or(columns);
            if stage.turns() {
                (rows, columns) = (columns, rows);
            }
        }
        found = found.or_else(|| mistake(ChainPart::Sink, divided(self.sink.len(), rows, wanted)));
        let scene = self.scene.as_ref().and_then(|scene| scene.mistake(self.rows, self.columns));
        found = found.or_else(|| mistake(ChainPart::Scene, scene));
        let outside = self.targets.iter().find(|one| one.row >= rows || one.column >= columns);
        let outside = outside.map(|one| {
            let SoughtTarget { row, column, .. } = one;
            format!(
                "is to find a target at row {row}, column {column} of a result of {rows} x {columns} elements"
            )
        });
        found.or_else(|| mistake(ChainPart::Sink, outside))
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
        let turn = self.functions.iter().position(Function::turns);
        turn.is_some_and(|turn| turn + 1 < self.functions.len()).then(|| {
            "has a function after its corner turn, which needs rows that other ranks have; put it into a stage of its own"
                .into()
        })
    }
}

/// The error in dividing `rows` among `ranks` in whole messages of `wanted` rows, if there is one.
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
            ChainPart::Scene => "the scene",
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
            scene: None,
            targets: Vec::new(),
            extent: (0, 0),
        }
    }
}
