//! The kinds of mistakes of MPI programs: the one table from which messages, reports and the page are made.

/// How a kind of mistake is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// In every run.
    Always,
    /// With `--check`.
    Check,
    /// With `--check-leaks`.
    CheckLeaks,
}

impl Found {
    /// Returns the option that finds it, if it takes one.
    pub fn option(self) -> Option<&'static str> {
        match self {
            Found::Always => None,
            Found::Check => Some("--check"),
            Found::CheckLeaks => Some("--check-leaks"),
        }
    }
}

/// A kind of mistake.
#[derive(Debug)]
pub struct MistakeKind {
    /// Its name in reports and suppressions.
    pub name: &'static str,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// How it is found.
    pub found: Found,
    /// Sections of MPI 5.0 that the program breaks; empty if it breaks none.
    pub sections: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// Statements of a program for two ranks with the mistake; empty if none can be sure to have it.
    pub example: &'static str,
    /// What is said of the example: one of these, depending on which rank comes first.
    pub messages: &'static [&'static str],
    /// What every message of this kind contains: one of these.
    pub(crate) says: &'static [&'static str],
}

impl MistakeKind {
    /// Returns whether the program can go on, so that the finding alone decides the status.
    pub fn goes_on(&self) -> bool {
        self.found != Found::Always
    }

    /// Returns a whole program with the mistake.
    pub fn program(&self) -> String {
        let body: String = self.example.lines().map(|line| format!("    {line}\n")).collect();
        format!("{HEAD}{body}{TAIL}")
    }
}

/// What an example stands in.
const HEAD: &str = "#include <mpi.h>
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
";
const TAIL: &str = "    MPI_Finalize();
    return 0;
}
";

/// A kind without its own fields.
pub(super) const BLANK: MistakeKind = MistakeKind {
    name: "",
    title: "",
    found: Found::Always,
    sections: "",
    remedy: "",
    example: "",
    messages: &[],
    says: &[],
};
