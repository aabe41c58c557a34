//! The options of mpiexec that are known: those of the standard, and those that scripts use with other MPIs. This table
//! alone decides which words are options, how many values they take, and what becomes of them; the help and
//! docs/mpiexec.md are written from it.

mod common;
mod mpich;
mod open_mpi;

/// An option.
#[derive(Debug)]
pub(super) struct MpiexecOption {
    /// Its names, without dashes.
    pub(super) names: &'static [&'static str],
    /// Its values, in words for the help. Empty if it takes none.
    pub(super) values: &'static [&'static str],
    pub(super) meaning: Meaning,
}

const fn option(
    names: &'static [&'static str],
    values: &'static [&'static str],
    meaning: Meaning,
) -> MpiexecOption {
    MpiexecOption { names, values, meaning }
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// It is carried out. The help has these words.
    Done(Action, &'static str),
    /// It asks for what happens anyway. The reason.
    Needless(&'static str),
    /// It has no effect, and a note gives the reason.
    Ignored(&'static str),
    /// It cannot be carried out. What to write instead.
    Refused(&'static str),
}

/// What an option does. Options of one program are marked; the others are for all programs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// The number of ranks of a program.
    Ranks,
    /// The numbers of ranks of a program that will do.
    Soft,
    /// The architecture of the ranks of a program.
    Architecture,
    /// The folders in which a program is searched.
    SearchPath,
    /// This option of `launch` with the value, for the ranks of a program.
    OfProgram(&'static str),
    /// The error handler of a program from the start on.
    ErrorHandler,
    /// A variable with its value, for a program or for all.
    Variable {
        of_all: bool,
    },
    /// Variables of this process by their names, for a program or for all.
    Variables {
        of_all: bool,
    },
    /// Programs and options from a file.
    ConfigurationFile,
    Hosts,
    HostsFile,
    RanksPerHost,
    /// One rank on each host.
    OneRankPerHost,
    Agent,
    /// How other hosts are reached.
    Starter,
    Interface,
    /// Parameters of Open MPI, of which few mean something here.
    Parameter,
    /// These words of `launch`.
    Words(&'static [&'static str]),
    /// This option of `launch` with the value.
    Passed(&'static str),
    /// The same with a number of seconds.
    Seconds(&'static str),
    Binding,
    Mapping,
    /// The ranks go to the hosts in turn.
    ByNode,
    Ranking,
    /// A folder for the output of the ranks.
    OutputFolder,
    /// The list of directives of Open MPI's `--output`.
    OutputList,
    /// The list of Open MPI's `--display`.
    DisplayList,
    /// A folder of Open MPI, or the prefix of `launch`.
    Prefix,
    /// No notes.
    Quiet,
    /// Notes on needless options, too, and the places of the ranks.
    Verbose,
    Help,
    Version,
}

impl Action {
    /// Returns whether it is for the program that follows.
    pub(super) fn is_of_program(self) -> bool {
        use Action::*;
        matches!(
            self,
            Ranks
                | Soft
                | Architecture
                | SearchPath
                | OfProgram(_)
                | ErrorHandler
                | Variable { of_all: false }
                | Variables { of_all: false }
                | Hosts
        )
    }
}

/// Titles of the parts of the table, and the parts.
pub(super) const PARTS: [(&str, &[MpiexecOption]); 3] = [
    ("The standard, and options of several MPIs", common::OPTIONS),
    ("MPICH and Intel MPI", mpich::OPTIONS),
    ("Open MPI", open_mpi::OPTIONS),
];

/// Returns all options.
pub(super) fn all() -> impl Iterator<Item = &'static MpiexecOption> {
    PARTS.into_iter().flat_map(|(_, options)| options)
}

/// Returns the option of this name.
pub(super) fn find(name: &str) -> Option<&'static MpiexecOption> {
    all().find(|option| option.names.contains(&name))
}
