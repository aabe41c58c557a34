//! Reads the words of mpiexec, and translates them to those of `launch`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, CommandFactory};

use super::hosts::{self, NamedHost};
use super::options::{self, Action, Meaning, MpiexecOption};
use super::places::Places;
use super::{OptionsOfLaunch, output, unknown, values};
use crate::failure::Failure;

/// Options before one program.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Section {
    pub(super) ranks: Option<usize>,
    pub(super) soft: Option<String>,
    path: Option<OsString>,
    /// Its hosts, if they are not those of the first program.
    pub(super) hosts: Option<Vec<NamedHost>>,
    /// Options of `launch`, for this program only.
    pub(super) own: Vec<OsString>,
    pub(super) program: Vec<OsString>,
}

/// Options for all programs.
#[derive(Debug, Default)]
pub(super) struct General {
    pub(super) hosts: Option<Vec<NamedHost>>,
    pub(super) places: Places,
    pub(super) interface: Option<(String, OsString)>,
    /// Options of `launch`.
    pub(super) options: Vec<OsString>,
    /// Variables of every program.
    pub(super) variables: Vec<OsString>,
    /// Options without effect, and the reasons.
    pub(super) notes: Vec<(String, String)>,
    /// Options that ask for what happens anyway, and the reasons.
    pub(super) needless: Vec<(String, String)>,
    pub(super) is_quiet: bool,
    pub(super) is_verbose: bool,
}

impl General {
    /// Adds a note on an option without effect.
    pub(super) fn note(&mut self, option: &str, why: &str) {
        let note = (option.to_owned(), why.to_owned());
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// What a section of the command line is.
pub(super) enum Read {
    Section(Section),
    /// The programs are in a file.
    File(OsString),
    Help,
    Version,
}

/// Words of one section.
pub(super) struct Reader<'a> {
    pub(super) words: std::slice::Iter<'a, OsString>,
    /// True if options for all programs are allowed.
    pub(super) is_first: bool,
    pub(super) general: &'a mut General,
}

impl Reader<'_> {
    /// Reads options up to the program.
    pub(super) fn section(mut self) -> Result<Read, Failure> {
        let mut section = Section::default();
        while let Some(word) = self.words.next() {
            let text = word.to_string_lossy().into_owned();
            let name = text.strip_prefix("--").or(text.strip_prefix('-')).unwrap_or_default();
            if name.is_empty() {
                section.program.extend((text != "--").then(|| word.clone()));
                section.program.extend(self.words.by_ref().cloned());
                break;
            }
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (name, None),
            };
            let Some(entry) = options::find(name) else {
                self.is_of_all(&text)?;
                self.launch(&text)?;
                continue;
            };
            let option = text.split('=').next().unwrap_or_default().to_owned();
            match self.take(entry, &option, value, &mut section)? {
                None => {}
                Some(read) => return Ok(read),
            }
        }
        section.program = section.find_program();
        Ok(Read::Section(section))
    }

    /// Refuses an option for all programs after a ':'.
    fn is_of_all(&self, option: &str) -> Result<(), Failure> {
        match self.is_first {
            true => Ok(()),
            false => Err(Failure::usage(format!("mpiexec: '{option}' stands after a ':'"))
                .hint("put options for all programs before the first ':'")),
        }
    }

    /// Takes a known option. Returns what ends the section, if it does.
    fn take(
        &mut self,
        entry: &MpiexecOption,
        option: &str,
        value: Option<&str>,
        section: &mut Section,
    ) -> Result<Option<Read>, Failure> {
        let mut given = self.values(entry, option, value)?;
        let written = [&[OsString::from(option)], &given[..]].concat().join(OsStr::new(" "));
        let action = match entry.meaning {
            Meaning::Done(action, _) => action,
            Meaning::Needless(why) => {
                self.general.needless.push((written.to_string_lossy().into_owned(), why.into()));
                return Ok(None);
            }
            Meaning::Ignored(why) => {
                self.general.note(&written.to_string_lossy(), why);
                return Ok(None);
            }
            Meaning::Refused(instead) => {
                return Err(
                    Failure::usage(format!("mpiexec: {option} is not supported")).hint(instead)
                );
            }
        };
        let first = given.first().cloned().unwrap_or_default();
        match action {
            Action::Help => return Ok(Some(Read::Help)),
            Action::Version => return Ok(Some(Read::Version)),
            Action::ConfigurationFile => {
                self.is_of_all(option)?;
                return self.configuration(option, section, first).map(Some);
            }
            _ if !action.is_of_program() => {
                self.is_of_all(option)?;
                self.of_all(action, option, &mut given)?;
            }
            _ => self.of_program(action, option, given, section)?,
        }
        Ok(None)
    }

    /// Returns the values of an option.
    fn values(
        &mut self,
        entry: &MpiexecOption,
        option: &str,
        value: Option<&str>,
    ) -> Result<Vec<OsString>, Failure> {
        match (value, entry.values) {
            (None, values) => {
                let mut given = Vec::new();
                for _ in values {
                    given.push(self.value(option)?);
                    // `NAME=VALUE` in place of `NAME VALUE`.
                    let is_pair = entry.values == ["NAME", "VALUE"];
                    if is_pair && given[0].as_encoded_bytes().contains(&b'=') {
                        break;
                    }
                }
                Ok(given)
            }
            (Some(value), [_]) => Ok(vec![value.into()]),
            (Some(_), []) => Err(Failure::usage(format!("mpiexec: {option} takes no value"))),
            (Some(_), _) => Err(Failure::usage(format!("mpiexec: {option} needs blanks"))
                .hint(format!("write {option} {}", entry.values.join(" ")))),
        }
    }

    fn value(&mut self, option: &str) -> Result<OsString, Failure> {
        let missing = || Failure::usage(format!("mpiexec: {option} needs a value"));
        self.words.next().cloned().ok_or_else(missing)
    }

    /// Ends the command line with a file of programs.
    fn configuration(
        &mut self,
        option: &str,
        section: &Section,
        file: OsString,
    ) -> Result<Read, Failure> {
        if !section.is_empty() || self.words.next().is_some() {
            return Err(Failure::usage(format!(
                "mpiexec: {option} stands last, after options for all programs"
            ))
            .hint("put the options of each program into its line of the file"));
        }
        Ok(Read::File(file))
    }

    /// Takes an option of the program that follows.
    fn of_program(
        &mut self,
        action: Action,
        option: &str,
        values: Vec<OsString>,
        section: &mut Section,
    ) -> Result<(), Failure> {
        let first = values[0].clone();
        let text = first.to_string_lossy().into_owned();
        match action {
            Action::Ranks => section.ranks = Some(number(option, &first)?),
            Action::Soft => section.soft = Some(text),
            Action::Architecture => values::check_architecture(&text)?,
            Action::SearchPath => section.path = Some(first),
            Action::OfProgram(name) => section.own.extend([name.into(), first]),
            Action::ErrorHandler if values::ERROR_HANDLERS.contains(&&*text) => {
                let variable = format!("{}={text}", values::ERROR_HANDLER_VARIABLE);
                section.own.extend(["--env".into(), variable.into()]);
            }
            Action::ErrorHandler => {
                return Err(Failure::usage(format!("mpiexec: {option} {text} is not supported"))
                    .hint(format!("write {}", values::ERROR_HANDLERS.join(", "))));
            }
            Action::Variable { .. } => section.own.extend(["--env".into(), variable(values)]),
            Action::Variables { .. } => section.own.extend(listed(&text)),
            Action::Hosts if self.is_first => self.general.hosts = Some(hosts::listed(&text)?),
            Action::Hosts => section.hosts = Some(hosts::listed(&text)?),
            _ => unreachable!("an option of a program"),
        }
        Ok(())
    }

    /// Takes an option for all programs.
    fn of_all(
        &mut self,
        action: Action,
        option: &str,
        values: &mut Vec<OsString>,
    ) -> Result<(), Failure> {
        let first = values.first().cloned().unwrap_or_default();
        let text = first.to_string_lossy().into_owned();
        let general = &mut *self.general;
        match action {
            Action::Variable { .. } => {
                general.variables.extend(["--env".into(), variable(std::mem::take(values))]);
            }
            Action::Variables { .. } => general.variables.extend(listed(&text)),
            Action::HostsFile => general.hosts = Some(hosts::of_file(Path::new(&first))?),
            Action::RanksPerHost => {
                general.places.ranks_per_host = Some(number(option, &first)?);
            }
            Action::OneRankPerHost => general.places.ranks_per_host = Some(1),
            Action::ByNode => general.places.by_node = true,
            Action::Binding => general.places.bind(option, &text)?,
            Action::Mapping => general.places.map(option, &text)?,
            Action::Ranking => general.places.rank(option, &text)?,
            Action::Agent => general.options.extend(["--agent".into(), first]),
            Action::Starter => starter(option, &text)?,
            Action::Interface => general.interface = Some((option.into(), first)),
            Action::Parameter => parameter(general, option, &text, &values[1..]),
            Action::Words(words) => general.options.extend(words.iter().map(OsString::from)),
            Action::Passed(name) => general.options.extend([name.into(), first]),
            // Open MPI and Hydra take these for no limit.
            Action::Seconds(_) if ["0", "-1"].contains(&&*text) => {}
            Action::Seconds(name) => general.options.extend([name.into(), first]),
            Action::OutputFolder => general.options.extend(output::folder(&text)),
            Action::OutputList => general.options.extend(output::list(option, &text)?),
            Action::DisplayList => {
                let (shows_places, without_effect) = output::displayed(option, &text)?;
                general.options.extend(shows_places.then(|| "--show-places".into()));
                let why = "--show-places prints where ranks run";
                without_effect.iter().for_each(|option| general.note(option, why));
            }
            Action::Quiet => general.is_quiet = true,
            Action::Verbose => {
                general.is_verbose = true;
                general.options.push("--show-places".into());
            }
            Action::Prefix => self.prefix(option)?,
            _ => unreachable!("an option for all programs"),
        }
        Ok(())
    }

    /// Takes `--prefix FOLDER` of Open MPI, or `--prefix` of `launch`.
    fn prefix(&mut self, option: &str) -> Result<(), Failure> {
        let next = self.words.as_slice().first().cloned().unwrap_or_default();
        let path = Path::new(&next);
        let is_option = next.as_encoded_bytes().starts_with(b"-");
        if path.is_dir() && !next.is_empty() {
            self.words.next();
            let why = "other hosts have this program at the same path";
            self.general.note(&format!("{option} {}", path.display()), why);
        } else if !is_option && path.components().count() > 1 && !path.exists() {
            return Err(Failure::usage(format!("mpiexec: '{}' is no folder", path.display()))
                .hint(
                    "leave --prefix FOLDER out: it is Open MPI's; -l prefixes lines with ranks",
                ));
        } else {
            self.general.options.push("--prefix".into());
        }
        Ok(())
    }

    /// Takes an option of `launch`.
    fn launch(&mut self, text: &str) -> Result<(), Failure> {
        let written = text.strip_prefix("--").ok_or_else(|| unknown(text))?;
        let (name, value) = written.split_once('=').map_or((written, None), |(n, v)| (n, Some(v)));
        let command = OptionsOfLaunch::command();
        let is_it = |entry: &&Arg| entry.get_long() == Some(name);
        let entry = command.get_arguments().find(is_it).ok_or_else(|| unknown(text))?;
        // A value that may be missing stands behind a '='. The next word is not it.
        let needs_value = entry.get_action().takes_values() && !entry.is_require_equals_set();
        self.general.options.push(text.into());
        if needs_value && value.is_none() {
            let value = self.value(text)?;
            self.general.options.push(value);
        }
        Ok(())
    }
}

impl Section {
    /// Returns the program with its arguments, found in the folders that are given for it.
    fn find_program(&self) -> Vec<OsString> {
        let mut program = self.program.clone();
        let found =
            |first: &OsString| values::search(Path::new(self.path.as_ref()?), Path::new(first));
        if let Some(path) = program.first().and_then(found) {
            program[0] = path.into();
        }
        program
    }
}

/// Takes the name of what starts ranks on other hosts.
fn starter(option: &str, name: &str) -> Result<(), Failure> {
    match name {
        "ssh" | "fork" | "user" | "local" => Ok(()),
        _ => Err(Failure::usage(format!("mpiexec: {option} {name} is not supported")).hint(
            "other hosts, also those of a job of SLURM, PBS or LSF, are reached by ssh, or by what \
             -launcher-exec names",
        )),
    }
}

/// Takes a parameter of Open MPI.
fn parameter(general: &mut General, option: &str, name: &str, value: &[OsString]) {
    match (name, value) {
        ("plm_rsh_agent" | "plm_ssh_agent" | "orte_rsh_agent", [agent]) => {
            general.options.extend(["--agent".into(), agent.clone()]);
        }
        _ => general.note(&format!("{option} {name}"), "it configures the components of Open MPI"),
    }
}

fn number(option: &str, value: &OsStr) -> Result<usize, Failure> {
    let number = value.to_str().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    number.ok_or_else(|| {
        let given = value.to_string_lossy();
        Failure::usage(format!("mpiexec: {option} needs a number of at least 1, not '{given}'"))
    })
}

/// Returns `NAME VALUE` or `NAME=VALUE` as the latter.
fn variable(words: Vec<OsString>) -> OsString {
    words.join(OsStr::new("="))
}

/// Returns the options of `launch` for the variables of `A,B`.
fn listed(names: &str) -> Vec<OsString> {
    names.split(',').flat_map(|name| ["--env".into(), name.into()]).collect()
}
