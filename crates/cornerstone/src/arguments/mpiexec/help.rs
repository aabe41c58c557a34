//! The help of mpiexec and the page docs/mpiexec.md, from the table of options.

use super::options::{Meaning, MpiexecOption, PARTS};

const BEGIN: &str = "\
Options, with one dash or two; a value may also follow a '='. For the program that follows:";

const OF_LAUNCH: &str = "\
Options of `cornerstone launch`, with two dashes:
  --check, --check-leaks     report mistakes in the use of buffers, and objects that are not freed
  --check-report FILE        write what is found, by the ending: .txt, .json, .sarif or .xml (JUnit)
  --suppressions FILE        do not count findings that a line of FILE names: KIND [FILE [FUNCTION]]
  --report[=FILE]            report the time by call and line, waits, and the critical path
  --trace FILE               write a trace of all calls for Perfetto
  --on-hang, --watch, --fabric and others    `cornerstone launch --help` explains them";

const END: &str = "\
Other options of MPICH, Intel MPI and Open MPI are accepted if they ask for what happens anyway,
accepted with a note if they configure the inside of those MPIs, and else refused with what to write
instead. The page mpiexec.md of the documentation lists them. The exit status is that of
`cornerstone launch`.

Each rank has its number in CORNERSTONE_MPI_RANK and PMI_RANK, the number of ranks in
CORNERSTONE_MPI_SIZE and PMI_SIZE, and the same among the ranks of its host in
CORNERSTONE_MPI_LOCAL_RANK and MPI_LOCALRANKID, CORNERSTONE_MPI_LOCAL_SIZE and MPI_LOCALNRANKS.

Examples:
  mpiexec -n 4 ./program input.txt
  mpiexec -n 1 ./server : -n 3 -env ROLE client ./client
  mpiexec -n 4 --timeout 60 -outfile-pattern 'out/%r.txt' ./program
  mpiexec -n 4 sh -c 'exec valgrind --log-file=valgrind.$PMI_RANK ./program'
  mpiexec -hosts alpha,beta -ppn 8 ./program";

/// Column of the explanations.
const COLUMN: usize = 28;
const WIDTH: usize = 100;

/// Returns the help after the usage.
pub(super) fn text() -> String {
    let mut text = String::from(BEGIN);
    let is_of_program = |option: &MpiexecOption| match option.meaning {
        Meaning::Done(action, _) => action.is_of_program(),
        _ => false,
    };
    let done = |of_program: bool| {
        let options = PARTS.iter().flat_map(|(_, options)| *options);
        options.filter(move |option| is_of_program(option) == of_program).filter_map(line)
    };
    done(true).for_each(|line| text += &line);
    text += "\n\nFor all programs, before the first ':':";
    done(false).for_each(|line| text += &line);
    format!("{text}\n\n{OF_LAUNCH}\n\n{END}")
}

/// Returns the lines of an option that is carried out, each after the end of the line before.
fn line(option: &MpiexecOption) -> Option<String> {
    let Meaning::Done(_, words) = option.meaning else { return None };
    let names: Vec<String> = option.names.iter().map(|name| format!("-{name}")).collect();
    let head =
        [&[names.join(", ")], &option.values.iter().map(|v| v.to_string()).collect::<Vec<_>>()[..]];
    let head = head.concat().join(" ");
    let mut line = format!("\n  {head:<width$}", width = COLUMN - 2);
    if head.len() + 2 > COLUMN {
        line += &format!("\n{:COLUMN$}", "");
    }
    let mut column = COLUMN;
    for word in words.split(' ') {
        if column + word.len() >= WIDTH {
            line += &format!("\n{:COLUMN$}", "");
            column = COLUMN;
        }
        line += &format!(" {word}");
        column += word.len() + 1;
    }
    Some(line)
}

/// Returns the tables of docs/mpiexec.md.
#[cfg(test)]
pub(super) fn tables() -> String {
    let mut text = String::new();
    for (title, options) in PARTS {
        text += &format!("\n## {title}\n\n| option | what happens |\n|---|---|\n");
        for option in options {
            let names: Vec<String> = option.names.iter().map(|name| format!("`-{name}`")).collect();
            let values: String = option.values.iter().map(|value| format!(" {value}")).collect();
            let what = match option.meaning {
                Meaning::Done(_, words) => words.to_owned(),
                Meaning::Needless(why) => format!("needless: {why}"),
                Meaning::Ignored(why) => format!("no effect, a note says so: {why}"),
                Meaning::Refused(instead) => format!("refused: {instead}"),
            };
            let what = what.replace('|', "\\|");
            text += &format!("| {}{values} | {what} |\n", names.join(", "));
        }
    }
    text
}
