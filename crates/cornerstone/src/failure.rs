//! The failure of a command, with a hint on its remedy.

use std::process::ExitCode;

use crate::progress::say;

/// The run failed, or what was asked does not hold.
pub(crate) const STATUS_FAILED: u8 = 1;
/// The command line, or a file that it names, is wrong.
pub(crate) const STATUS_USAGE: u8 = 2;
/// Whether what was asked holds is undecided.
pub(crate) const STATUS_UNDECIDED: u8 = 3;

/// The ranks of a program are deadlocked. Neither shells nor `timeout`, `xargs` or `git bisect` give this status a meaning, and no
/// MPI error class has the number.
pub(crate) const STATUS_HANG: u8 = 122;

/// A program had not ended after the time that it was given. It is the status of `timeout`.
pub(crate) const STATUS_OUT_OF_TIME: u8 = 124;

/// The end of a command that did not succeed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    status: u8,
    /// True if it is this command that cannot decide. A program may end with the same status.
    is_undecided: bool,
}

impl Failure {
    /// Creates the failure of a wrong command line, or of a wrong file that it names: status 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, status: STATUS_USAGE, is_undecided: false }
    }

    /// Creates the failure of a run: status 1.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, status: STATUS_FAILED, is_undecided: false }
    }

    /// Creates the end of a command that cannot tell whether what was asked holds: status 3.
    pub(crate) fn undecided(message: impl Into<String>) -> Self {
        Failure {
            message: message.into(),
            hint: None,
            status: STATUS_UNDECIDED,
            is_undecided: true,
        }
    }

    /// Creates the failure of a command that a signal ended: status 128 plus the number of the signal, as in shells.
    pub(crate) fn signal(message: impl Into<String>, signal: i32) -> Self {
        let status = u8::try_from(128 + signal).unwrap_or(STATUS_FAILED);
        Failure { message: message.into(), hint: None, status, is_undecided: false }
    }

    /// Creates the failure of a program that this command ran, with the status of that program.
    pub(crate) fn status(message: impl Into<String>, status: u8) -> Self {
        let status = if status == 0 { STATUS_FAILED } else { status };
        Failure { message: message.into(), hint: None, status, is_undecided: false }
    }

    /// Creates the failure of a standard output that its reader has closed: no message, and the status of a process
    /// that SIGPIPE ended.
    pub(crate) fn closed_pipe() -> Self {
        Failure { message: String::new(), hint: None, status: 128 + 13, is_undecided: false }
    }

    /// Creates the failure for a benchmark or group that does not exist.
    pub(crate) fn unknown_benchmark(error: &benchmark::UnknownBenchmark) -> Self {
        Failure::usage(error.to_string()).hint("`cornerstone list` shows what there is")
    }

    /// Returns the description of the error.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns the exit status.
    pub(crate) fn code(&self) -> u8 {
        self.status
    }

    /// Returns whether it has no message.
    pub(crate) fn is_quiet(&self) -> bool {
        self.message.is_empty()
    }

    /// Adds a hint unless it has one.
    pub(crate) fn hint_if_none(self, hint: impl Into<String>) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    /// Replaces the hint if the command line is wrong.
    pub(crate) fn hint_if_misused(self, hint: &str) -> Self {
        if self.status == STATUS_USAGE { self.hint(hint) } else { self }
    }

    /// Puts the thing that failed before the message.
    pub(crate) fn of(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Adds a hint on the next step.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns how a command ends of which a later part may have failed, too. If both have, the later one is reported here,
    /// and the status is that of the first.
    pub(crate) fn of_both<T>(
        ended: Result<T, Failure>,
        later: Result<(), Failure>,
    ) -> Result<T, Failure> {
        match (ended, later) {
            (Err(failure), Err(second)) => {
                second.report();
                Err(failure)
            }
            (ended, later) => ended.and_then(|value| later.map(|()| value)),
        }
    }

    /// Writes it to standard error and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        let mut words = String::new();
        if !self.message.is_empty() {
            let kind = if self.is_undecided { "undecided" } else { "error" };
            words += &format!("cornerstone: {kind}: {}\n", self.message);
        }
        if let Some(hint) = &self.hint {
            words += &format!("  hint: {hint}\n");
        }
        say(&words);
        ExitCode::from(self.status)
    }
}
