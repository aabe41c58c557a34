//! A processing chain: its matrices, and the functions of each stage.

use contract::{Work, WorkKind};
use kernels::Complex32;
use serde::{Deserialize, Serialize};

use super::scene::{Scene, SoughtTarget};
use crate::stage_functions::Function;

/// A chain of stages between a source and a sink. Matrices of complex single-precision numbers flow through it, one
/// each period, cut into messages of whole rows.
///
/// Created from a text by [`Chain::parse`], which checks all properties on which its parts rely: every stage divides
/// its matrix among its ranks in whole messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Name in lower case, from the file's.
    pub name: String,
    /// Name of its file. Results contain it with the text, so that they can be understood without the file.
    pub file: String,
    /// The file's text.
    pub text: String,
    /// Description in a line.
    pub title: String,
    /// Number of rows of the matrix that the source injects.
    pub rows: usize,
    /// Number of its columns.
    pub columns: usize,
    /// Number of rows in one message.
    pub rows_per_message: usize,
    /// The number of messages that a rank receives ahead or processes: 1 for a single buffer, 2 for double buffering.
    pub buffers: usize,
    /// True if a stage continues while its result is still being sent.
    pub overlap_sends: bool,
    /// Number of matrices that may wait at the source: a matrix may be injected this number of periods late, and its
    /// result may be as late. They are stored in the source's memory.
    pub backlog: usize,
    /// Ranks that inject the matrix, each an equal number of successive rows.
    pub source: Vec<usize>,
    /// The stages, in the order of the flow.
    pub stages: Vec<Stage>,
    /// Ranks that receive the results, each an equal number of successive rows.
    pub sink: Vec<usize>,
    /// The scene of the source's matrices; random numbers if there is none.
    pub scene: Option<Scene>,
    /// Targets that the sink must find in the results.
    pub targets: Vec<SoughtTarget>,
    /// Numbers of rows and columns on both sides of a target into which it may spill.
    pub extent: (usize, usize),
}

/// One stage of a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Name in results.
    pub name: String,
    /// Functions that are applied to its part of each matrix, in this order.
    pub functions: Vec<Function>,
    /// Ranks that share its work: each has an equal number of successive rows. A rank may work for several stages.
    pub on: Vec<usize>,
    /// The speed of its processors on a simulated machine, as a multiple of the machine's: 1 in every file. Predictions
    /// of a faster stage change it.
    pub speed: f64,
}

/// An impossible property of a chain: the place and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) at: ChainPart,
    what: String,
}

/// A part of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainPart {
    Source,
    /// Stage with this index.
    Stage(usize),
    Sink,
    Scene,
}

/// Number of bytes of a matrix element.
pub(crate) const ELEMENT_BYTES: usize = size_of::<Complex32>();

impl Stage {
    /// Returns whether the stage passes columns on as rows.
    pub(crate) fn turns(&self) -> bool {
        self.functions.last().is_some_and(Function::turns)
    }

    /// Returns the number of columns of the result of rows of `columns` elements, before a corner turn.
    ///
    /// # Errors
    /// The function that cannot process its input, and the reason.
    pub(crate) fn result_columns(&self, columns: usize) -> Result<usize, String> {
        self.row_functions().iter().try_fold(columns, |columns, function| {
            function
                .columns(columns)
                .map_err(|why| format!("cannot do `{}`, which {why}", function.name()))
        })
    }

    /// Returns the functions applied to a message of rows while it is in cache: all except the corner turn.
    pub(crate) fn row_functions(&self) -> &[Function] {
        match self.functions.split_last() {
            Some((last, before)) if last.turns() => before,
            _ => &self.functions,
        }
    }
}

impl Chain {
    /// Returns the number of ranks that the chain needs: those of the source, of all stages and of the sink, each
    /// counted once.
    pub fn ranks(&self) -> usize {
        self.placed().flatten().max().map_or(0, |last| last + 1)
    }

    /// Returns the ranks of the source, of each stage, and of the sink.
    pub(crate) fn placed(&self) -> impl Iterator<Item = &Vec<usize>> {
        let stages = self.stages.iter().map(|stage| &stage.on);
        std::iter::once(&self.source).chain(stages).chain([&self.sink])
    }

    /// Returns the number of bytes of a matrix.
    pub fn matrix_bytes(&self) -> usize {
        self.rows * self.columns * ELEMENT_BYTES
    }

    /// Returns the nominal floating-point operations on a matrix in the whole chain. A corner turn has none.
    pub(crate) fn operations(&self) -> f64 {
        let operations = self.all_work().into_iter().filter(|(function, _)| !function.turns());
        operations.map(|(_, work)| work.amount as f64).sum()
    }

    /// Returns the kinds of work of the chain's functions.
    pub fn kinds(&self) -> Vec<WorkKind> {
        self.all_work().into_iter().map(|(_, work)| work.kind).collect()
    }

    /// Returns each function with its work on a whole matrix.
    fn all_work(&self) -> Vec<(&Function, Work)> {
        let (mut rows, mut columns, mut all_work) = (self.rows, self.columns, Vec::new());
        for function in self.stages.iter().flat_map(|stage| &stage.functions) {
            all_work.push((function, function.kind().work(function, rows, columns)));
            columns = function.columns(columns).unwrap_or(columns);
            if function.turns() {
                std::mem::swap(&mut rows, &mut columns);
            }
        }
        all_work
    }

    /// Returns the numbers of rows and columns of the result.
    pub(crate) fn result_shape(&self) -> (usize, usize) {
        let shape = (self.rows, self.columns);
        self.stages.iter().fold(shape, |(rows, columns), stage| {
            let columns = stage.result_columns(columns).unwrap_or(columns);
            if stage.turns() { (columns, rows) } else { (rows, columns) }
        })
    }

    /// Returns the error in the chain's numbers, if there is one.
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

    /// Returns the numbers of rows in a message that this chain permits, shortest first.
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

/// Returns the error in dividing `rows` among `ranks` in whole messages of `wanted` rows, if there is one.
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
    /// Returns a chain with double buffering of stages with these functions and numbers of ranks of their own.
    pub(crate) fn of(
        (rows, columns, rows_per_message): (usize, usize, usize),
        stages: &[(&[Function], usize)],
    ) -> Chain {
        let mut first = 1;
        let stage = |&(functions, ranks): &(&[Function], usize)| {
            let on = (first..first + ranks).collect();
            first += ranks;
            Stage { name: String::new(), functions: functions.into(), on, speed: 1.0 }
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
