//! A writer of GOAL: each rank's operations as labels, and the requirements between them.

use std::fmt::Write;

use super::numbers::Tags;
use super::rounds::rounds;
use crate::{RankEvent, Recording, Room, SentMessage};

/// One rank's part.
struct Rank<'a> {
    text: String,
    tags: &'a Tags,
    rank: usize,
    size: usize,
    labels: usize,
    /// The operations that must end before the next one begins.
    before: Vec<usize>,
    /// The labels of started operations; `None` for cancelled ones.
    started: Vec<Option<usize>>,
    collectives: u32,
}

pub(super) fn write(recording: &Recording) -> Result<String, String> {
    let (tags, size) = (Tags::of(recording), recording.ranks());
    let mut text = format!("num_ranks {size}\n");
    for rank in 0..size {
        let mut own = Rank {
            text: String::new(),
            tags: &tags,
            rank,
            size,
            labels: 0,
            before: Vec::new(),
            started: Vec::new(),
            collectives: 0,
        };
        let mut cancelled = cancelled(recording, rank).into_iter().peekable();
        for event in recording.events(rank) {
            let is_post = matches!(event, RankEvent::PostReceive(_) | RankEvent::PostSend { .. });
            if is_post && cancelled.next_if_eq(&own.started.len()).is_some() {
                own.started.push(None);
            } else {
                own.write(event)?;
            }
        }
        let _ = writeln!(text, "\nrank {rank} {{\n{}}}", own.text);
    }
    Ok(text)
}

/// Returns the started operations of a rank that were cancelled.
fn cancelled(recording: &Recording, rank: usize) -> Vec<usize> {
    let (mut started, mut found) = (0, Vec::new());
    for event in recording.events(rank) {
        match event {
            RankEvent::PostReceive(_) | RankEvent::PostSend { .. } => started += 1,
            RankEvent::Cancel(back) => found.extend((started - 1_usize).checked_sub(back as usize)),
            _ => {}
        }
    }
    found.sort_unstable();
    found
}

impl Rank<'_> {
    /// Adds an operation that begins once all in `before` have ended.
    fn operation(&mut self, words: std::fmt::Arguments<'_>) -> usize {
        self.labels += 1;
        let label = self.labels;
        let _ = writeln!(self.text, "l{label}: {words}");
        for before in &self.before {
            let _ = writeln!(self.text, "l{label} requires l{before}");
        }
        label
    }

    fn send(&mut self, message: &SentMessage) -> usize {
        let (to, bytes, tag) = (message.to, message.bytes, self.tags.of_message(message));
        self.operation(format_args!("send {bytes}b to {to} tag {tag}"))
    }

    fn receive(&mut self, room: &Room) -> Result<usize, String> {
        let sender = self.tags.of_receive(self.rank, room)?;
        let (bytes, from, tag) = (room.bytes, sender.from, sender.tag);
        Ok(self.operation(format_args!("recv {bytes}b from {from} tag {tag}")))
    }

    fn write(&mut self, event: RankEvent) -> Result<(), String> {
        match event {
            RankEvent::Compute(span) | RankEvent::Sleep(span) => {
                let ns = span.as_ns().round();
                let label = self.operation(format_args!("calc {ns}"));
                self.before = vec![label];
            }
            RankEvent::Send(message) => self.before = vec![self.send(&message)],
            RankEvent::Receive(room) => self.before = vec![self.receive(&room)?],
            RankEvent::Exchange(message, room) => {
                self.before = vec![self.send(&message), self.receive(&room)?];
            }
            RankEvent::PostSend { message, .. } => {
                let label = self.send(&message);
                self.started.push(Some(label));
            }
            RankEvent::PostReceive(room) => {
                let label = self.receive(&room)?;
                self.started.push(Some(label));
            }
            RankEvent::End(back) => {
                let index = self.started.len().checked_sub(1 + back as usize);
                self.before.extend(index.and_then(|index| self.started[index]));
            }
            // Cancelled operations are left out, and recordings with `Meanwhile` are refused before.
            RankEvent::Cancel(_) | RankEvent::Meanwhile | RankEvent::Aside => {}
            RankEvent::Collective(collective) => {
                let tag = self.tags.count() + 1 + self.collectives;
                self.collectives += 1;
                for round in rounds(&collective, self.rank, self.size) {
                    let mut labels = Vec::new();
                    for (to, bytes) in round.sends {
                        labels
                            .push(self.operation(format_args!("send {bytes}b to {to} tag {tag}")));
                    }
                    for (from, bytes) in round.receives {
                        labels.push(
                            self.operation(format_args!("recv {bytes}b from {from} tag {tag}")),
                        );
                    }
                    if !labels.is_empty() {
                        self.before = labels;
                    }
                }
            }
        }
        Ok(())
    }
}
