//! Translates the options of `mpiexec`, as the standard and other MPIs have them, to those of `launch`. The table in
//! [`options`] decides what becomes of each (docs/decisions/0070).

mod configuration;
mod help;
mod hosts;
mod options;
mod output;
mod places;
mod reader;
mod values;

use std::ffi::OsString;
use std::path::Path;

use benchmark::most_similar;
use clap::{Args, CommandFactory, FromArgMatches, Parser};

use super::launch::LaunchArguments;
use crate::failure::Failure;
use reader::{General, Read, Reader, Section};

/// Variable with the time of a run, in seconds, if no option gives it.
const TIME_VARIABLE: &str = "MPIEXEC_TIMEOUT";

#[derive(Args, Debug)]
#[command(after_help = help::text(), disable_help_flag = true)]
pub(crate) struct MpiexecArguments {
    /// Options, a program and its arguments; further programs after a ':'
    #[arg(value_name = "OPTIONS PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Result of parsing the words.
#[derive(Debug)]
pub(crate) enum Mpiexec {
    /// Programs, each with its ranks, and lines about options that have no effect. The options for all are those of the
    /// first.
    Launch(Vec<LaunchArguments>, Vec<String>),
    Help,
    Version,
}

/// The words of `launch` for each program, and lines about options that have no effect.
#[derive(Debug)]
enum Translated {
    Launch(Vec<Vec<OsString>>, Vec<String>),
    Help,
    Version,
}

/// A reader of the options of `launch` alone. Of an option that is given twice the last counts, as everywhere in mpiexec.
#[derive(Debug, Parser)]
#[command(
    name = "mpiexec",
    no_binary_name = true,
    disable_help_flag = true,
    args_override_self = true
)]
struct OptionsOfLaunch {
    #[command(flatten)]
    arguments: LaunchArguments,
}

impl MpiexecArguments {
    /// Parses the words.
    ///
    /// # Errors
    /// If options are unknown, unsupported or missing. The error names them.
    pub(crate) fn read(self) -> Result<Mpiexec, Failure> {
        let time = std::env::var(TIME_VARIABLE).ok();
        match translate(&self.words, time.as_deref())? {
            Translated::Launch(programs, notes) => {
                let programs: Result<Vec<_>, _> = programs.into_iter().map(read_launch).collect();
                programs.map(|programs| Mpiexec::Launch(programs, notes))
            }
            Translated::Help => Ok(Mpiexec::Help),
            Translated::Version => Ok(Mpiexec::Version),
        }
    }

    /// Returns the help.
    pub(crate) fn help() -> String {
        format!(
            "Start MPI programs as several ranks, with the usual options of mpiexec\n\n\
             Usage: mpiexec [OPTIONS] PROGRAM [ARGUMENTS]... [: [OPTIONS] PROGRAM [ARGUMENTS]...]...\n\n{}",
            help::text()
        )
    }
}

/// Translates a command line. `time` is the value of the variable that limits the time of a run.
fn translate(words: &[OsString], time: Option<&str>) -> Result<Translated, Failure> {
    let mut general = General::default();
    let mut sections = Vec::new();
    if let Some(time) = time.filter(|time| !time.is_empty()) {
        general.options.extend(limit(time)?);
    }
    for part in words.split(|word| word == ":") {
        let is_first = sections.is_empty();
        let reader = Reader { words: part.iter(), is_first, general: &mut general };
        match reader.section()? {
            Read::Section(section) => sections.push(section.checked()?),
            Read::File(file) => {
                sections.extend(sections_of_file(Path::new(&file), &mut general)?);
            }
            Read::Help => return Ok(Translated::Help),
            Read::Version => return Ok(Translated::Version),
        }
    }
    general.launches(sections)
}

/// Returns the option of `launch` for a time in seconds.
fn limit(time: &str) -> Result<Vec<OsString>, Failure> {
    match time.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 => Ok(vec!["--timeout".into(), time.into()]),
        // MPICH takes these for no limit.
        Ok(_) => Ok(Vec::new()),
        Err(_) => Err(Failure::usage(format!(
            "{TIME_VARIABLE} has the value '{time}', which is no number of seconds"
        ))),
    }
}

/// Reads the programs of a file. A line without a program has options for all.
fn sections_of_file(path: &Path, general: &mut General) -> Result<Vec<Section>, Failure> {
    let mut sections = Vec::new();
    for (line, words) in configuration::read(path)? {
        for part in words.split(|word| word == ":") {
            let reader = Reader { words: part.iter(), is_first: true, general };
            let wrong =
                |failure: Failure| failure.of(&format!("'{}', line {line}", path.display()));
            match reader.section().map_err(wrong)? {
                Read::Section(section) if section.is_empty() => {}
                Read::Section(section) => sections.push(section.checked().map_err(wrong)?),
                Read::File(_) | Read::Help | Read::Version => {
                    return Err(wrong(Failure::usage("mpiexec: this option is not for a file")));
                }
            }
        }
    }
    match sections.is_empty() {
        true => Err(Failure::usage(format!("mpiexec: '{}' names no program", path.display()))),
        false => Ok(sections),
    }
}

impl Section {
    /// Returns whether nothing is in it.
    fn is_empty(&self) -> bool {
        *self == Section::default()
    }

    /// Returns it, with the number of its ranks among those that will do.
    fn checked(mut self) -> Result<Self, Failure> {
        if self.program.is_empty() {
            return Err(Failure::usage("mpiexec: there is no program to start")
                .hint("write a program after the options, and one after each ':'"));
        }
        if let Some(list) = &self.soft {
            let largest = values::largest_of(list, self.ranks);
            self.ranks = Some(largest.ok_or_else(|| {
                Failure::usage(format!("mpiexec: -soft {list} names no number of ranks up to -n"))
                    .hint("write numbers such as 1,2,8 or from 4 to 16 by 4 as 4:16:4")
            })?);
        }
        Ok(self)
    }
}

impl General {
    /// Returns the words of `launch` for each program.
    fn launches(mut self, sections: Vec<Section>) -> Result<Translated, Failure> {
        let default = match (&self.hosts, self.places.ranks_per_host) {
            (Some(hosts), Some(each)) if sections.len() == 1 => hosts.len() * each,
            _ => 1,
        };
        let ranks = |section: &Section| section.ranks.unwrap_or(default);
        let all: usize = sections.iter().map(ranks).sum();
        let mut of_all = self.host_words(&sections, all)?;
        let mut notes = std::mem::take(&mut self.notes);
        of_all
            .extend(self.places.words(&mut |option, why| notes.push((option.into(), why.into()))));
        if let Some((option, name)) = self.interface.take() {
            match of_all.contains(&"--host".into()) {
                true => of_all.extend(["--interfaces".into(), name]),
                false => notes.push((option, "all ranks are on this host".into())),
            }
        }
        let mut launches = Vec::new();
        for section in sections {
            let mut words: Vec<OsString> = vec!["-n".into(), ranks(&section).to_string().into()];
            if launches.is_empty() {
                words.append(&mut self.options);
                words.append(&mut of_all);
            }
            words.extend(self.variables.iter().cloned());
            words.extend(section.own);
            words.push("--".into());
            words.extend(section.program);
            launches.push(words);
        }
        let line = |(option, why): (String, String)| format!("{option} has no effect: {why}");
        let mut lines: Vec<String> = notes.into_iter().map(line).collect();
        if self.is_quiet {
            lines.clear();
        }
        if self.is_verbose {
            let line = |(option, why): (String, String)| format!("{option} is needless: {why}");
            lines.extend(self.needless.into_iter().map(line));
        }
        Ok(Translated::Launch(launches, lines))
    }

    /// Returns the options for the hosts, with slots for all ranks. Empty if this host is the only one: it takes any
    /// number of ranks.
    fn host_words(&self, sections: &[Section], ranks: usize) -> Result<Vec<OsString>, Failure> {
        let names_fabric =
            self.options.iter().any(|word| word.as_encoded_bytes().starts_with(b"--fabric"));
        let of_first = self.hosts.as_deref().unwrap_or_default();
        let others = sections.iter().filter_map(|section| section.hosts.as_deref());
        for hosts in others {
            if !hosts::are_here(hosts) && hosts != of_first {
                return Err(Failure::usage("mpiexec: several programs run on this host alone")
                    .hint("start one program that knows its part by its rank"));
            }
        }
        if of_first.is_empty() || hosts::are_here(of_first) && !names_fabric {
            return Ok(Vec::new());
        }
        Ok(hosts::words(of_first, ranks, self.places.ranks_per_host, self.places.by_node))
    }
}

/// Least similarity of a suggested option.
const SIMILAR: f64 = 0.8;

/// Returns the failure of an option that nobody knows, with the one that is most like it.
fn unknown(text: &str) -> Failure {
    let meant = nearest(text).map(|nearest| format!("did you mean {nearest}? "));
    Failure::usage(format!("mpiexec does not know the option '{text}'"))
        .hint(format!("{}`mpiexec -help` lists the options", meant.unwrap_or_default()))
}

/// Returns the option that is most like an unknown one: of the table, or of `launch`.
fn nearest(unknown: &str) -> Option<String> {
    let own = self::options::all().flat_map(|option| option.names).map(|name| format!("-{name}"));
    let command = OptionsOfLaunch::command();
    let others = command.get_arguments().filter_map(|option| option.get_long());
    let options: Vec<String> = own.chain(others.map(|name| format!("--{name}"))).collect();
    let unknown = unknown.split('=').next().unwrap_or_default();
    let names = options.iter().map(|option| option.trim_start_matches('-'));
    let nearest = most_similar(unknown.trim_start_matches('-'), names, SIMILAR)?;
    options.iter().find(|option| option.trim_start_matches('-') == nearest).cloned()
}

/// Returns the arguments of `launch` from its words.
pub(crate) fn read_launch(words: Vec<OsString>) -> Result<LaunchArguments, Failure> {
    let wrong = |error: clap::Error| {
        let text = error.to_string();
        let problem = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Failure::usage(format!("mpiexec: {problem}")).hint("`mpiexec -help` lists the options")
    };
    let matches = OptionsOfLaunch::command().try_get_matches_from(words).map_err(wrong)?;
    OptionsOfLaunch::from_arg_matches(&matches).map(|read| read.arguments).map_err(wrong)
}

#[cfg(test)]
mod spellings;
#[cfg(test)]
mod tests;
