//! The command line that a results file has recorded, and what a resumed run takes from it.
//!
//! A results file is data, and may come from a stranger. Whatever starts a program, loads a library, opens a
//! connection, names a path or changes the system comes from today's command line only. [`SOURCES`] says so of each
//! option, and the recorded words are filtered by it before anything reads their values.

mod sources;
#[cfg(test)]
mod tests;

use std::path::Path;

use clap::builder::OsStringValueParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command as Definition, CommandFactory, Parser};
use fabric_tcp::for_shell;
use sources::{SOURCES, Source};

use super::{Arguments, Command, RankCounts, RunArguments};

/// An option, or a positional argument, as it was typed.
struct Given {
    id: String,
    /// `None` for positional arguments.
    long: Option<String>,
    is_flag: bool,
    values: Vec<String>,
}

/// A command that measures, as it was typed. Its values have not been read.
pub(crate) struct Typed {
    program: String,
    subcommand: String,
    given: Vec<Given>,
}

/// What a recorded command line gives, and today's does not.
pub(crate) struct Withheld {
    /// Options without which the run cannot continue, as they are typed.
    pub(crate) required: Vec<String>,
    /// Options without which it can.
    pub(crate) optional: Vec<String>,
}

impl Typed {
    /// Reads the words of a command line. `None` if it is no command that a run can resume.
    pub(crate) fn read(words: &[String]) -> Option<Typed> {
        let definition = definition();
        let matches = definition.clone().try_get_matches_from(words).ok()?;
        let (subcommand, matches) = matches.subcommand()?;
        let options = RESUMABLE.contains(&subcommand).then_some(definition)?;
        let arguments = options.find_subcommand(subcommand)?.get_arguments();
        Some(Typed {
            program: words.first()?.clone(),
            subcommand: subcommand.into(),
            given: arguments.filter_map(|argument| Given::read(argument, matches)).collect(),
        })
    }

    /// Reads the command line of this process.
    pub(crate) fn today() -> Option<Typed> {
        Typed::read(&words_of_this_process())
    }

    /// Returns the arguments of `run` that a results file with this command may set. `None` if this build cannot read
    /// them.
    pub(crate) fn arguments(&self) -> Option<RunArguments> {
        let taken = || self.given.iter().filter(|given| matches!(given.source(), Source::File));
        let (named, positional): (Vec<&Given>, Vec<&Given>) =
            taken().partition(|given| given.long.is_some());
        let mut words = vec![self.program.clone(), self.subcommand.clone()];
        words.extend(named.into_iter().flat_map(Given::words));
        words.push("--".into());
        words.extend(positional.into_iter().flat_map(Given::words));
        match Arguments::try_parse_from(words).ok()?.command {
            Command::Run(arguments) => Some(arguments),
            // The command does not contain the pattern. The results file has it.
            Command::Pmp(pmp) => {
                Some(pmp.periodic.run("pmp", pmp.ranks.map(|n| RankCounts(vec![n]))))
            }
            Command::CornerTurn(corner_turn) if corner_turn.messages_only => {
                Some(corner_turn.periodic.run("pmp", Some(corner_turn.ranks)))
            }
            Command::CornerTurn(corner_turn) => Some(corner_turn.run()),
            Command::Pipeline(pipeline) => Some(pipeline.run(None)),
            _ => None,
        }
    }

    /// Returns what a results file with this command cannot set, and the command line of `today` does not either.
    pub(crate) fn withheld(&self, today: Option<&Typed>) -> Withheld {
        let is_given =
            |one: &Given| today.is_some_and(|today| today.given.iter().any(|now| now.sets(one)));
        let missing = |wanted: fn(Source) -> bool| {
            let missing = self.given.iter().filter(|one| wanted(one.source()) && !is_given(one));
            missing.flat_map(Given::shown).collect()
        };
        Withheld {
            required: missing(|source| matches!(source, Source::CommandLine)),
            optional: missing(|source| matches!(source, Source::Optional)),
        }
    }
}

impl Given {
    fn read(argument: &Arg, matches: &ArgMatches) -> Option<Given> {
        let id = argument.get_id().as_str();
        let is_typed = matches.value_source(id) == Some(ValueSource::CommandLine);
        let values = matches.get_raw(id).into_iter().flatten();
        is_typed.then(|| Given {
            id: id.into(),
            long: argument.get_long().map(String::from),
            is_flag: !argument.get_action().takes_values(),
            values: values.map(|value| value.to_string_lossy().into_owned()).collect(),
        })
    }

    /// Returns where a resumed run takes it from. An option that the table lacks is never taken from a file.
    fn source(&self) -> Source {
        match SOURCES.iter().find(|(id, _)| *id == self.id) {
            Some((_, Source::FileIf(may))) if self.values.iter().all(|value| may(value)) => {
                Source::File
            }
            Some((_, Source::FileIf(_))) | None => Source::CommandLine,
            Some((_, source)) => *source,
        }
    }

    /// Returns whether it sets what `other` sets. Hosts are given in a file or in a list.
    fn sets(&self, other: &Given) -> bool {
        let are_hosts = |given: &Given| ["hosts", "host"].contains(&given.id.as_str());
        self.id == other.id || (are_hosts(self) && are_hosts(other))
    }

    /// Returns the words that give it again.
    fn words(&self) -> Vec<String> {
        match &self.long {
            None => self.values.clone(),
            Some(long) if self.is_flag || self.values.is_empty() => vec![format!("--{long}")],
            Some(long) => self.values.iter().map(|value| format!("--{long}={value}")).collect(),
        }
    }

    /// Returns the words that a user types to give it again. The values may come from a stranger: they are quoted for
    /// the shell, without characters that control a terminal.
    fn shown(&self) -> Vec<String> {
        match &self.long {
            Some(long) if !self.is_flag => {
                self.values.iter().map(|value| format!("--{long} {}", shell_word(value))).collect()
            }
            _ => self.words(),
        }
    }
}

/// Returns words that may come from a stranger as a line for the shell, without characters that control a terminal.
pub(crate) fn shown(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the words of this process's command line.
pub(crate) fn words_of_this_process() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Returns the command that continues the run of a results file, with the options of this process's command line that
/// the file does not set.
pub(crate) fn command_to_resume(results: &Path) -> String {
    let again = Typed::today().map(|today| today.withheld(None).required).unwrap_or_default();
    let results = shell_word(&results.display().to_string());
    ["cornerstone run --resume".into(), results]
        .into_iter()
        .chain(again)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The commands whose results `run` can resume.
const RESUMABLE: [&str; 4] = ["run", "pmp", "corner-turn", "pipeline"];

/// Returns the definition of the command line with every value as text. Reading a value can have effects: that of
/// `--fabric` opens a machine file.
fn definition() -> Definition {
    let as_text = |argument: Arg| match argument.get_action().takes_values() {
        true => argument.value_parser(OsStringValueParser::new()),
        false => argument,
    };
    Arguments::command().mut_subcommands(|one| one.mut_args(as_text))
}

/// Returns a word as it is typed in a shell. Control characters are shown as escapes.
fn shell_word(word: &str) -> String {
    let shown = |c: char| match c {
        _ if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() => c.to_string(),
        _ => c.escape_unicode().to_string(),
    };
    let shown: String = word.chars().map(shown).collect();
    for_shell(shown.as_ref()).to_string_lossy().into_owned()
}
