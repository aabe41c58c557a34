//! The end of a session: the last line of the file, the report, the results on standard output, and what to do next.

use std::path::Path;
use std::process::ExitCode;

use analysis::launches::pooled;

use super::Session;
use crate::arguments::{RunFormat, command_to_resume};
use crate::command::report;
use crate::command::run::limit;
use crate::command::run::notes::{next_steps, skipped_cases};
use crate::environment;
use crate::failure::Failure;
use crate::output::{Osu, overview, print, tables, tables_or_summary};
use crate::period_verdict;
use crate::progress::note;
use crate::report::stands_out;
use crate::results;

impl Session {
    /// Ends the file, writes the report and prints the results. `ended` is the result of [`measure`](Self::measure).
    pub(in crate::command::run) fn close(
        mut self,
        ended: Result<(), Failure>,
    ) -> Result<ExitCode, Failure> {
        self.progress.clear();
        let path = self.results.path().to_path_buf();
        let ended = ended.and_then(|()| self.end_file());
        let refused = self.skipped.keys().next().cloned();
        let refused = refused.filter(|_| ended.is_ok() && self.run.measurements.is_empty());
        // The error of a run that is refused as a whole has the reason, if there is but one.
        if refused.is_none() || self.skipped.len() > 1 {
            skipped_cases(&self.skipped).into_iter().for_each(|line| note(&line));
        }
        if self.run.headers.is_empty() {
            self.results.remove_if_empty();
            return ended.and_then(|()| nothing(refused)).map(|()| ExitCode::SUCCESS);
        }
        if let Err(failure) = ended {
            return Err(self.ended_early(failure, &path));
        }
        nothing(refused)?;
        let report_path = results::report_path(&path);
        self.run = pooled(self.run);
        let reported = report::write(&report_path, std::slice::from_ref(&self.run));
        self.show()?;
        note(&format!("results  {}", path.display()));
        reported?;
        note(&format!("report   {}", report_path.display()));
        if self.request.format == RunFormat::Table {
            note(&next_steps(&self.request.names, &path));
        }
        limit::held(&self.run, self.request.settings.real_time.pause_limit_s)?;
        period_verdict::held(&self.run)?;
        Ok(ExitCode::SUCCESS)
    }

    fn end_file(&mut self) -> Result<(), Failure> {
        if self.headed {
            self.results.end()?;
            // The report is made from this run, not from the file.
            self.run.ended = true;
        }
        Ok(())
    }

    /// Prints the results so far, and adds a hint on resuming to the failure.
    fn ended_early(mut self, failure: Failure, path: &Path) -> Failure {
        if failure.is_quiet() {
            return failure;
        }
        self.run = pooled(self.run);
        if !self.run.measurements.is_empty() && self.show().is_err() {
            note("note: the results so far could not be shown");
        }
        note(&format!("results so far  {}", path.display()));
        failure.hint_if_none(format!(
            "the results so far are kept; continue with `{}`",
            command_to_resume(path)
        ))
    }

    /// Returns the share of this host's processors that other programs used during the run; `None` if it is not known, or
    /// not all ranks were processes of this command on this host.
    fn used_by_others(&self) -> Option<f64> {
        let before = self.used_before.filter(|_| self.request.runs_here())?;
        Some(environment::processor_use()?.of_others_since(before))
    }

    fn show(&self) -> Result<(), Failure> {
        match self.request.format {
            RunFormat::Table if self.request.tables => print(&tables(&self.run)),
            RunFormat::Table if self.request.settings.is_overview => {
                print(&overview(&self.run, self.used_by_others()))
            }
            RunFormat::Table => {
                print(&tables_or_summary(&self.run, stands_out, self.results.path()))
            }
            RunFormat::Osu => {
                let mut osu = Osu::default();
                let text: String = self.run.measurements.iter().map(|one| osu.lines(one)).collect();
                osu.left_out().into_iter().for_each(|line| note(&line));
                print(&text)
            }
            RunFormat::Json | RunFormat::Csv => Ok(()),
        }
    }
}

/// Fails for a run that was refused as a whole, for this reason.
fn nothing(refused: Option<String>) -> Result<(), Failure> {
    match refused {
        Some(reason) => Err(Failure::failed(format!("nothing was measured: {reason}"))),
        None => Ok(()),
    }
}
