//! A schedule as a pattern file.

use std::fmt::Write;

use super::schedule::{Design, Schedule};
use crate::describe::bytes as bytes_in_words;
use crate::program::Pattern;
use crate::read::read;

/// First words of each pattern, by which a later one may replace it.
pub const MARK: &str = "# A corner turn over a line of";

/// Lines are broken before this column.
const WIDTH: usize = 100;

impl Schedule {
    /// Returns the pattern as a pattern file, with messages of `bytes` bytes.
    pub fn to_text(&self, bytes: u32) -> String {
        text(self, bytes)
    }

    /// Returns the pattern, with messages of `bytes` bytes.
    ///
    /// # Panics
    /// If a message is longer than a pattern allows ([`crate::BYTES_MAX`]).
    pub fn to_pattern(&self, bytes: u32) -> Pattern {
        let name = format!("corner-turn-{}-{}.pmp", self.design.name(), self.nodes);
        read(&name, &self.to_text(bytes)).expect("every block that is sent is received")
    }
}

fn text(schedule: &Schedule, bytes: u32) -> String {
    let Schedule { design, nodes, .. } = schedule;
    let contention = schedule.link_contention();
    let mut text = format!(
        "{MARK} {nodes} nodes: every node has a block of {bytes} bytes for every other.\n\
         # {}\n\
         # {} stages; on a line, at most {} messages share a link one way.\n\
         # Made by `cornerstone corner-turn --ranks {nodes} --order {}{}`.\n\n\
         block = {}\n\n",
        origin(*design),
        schedule.stages.len(),
        contention.iter().max().unwrap_or(&0),
        design.name(),
        if schedule.held_in_step { " --in-step" } else { "" },
        bytes_in_words(u64::from(bytes)),
    );
    for node in 0..*nodes {
        write_node(&mut text, schedule, node);
    }
    text
}

fn origin(design: Design) -> &'static str {
    match design {
        Design::Recursive => {
            "The recursive pattern of swaps and quads (MITRE 1995, section 6.3, figure 6.4)."
        }
        Design::Balanced => {
            "The balanced pattern: messages cross each link as evenly as they can, both ways."
        }
    }
}

fn write_node(text: &mut String, schedule: &Schedule, node: usize) {
    let head = format!("{node}:");
    let mut column = head.len();
    text.push_str(&head);
    let begins = schedule.held_in_step.then(|| begins(schedule));
    let stages = schedule.stages.iter().enumerate();
    let actions = stages.filter_map(|(index, stage)| {
        let action = action(stage, node)?;
        Some(match &begins {
            Some((begins, all)) if index > 0 => format!("W {}/{all} {action}", begins[index]),
            _ => action,
        })
    });
    for action in actions.chain(["E".into()]) {
        if column + 1 + action.len() > WIDTH {
            let _ = write!(text, "\n{:1$}", "", head.len());
            column = head.len();
        }
        let _ = write!(text, " {action}");
        column += 1 + action.len();
    }
    text.push('\n');
}

/// Returns the beginning of each stage and the length of all together, if the length of a stage is the number of
/// messages that share its busiest link.
fn begins(schedule: &Schedule) -> (Vec<usize>, usize) {
    let mut all = 0;
    let mut begins = Vec::new();
    for length in schedule.link_contention() {
        begins.push(all);
        all += length;
    }
    (begins, all)
}

fn action(stage: &[(usize, usize)], node: usize) -> Option<String> {
    stage.iter().find_map(|&(from, to)| match () {
        () if from == node => Some(format!("S {to} block")),
        () if to == node => Some("R".into()),
        () => None,
    })
}
