//! Chains in files: TOML.

use std::collections::BTreeMap;
use std::path::Path;

use definition_files::{FileError, line_of, toml_mistake};
use serde::Deserialize;
use toml::Spanned;

use super::definition::{Chain, ChainPart, Stage};
use super::placement::{WantedRanks, placed};
use super::scene::{Scene, SoughtTarget};
use crate::stage_functions::Function;

/// Largest side of a matrix, most ranks of a stage, and most messages ahead. Larger numbers are assumed to be typing
/// errors.
const SIDE_MAX: usize = 1 << 16;
const RANKS_MAX: usize = 4096;
const BUFFERS_MAX: usize = 64;
const BACKLOG_MAX: usize = 1 << 16;

/// Key of a function's name in its table.
const NAME: &str = "name";

/// Default extent of a target.
const EXTENT: (usize, usize) = (4, 4);

/// Prefix of the texts of a run's record that are chains.
const KEY: &str = "pipeline ";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    matrix: FileMatrix,
    #[serde(default)]
    flow: FileFlow,
    #[serde(default)]
    source: FileEnd,
    #[serde(default)]
    stage: Vec<Spanned<FileStage>>,
    #[serde(default)]
    sink: FileSink,
    scene: Option<Spanned<Scene>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileMatrix {
    rows: Spanned<usize>,
    columns: Spanned<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFlow {
    rows_per_message: Option<Spanned<usize>>,
    buffers: Option<Spanned<usize>>,
    overlap_sends: Option<bool>,
    backlog: Option<Spanned<usize>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEnd {
    ranks: Option<Spanned<usize>>,
    on: Option<Spanned<Vec<usize>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSink {
    ranks: Option<Spanned<usize>>,
    on: Option<Spanned<Vec<usize>>>,
    #[serde(default)]
    target: Vec<SoughtTarget>,
    extent: Option<(usize, usize)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileStage {
    name: Option<String>,
    functions: Vec<Spanned<toml::Value>>,
    ranks: Option<Spanned<usize>>,
    on: Option<Spanned<Vec<usize>>>,
}

/// The flow in a file.
struct Flow {
    rows_per_message: usize,
    buffers: usize,
    backlog: usize,
}

impl File {
    /// Returns the position in the text at which a part of the chain begins, for errors in the part.
    fn start_of(&self, part: ChainPart) -> usize {
        let grain =
            || self.flow.rows_per_message.as_ref().unwrap_or(&self.matrix.rows).span().start;
        let end = |ranks: &Option<Spanned<usize>>, on: &Option<Spanned<Vec<usize>>>| {
            let ranks = ranks.as_ref().map(|ranks| ranks.span().start);
            ranks.or(on.as_ref().map(|on| on.span().start)).unwrap_or_else(grain)
        };
        match part {
            ChainPart::Source => end(&self.source.ranks, &self.source.on),
            ChainPart::Stage(index) => self.stage[index].span().start,
            ChainPart::Sink => end(&self.sink.ranks, &self.sink.on),
            ChainPart::Scene => self.scene.as_ref().map_or_else(grain, |scene| scene.span().start),
        }
    }
}

impl Chain {
    /// Default number of messages that a rank receives ahead and processes.
    const BUFFERS: usize = 3;

    /// Returns the chain that the benchmark runs if no other is requested: FFT, corner turn, FFT.
    pub(crate) fn example() -> Chain {
        let text = include_str!("../../../../pipelines/fft-corner-turn-fft.toml");
        Chain::parse("pipelines/fft-corner-turn-fft.toml", text)
            .expect("the built-in chain is tested")
    }

    /// Reads the chain from `text`, the contents of `file`.
    ///
    /// # Errors
    /// [`FileError::Invalid`].
    pub fn parse(file: &str, text: &str) -> Result<Chain, FileError> {
        let name = Path::new(file).file_stem().unwrap_or_default();
        let name = name.to_string_lossy().to_lowercase();
        let reader = Reader { file, text };
        let parsed: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            toml_mistake(file, text, at, error.message())
        })?;
        reader.chain(&name, parsed)
    }

    /// Returns its name among the texts of a run's record.
    pub fn key(&self) -> String {
        format!("{KEY}{}", self.file)
    }

    /// Returns the first chain among the texts of a run's record.
    pub fn among(texts: &BTreeMap<String, String>) -> Option<Chain> {
        let chain =
            |(key, text): (&String, &String)| Chain::parse(key.strip_prefix(KEY)?, text).ok();
        texts.iter().find_map(chain)
    }
}

/// Text of a chain, with the file that errors name.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn invalid(&self, at: usize, problem: impl Into<String>) -> FileError {
        let line = line_of(self.text, at);
        FileError::Invalid { file: self.file.into(), line, problem: problem.into() }
    }

    fn chain(&self, name: &str, file: File) -> Result<Chain, FileError> {
        let rows = self.within("matrix.rows", &file.matrix.rows, SIDE_MAX)?;
        let columns = self.within("matrix.columns", &file.matrix.columns, SIDE_MAX)?;
        let flow = self.flow(&file.flow, rows)?;
        if file.stage.is_empty() {
            return Err(self.invalid(0, "there is no [[stage]]; a chain has at least one"));
        }
        let stages = file.stage.iter().map(|stage| self.stage(stage.get_ref()));
        let stages = stages.collect::<Result<Vec<_>, _>>()?;
        let [source, on @ .., sink] = &self.placed(&file)?[..] else {
            unreachable!("a chain has two ends")
        };
        let placed = stages.into_iter().zip(on);
        let chain = Chain {
            name: name.into(),
            file: self.file.into(),
            text: self.text.into(),
            rows,
            columns,
            rows_per_message: flow.rows_per_message,
            buffers: flow.buffers,
            overlap_sends: file.flow.overlap_sends.unwrap_or(true),
            backlog: flow.backlog,
            source: source.clone(),
            stages: placed.map(|(stage, on)| Stage { on: on.clone(), ..stage }).collect(),
            sink: sink.clone(),
            title: file.title.clone(),
            scene: file.scene.as_ref().map(|scene| scene.get_ref().clone()),
            targets: file.sink.target.clone(),
            extent: file.sink.extent.unwrap_or(EXTENT),
        };
        match chain.mistake() {
            None => Ok(chain),
            Some(mistake) => Err(self.invalid(file.start_of(mistake.at), mistake.to_string())),
        }
    }

    fn flow(&self, flow: &FileFlow, rows: usize) -> Result<Flow, FileError> {
        let rows_per_message = match &flow.rows_per_message {
            Some(wanted) => self.within("flow.rows_per_message", wanted, SIDE_MAX)?,
            None => rows,
        };
        let buffers = match &flow.buffers {
            Some(buffers) => self.within("flow.buffers", buffers, BUFFERS_MAX)?,
            None => Chain::BUFFERS,
        };
        let backlog = match &flow.backlog {
            Some(none) if *none.get_ref() == 0 => 0,
            Some(backlog) => self.within("flow.backlog", backlog, BACKLOG_MAX)?,
            None => 0,
        };
        Ok(Flow { rows_per_message, buffers, backlog })
    }

    /// Reads a stage without its ranks.
    fn stage(&self, stage: &FileStage) -> Result<Stage, FileError> {
        let functions = stage.functions.iter().map(|one| self.function(one));
        let functions = functions.collect::<Result<Vec<_>, _>>()?;
        let own = functions.iter().map(Function::name).collect::<Vec<_>>().join(" + ");
        let own = if own.is_empty() { "hand on".into() } else { own };
        let name = stage.name.clone().unwrap_or(own);
        Ok(Stage { name, functions, on: Vec::new(), speed: 1.0 })
    }

    /// Returns the ranks of the source, of each stage, and of the sink.
    fn placed(&self, file: &File) -> Result<Vec<Vec<usize>>, FileError> {
        let stages = file.stage.iter().map(|stage| stage.get_ref());
        let stages = stages.map(|stage| (&stage.ranks, &stage.on));
        let source = (&file.source.ranks, &file.source.on);
        let parts =
            std::iter::once(source).chain(stages).chain([(&file.sink.ranks, &file.sink.on)]);
        let wanted = parts.map(|(ranks, on)| self.wanted(ranks, on)).collect::<Result<_, _>>()?;
        placed(wanted).map_err(|problem| self.invalid(0, problem))
    }

    fn wanted(
        &self,
        ranks: &Option<Spanned<usize>>,
        on: &Option<Spanned<Vec<usize>>>,
    ) -> Result<WantedRanks, FileError> {
        let Some(on) = on else {
            let ranks = ranks.as_ref().map(|ranks| self.within("ranks", ranks, RANKS_MAX));
            return Ok(WantedRanks::Own(ranks.transpose()?.unwrap_or(1)));
        };
        let invalid = |problem: String| Err(self.invalid(on.span().start, problem));
        if ranks.is_some() {
            return invalid("`on` says which ranks, so `ranks` must be left out".into());
        }
        let wanted = on.get_ref();
        if wanted.is_empty() {
            return invalid("`on` is empty; it must name one rank or more".into());
        }
        if let Some(rank) = wanted.iter().find(|&&rank| rank >= RANKS_MAX) {
            let last = RANKS_MAX - 1;
            return invalid(format!("`on` names rank {rank}; ranks are numbers from 0 to {last}"));
        }
        let twice = |at: &usize| wanted[..*at].contains(&wanted[*at]);
        if let Some(at) = (0..wanted.len()).find(twice) {
            return invalid(format!("`on` names rank {} twice", wanted[at]));
        }
        Ok(WantedRanks::On(wanted.clone()))
    }

    /// Reads a function by its name, or by a table of its name and its numbers.
    fn function(&self, written: &Spanned<toml::Value>) -> Result<Function, FileError> {
        let invalid = |problem: String| self.invalid(written.span().start, problem);
        let mut numbers = BTreeMap::new();
        let name = match written.get_ref() {
            toml::Value::String(name) => name,
            toml::Value::Table(table) => {
                for (key, value) in table.iter().filter(|(key, _)| *key != NAME) {
                    let number = value.as_integer().and_then(|number| usize::try_from(number).ok());
                    let number = number.filter(|&number| number <= SIDE_MAX).ok_or_else(|| {
                        invalid(format!("`{key}` of a function is of type {}; it must be a number from 0 to {SIDE_MAX}", value.type_str()))
                    })?;
                    numbers.insert(key.clone(), number);
                }
                let name = table.get(NAME).and_then(toml::Value::as_str);
                name.ok_or_else(|| invalid("a function has no `name`".into()))?
            }
            other => {
                return Err(invalid(format!(
                    "a function is of type {}; it must be a name, or a table such as {{ name = \"tdfir\", taps = 16 }}",
                    other.type_str()
                )));
            }
        };
        Function::new(name, numbers).map_err(invalid)
    }

    fn within(&self, field: &str, value: &Spanned<usize>, max: usize) -> Result<usize, FileError> {
        let number = *value.get_ref();
        if (1..=max).contains(&number) {
            return Ok(number);
        }
        let problem = format!("`{field}` is {number}; it must be a number from 1 to {max}");
        Err(self.invalid(value.span().start, problem))
    }
}
