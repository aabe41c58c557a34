//! Why a command ends without success, and what its user can do about it.

use std::process::ExitCode;

/// The run failed, or a comparison found a regression.
pub(crate) const STATUS_FAILED: u8 = 1;
/// The command line or a file given on it is wrong.
pub(crate) const STATUS_USAGE: u8 = 2;

/// The end of a command that did not succeed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    status: u8,
}

impl Failure {
    /// The command line or a file named on it is wrong: status 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, status: STATUS_USAGE }
    }

    /// Something failed on the way: status 1.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, status: STATUS_FAILED }
    }

    /// A signal ended the command: status 128 and the signal's number, as shells have it.
    pub(crate) fn signal(message: impl Into<String>, signal: i32) -> Self {
        let status = u8::try_from(128 + signal).unwrap_or(STATUS_FAILED);
        Failure { message: message.into(), hint: None, status }
    }

    /// A program that this command ran failed: its own status.
    pub(crate) fn status(message: impl Into<String>, status: u8) -> Self {
        let status = if status == 0 { STATUS_FAILED } else { status };
        Failure { message: message.into(), hint: None, status }
    }

    /// Whoever read standard output has gone: an end without a word, with the status of a process that SIGPIPE ended.
    pub(crate) fn closed_pipe() -> Self {
        Failure { message: String::new(), hint: None, status: 128 + 13 }
    }

    /// A benchmark or group that does not exist.
    pub(crate) fn unknown_benchmark(error: &benchmark::UnknownBenchmark) -> Self {
        Failure::usage(error.to_string()).hint("`cornerstone list` shows what there is")
    }

    /// Whether there is nothing to say.
    pub(crate) fn is_quiet(&self) -> bool {
        self.message.is_empty()
    }

    /// Adds what to do next, unless that is said already.
    pub(crate) fn hint_if_none(self, hint: impl Into<String>) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says it on standard error and gives the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        // A closed standard error must not turn a failure into a panic.
        use std::io::Write;
        let mut words = String::new();
        if !self.message.is_empty() {
            words += &format!("cornerstone: error: {}\n", self.message);
        }
        if let Some(hint) = &self.hint {
            words += &format!("  hint: {hint}\n");
        }
        // In one piece, or it may be cut up by what other processes say, and by a launcher that ends.
        let _ = std::io::stderr().write_all(words.as_bytes());
        ExitCode::from(self.status)
    }
}
