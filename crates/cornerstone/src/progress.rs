//! The progress of a run on standard error: a live line on a terminal, a plain line from time to time elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::Trial;

use crate::wording::{percent, quantity, wait};

/// Interval of lines if standard error is no terminal. They show that the run is alive.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(10);

/// Progress over steps with estimated times.
pub(crate) struct Progress {
    display: Display,
    steps: usize,
    done: usize,
    left: Left,
    began: Instant,
    /// The step in progress, and the time of its start.
    step: Option<(String, Instant)>,
}

/// Estimated times from which the time left is computed.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    /// Time of all steps.
    all_s: f64,
    /// Time of the steps that are done.
    done_s: f64,
    /// Time of the step in progress.
    step_s: f64,
}

enum Display {
    Live(ProgressBar),
    Plain { last: Instant },
}

impl Progress {
    /// Creates the progress over `steps` steps that will take about `estimate_s` seconds.
    pub(crate) fn new(steps: usize, estimate_s: f64) -> Self {
        let display = if std::io::stderr().is_terminal() {
            Display::Live(bar(steps))
        } else {
            Display::Plain { last: Instant::now() }
        };
        let left = Left { all_s: estimate_s, ..Left::default() };
        Progress { display, steps, done: 0, left, began: Instant::now(), step: None }
    }

    /// Begins a step that will take about `estimate_s` seconds, and ends the step before. There may be more steps than
    /// planned.
    pub(crate) fn begin(&mut self, label: &str, estimate_s: f64) {
        self.end();
        self.steps = self.steps.max(self.done + 1);
        self.left.step_s = estimate_s;
        self.step = Some((label.to_string(), Instant::now()));
        self.show("");
    }

    /// Shows the number of samples of the step, and the half width of the interval of their median.
    pub(crate) fn detail(&mut self, samples: u64, half_width: Option<f64>) {
        let width = half_width.filter(|width| width.is_finite());
        let width = width.map_or_else(String::new, |width| format!(", ±{}", percent(width)));
        self.show(&format!(": {samples} samples{width}"));
    }

    /// Shows the result of the last trial of a period.
    pub(crate) fn trial(&mut self, trial: &Trial) {
        let Trial { instances, missed, .. } = trial;
        let period = quantity(trial.period_us, "us");
        let verdict = match (trial.sustained, trial.refused) {
            (true, _) => "sustained",
            (false, true) => "refused",
            (false, false) => "unclear",
        };
        self.show(&format!(": {period} {verdict}, {missed} of {instances} missed"));
    }

    /// Shows the step in progress and its state.
    fn show(&mut self, state: &str) {
        let (label, step_took_s) = self
            .step
            .as_ref()
            .map_or(("", 0.0), |(label, began)| (label.as_str(), began.elapsed().as_secs_f64()));
        let now = format!("{label}{state}");
        let took_s = self.began.elapsed().as_secs_f64() - step_took_s;
        let left = wait(self.left.after(took_s, step_took_s));
        let (done, steps) = (self.done, self.steps);
        match &mut self.display {
            Display::Live(bar) => {
                bar.set_prefix(format!("about {left} left"));
                bar.set_message(now);
            }
            Display::Plain { last } if last.elapsed() >= PLAIN_LINE_EVERY => {
                *last = Instant::now();
                note(&format!("{done} of {steps} done, about {left} left; now {now}"));
            }
            Display::Plain { .. } => {}
        }
    }

    /// Ends the step, if there is one.
    fn end(&mut self) {
        if self.step.take().is_none() {
            return;
        }
        self.done += 1;
        self.left.done_s += self.left.step_s;
        if let Display::Live(bar) = &self.display {
            bar.set_length(self.steps as u64);
            bar.set_position(self.done as u64);
        }
    }

    /// Hides the live line while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.display {
            Display::Live(bar) => bar.suspend(write),
            Display::Plain { .. } => write(),
        }
    }

    /// Removes the live line.
    pub(crate) fn clear(&self) {
        if let Display::Live(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

impl Left {
    /// Returns the seconds left when the steps that are done took `took_s` and the step in progress has taken
    /// `step_took_s`. The estimates are corrected by their error so far once that is known.
    fn after(&self, took_s: f64, step_took_s: f64) -> f64 {
        let judged = self.done_s > 0.0 && took_s > 2.0;
        let slower = if judged { took_s / self.done_s } else { 1.0 };
        let of_step = (slower * self.step_s - step_took_s).max(0.0);
        of_step + slower * (self.all_s - self.done_s - self.step_s).max(0.0)
    }
}

fn bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {prefix}  {wide_msg}");
    bar.set_style(style.expect("the template is a constant").progress_chars("━╸─"));
    bar
}

/// Writes a line to standard error. A failure is ignored, because a run does not end because its output is not read.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_goes_down_while_a_step_goes_on_and_learns_from_those_that_are_done() {
        let first = Left { all_s: 90.0, done_s: 0.0, step_s: 30.0 };
        assert_eq!(first.after(0.0, 0.0), 90.0);
        assert_eq!(first.after(0.0, 20.0), 70.0);
        // The step takes longer than estimated, so the estimate leaves no time for it.
        assert_eq!(first.after(0.0, 40.0), 60.0);
        // The first step took half of its estimate, so the same is assumed of the others: 15 of this one's 30, less 5,
        // and 15 of the last.
        let second = Left { done_s: 30.0, ..first };
        assert_eq!(second.after(15.0, 5.0), 25.0);
    }
}
