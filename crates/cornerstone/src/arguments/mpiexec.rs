//! Translates the options of `mpiexec`, as other MPIs have them, to those of `launch`.

use std::ffi::{OsStr, OsString};

use benchmark::most_similar;
use clap::{Args, CommandFactory, FromArgMatches, Parser};

use super::launch::LaunchArguments;
use crate::failure::Failure;

const MPIEXEC_HELP: &str = "\
Options, with one dash or two; options after a ':' are for the program that follows:
  -n, -np NUMBER             the number of ranks [default: 1, or -ppn times the hosts]
  -wdir, -wd FOLDER          the working directory of its ranks
  -env NAME VALUE            an environment variable of its ranks
  -x NAME[=VALUE]            the same; without a value, the value in this process

Options for all programs, before the first ':':
  -host, -hosts, -H LIST     hosts: NAME or NAME:SLOTS, separated by commas
  -f, -machinefile, -hostfile FILE    a file with one host per line
  -ppn, -perhost, -N NUMBER  the ranks on each host that -host names without slots
  -launcher-exec PROGRAM     the program that reaches other hosts, called like ssh
  -genv NAME VALUE           an environment variable of all ranks
  -genvlist NAMES            variables of this process for all ranks, separated by commas
  -l, -prepend-rank          prefix each line of output with its rank
  -bind-to core|none         a processor for each rank, or as the system decides
  -version, -help

Options of `cornerstone launch`, with two dashes:
  --check, --check-leaks     report mistakes in the use of buffers, and objects that are not freed
  --check-report FILE        write what is found, by the ending: .txt, .json, .sarif or .xml (JUnit)
  --suppressions FILE        do not count findings that a line of FILE names: KIND [FILE [FUNCTION]]
  --report[=FILE]            report the time by call and line, waits, and the critical path
  --trace FILE               write a trace of all calls for Perfetto
  --on-hang, --watch, --fabric and others    `cornerstone launch --help` explains them

-oversubscribe, -allow-run-as-root, -genvall and -envall are accepted without effect:
ranks may always oversubscribe, may run as root, and have this process's environment. The exit
status is that of `cornerstone launch`.

Examples:
  mpiexec -n 4 ./program input.txt
  mpiexec -n 1 ./server : -n 3 -env ROLE client ./client
  mpiexec -hosts alpha,beta -ppn 8 ./program";

#[derive(Args, Debug)]
#[command(after_help = MPIEXEC_HELP, disable_help_flag = true)]
pub(crate) struct MpiexecArguments {
    /// Options, a program and its arguments; further programs after a ':'
    #[arg(value_name = "OPTIONS PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Result of parsing the words.
#[derive(Debug)]
pub(crate) enum Mpiexec {
    /// Programs, each with its ranks. The options for all are those of the first.
    Launch(Vec<LaunchArguments>),
    Help,
    Version,
}

/// A reader of the options of `launch` alone.
#[derive(Debug, Parser)]
#[command(name = "mpiexec", no_binary_name = true, disable_help_flag = true)]
struct OptionsOfLaunch {
    #[command(flatten)]
    arguments: LaunchArguments,
}

/// Options before one program.
#[derive(Debug, Default)]
struct Section {
    ranks: Option<usize>,
    /// Options of `launch`, for this program only.
    own: Vec<OsString>,
    program: Vec<OsString>,
}

/// Options for all programs.
#[derive(Debug, Default)]
struct General {
    hosts: Option<String>,
    ranks_per_host: Option<usize>,
    /// Options of `launch`.
    options: Vec<OsString>,
    /// Variables of every program.
    variables: Vec<OsString>,
}

impl MpiexecArguments {
    /// Parses the words.
    ///
    /// # Errors
    /// If options are unknown, unsupported or missing. The error names them.
    pub(crate) fn read(self) -> Result<Mpiexec, Failure> {
        let mut general = General::default();
        let mut sections = Vec::new();
        for words in self.words.split(|word| word == ":") {
            let mut reader = Reader { words: words.iter(), is_first: sections.is_empty() };
            match reader.section(&mut general)? {
                Read::Section(section) => sections.push(section),
                Read::Help => return Ok(Mpiexec::Help),
                Read::Version => return Ok(Mpiexec::Version),
            }
        }
        general.launches(sections).map(Mpiexec::Launch)
    }

    /// Returns the help.
    pub(crate) fn help() -> String {
        format!(
            "Start MPI programs as several ranks, with the usual options of mpiexec\n\n\
             Usage: mpiexec [OPTIONS] PROGRAM [ARGUMENTS]... [: [OPTIONS] PROGRAM [ARGUMENTS]...]...\n\n\
             {MPIEXEC_HELP}"
        )
    }
}

enum Read {
    Section(Section),
    Help,
    Version,
}

/// Words of one section.
struct Reader<'a> {
    words: std::slice::Iter<'a, OsString>,
    is_first: bool,
}

impl Reader<'_> {
    fn section(&mut self, general: &mut General) -> Result<Read, Failure> {
        let mut section = Section::default();
        while let Some(word) = self.words.next() {
            let text = word.to_string_lossy().into_owned();
            let name = text.strip_prefix("--").or(text.strip_prefix('-')).unwrap_or_default();
            match (name, text.as_str()) {
                (_, "--") => section.program.extend(self.words.by_ref().cloned()),
                ("help" | "h" | "?", _) => return Ok(Read::Help),
                ("version" | "V", _) => return Ok(Read::Version),
                ("", _) => {
                    section.program.push(word.clone());
                    section.program.extend(self.words.by_ref().cloned());
                }
                _ if self.own(name, &text, &mut section)? => {}
                _ if !self.is_first => {
                    return Err(Failure::usage(format!("mpiexec: '{text}' stands after a ':'"))
                        .hint("put options for all programs before the first ':'"));
                }
                _ if self.hosts(name, &text, general)? => {}
                _ if self.general(name, &text, general)? => {}
                _ => self.launch(&text, general)?,
            }
        }
        if section.program.is_empty() {
            return Err(Failure::usage("mpiexec: there is no program to start")
                .hint("write a program after the options, and one after each ':'"));
        }
        Ok(Read::Section(section))
    }

    /// Takes an option of one program, if it is one.
    fn own(&mut self, name: &str, text: &str, section: &mut Section) -> Result<bool, Failure> {
        match name {
            "n" | "np" | "c" => section.ranks = Some(self.number(text)?),
            "wdir" | "wd" => section.own.extend(["--wdir".into(), self.value(text)?]),
            "env" => {
                let variable = self.variable(text)?;
                section.own.extend(["--env".into(), variable]);
            }
            "x" => section.own.extend(["--env".into(), self.value(text)?]),
            "envlist" => section.own.extend(self.listed(text)?),
            "envall" | "oversubscribe" | "allow-run-as-root" => {}
            "envnone" | "path" | "arch" | "soft" | "configfile" | "file" => {
                return Err(Failure::usage(format!("mpiexec: {text} is not supported"))
                    .hint("`mpiexec -help` lists the supported options"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes an option for the placement of ranks, if it is one.
    fn hosts(&mut self, name: &str, text: &str, general: &mut General) -> Result<bool, Failure> {
        match name {
            "host" | "hosts" | "H" => {
                general.hosts = Some(self.value(text)?.to_string_lossy().into_owned());
            }
            "f" | "machinefile" | "hostfile" => {
                general.options.extend(["--hosts".into(), self.value(text)?]);
            }
            "ppn" | "perhost" | "npernode" | "N" => {
                general.ranks_per_host = Some(self.number(text)?);
            }
            "launcher-exec" => general.options.extend(["--agent".into(), self.value(text)?]),
            "launcher" => match self.value(text)?.to_str() {
                Some("ssh") => {}
                other => {
                    let other = other.unwrap_or("that");
                    return Err(Failure::usage(format!(
                        "mpiexec: {text} {other} is not supported"
                    ))
                    .hint("other hosts are reached by ssh, or by what -launcher-exec names"));
                }
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes another option for all programs, if it is one.
    fn general(&mut self, name: &str, text: &str, general: &mut General) -> Result<bool, Failure> {
        match name {
            "genv" => {
                let variable = self.variable(text)?;
                general.variables.extend(["--env".into(), variable]);
            }
            "genvlist" => general.variables.extend(self.listed(text)?),
            "genvall" => {}
            "l" | "prepend-rank" | "tag-output" => general.options.push("--prefix".into()),
            "bind-to" => {
                let binding = match self.value(text)?.to_str() {
                    Some("core" | "hwthread") => "core",
                    Some("none") => "none",
                    _ => {
                        return Err(Failure::usage(format!("mpiexec: {text} takes core or none")));
                    }
                };
                general.options.extend(["--bind".into(), binding.into()]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes an option of `launch`.
    fn launch(&mut self, text: &str, general: &mut General) -> Result<(), Failure> {
        let unknown = || {
            let meant = nearest(text).map(|known| format!("did you mean {known}? "));
            Failure::usage(format!("mpiexec does not know the option '{text}'"))
                .hint(format!("{}`mpiexec -help` lists the options", meant.unwrap_or_default()))
        };
        let written = text.strip_prefix("--").ok_or_else(unknown)?;
        let (name, value) = written.split_once('=').map_or((written, None), |(n, v)| (n, Some(v)));
        let command = OptionsOfLaunch::command();
        let known = command.get_arguments().find(|known| known.get_long() == Some(name));
        let known = known.ok_or_else(unknown)?;
        // A value that may be missing stands behind a '='. The next word is not it.
        let needs_value = known.get_action().takes_values() && !known.is_require_equals_set();
        general.options.push(text.into());
        if needs_value && value.is_none() {
            general.options.push(self.value(text)?);
        }
        Ok(())
    }

    fn value(&mut self, option: &str) -> Result<OsString, Failure> {
        let missing = || Failure::usage(format!("mpiexec: {option} needs a value"));
        self.words.next().cloned().ok_or_else(missing)
    }

    fn number(&mut self, option: &str) -> Result<usize, Failure> {
        let value = self.value(option)?;
        let number = value.to_str().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
        number.ok_or_else(|| {
            let given = value.to_string_lossy();
            Failure::usage(format!("mpiexec: {option} needs a number of at least 1, not '{given}'"))
        })
    }

    /// Returns `NAME VALUE` or `NAME=VALUE` as the latter.
    fn variable(&mut self, option: &str) -> Result<OsString, Failure> {
        let mut variable = self.value(option)?;
        if !variable.to_string_lossy().contains('=') {
            variable.push(OsStr::new("="));
            variable.push(self.value(option)?);
        }
        Ok(variable)
    }

    /// Returns the variables of `A,B`.
    fn listed(&mut self, option: &str) -> Result<Vec<OsString>, Failure> {
        let names = self.value(option)?.to_string_lossy().into_owned();
        Ok(names.split(',').flat_map(|name| ["--env".into(), name.into()]).collect())
    }
}

impl General {
    /// Returns the arguments of `launch` for each program.
    fn launches(self, sections: Vec<Section>) -> Result<Vec<LaunchArguments>, Failure> {
        let names = self.hosts.as_deref().map(|list| list.split(',').count());
        let alone = sections.len() == 1;
        let default = match (names, self.ranks_per_host) {
            (Some(hosts), Some(each)) if alone => hosts * each,
            _ => 1,
        };
        let ranks = |section: &Section| section.ranks.unwrap_or(default);
        let all: usize = sections.iter().map(ranks).sum();
        let mut launches = Vec::new();
        for section in sections {
            let mut words: Vec<OsString> = vec!["-n".into(), ranks(&section).to_string().into()];
            if launches.is_empty() {
                words.extend(self.options.iter().cloned());
                words.extend(self.host_words(all));
            }
            words.extend(self.variables.iter().cloned());
            words.extend(section.own);
            words.push("--".into());
            words.extend(section.program);
            launches.push(read_launch(words)?);
        }
        Ok(launches)
    }

    /// Returns the option for the hosts, with slots for all ranks. Empty if this host is the only one.
    fn host_words(&self, ranks: usize) -> Vec<OsString> {
        let Some(list) = &self.hosts else { return Vec::new() };
        let hosts: Vec<&str> = list.split(',').collect();
        if hosts.iter().all(|host| ["localhost", "127.0.0.1"].contains(host)) {
            return Vec::new();
        }
        let each = self.ranks_per_host.unwrap_or(ranks.div_ceil(hosts.len()));
        let with_slots = |host: &&str| match host.contains(':') {
            true => host.to_string(),
            false => format!("{host}:{each}"),
        };
        let hosts: Vec<String> = hosts.iter().map(with_slots).collect();
        vec!["--host".into(), hosts.join(",").into()]
    }
}

/// Least similarity of a suggested option.
const SIMILAR: f64 = 0.8;

/// Returns the option that is most like an unknown one: of the help, or of `launch`.
fn nearest(unknown: &str) -> Option<String> {
    let own = MPIEXEC_HELP.split_whitespace().map(|word| word.trim_end_matches([',', '.']));
    let own = own.filter(|word| word.starts_with('-') && !word.contains('[')).map(String::from);
    let command = OptionsOfLaunch::command();
    let others = command.get_arguments().filter_map(|known| known.get_long());
    let options: Vec<String> = own.chain(others.map(|name| format!("--{name}"))).collect();
    let unknown = unknown.split('=').next().unwrap_or_default();
    let names = options.iter().map(|option| option.trim_start_matches('-'));
    let nearest = most_similar(unknown.trim_start_matches('-'), names, SIMILAR)?;
    options.iter().rfind(|option| option.trim_start_matches('-') == nearest).cloned()
}

/// Returns the arguments of `launch` from its words.
pub(crate) fn read_launch(words: Vec<OsString>) -> Result<LaunchArguments, Failure> {
    let wrong = |error: clap::Error| {
        let text = error.to_string();
        let told = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Failure::usage(format!("mpiexec: {told}")).hint("`mpiexec -help` lists the options")
    };
    let matches = OptionsOfLaunch::command().try_get_matches_from(words).map_err(wrong)?;
    OptionsOfLaunch::from_arg_matches(&matches).map(|read| read.arguments).map_err(wrong)
}

#[cfg(test)]
mod tests;
