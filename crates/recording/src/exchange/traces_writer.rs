//! A writer of time-independent traces: a line for each action of a rank.

use std::fmt::Write;

use collectives::Collective;

use super::numbers::Tags;
use crate::{RankEvent, RecordedCollective, Recording, Room, SentMessage};

/// Operations per nanosecond of the host for which traces are written.
const FLOPS_PER_NS: f64 = 1.0;

pub(super) fn write(recording: &Recording) -> Result<String, String> {
    let tags = Tags::of(recording);
    let mut text = String::new();
    for rank in 0..recording.ranks() {
        // Without a word after `init`, lengths are bytes.
        let _ = writeln!(text, "{rank} init");
        let mut started: Vec<Option<String>> = Vec::new();
        for event in recording.events(rank) {
            write_event(&mut text, &tags, rank, &mut started, event)?;
        }
        let _ = writeln!(text, "{rank} finalize");
    }
    Ok(text)
}

fn write_event(
    text: &mut String,
    tags: &Tags,
    rank: usize,
    started: &mut Vec<Option<String>>,
    event: RankEvent,
) -> Result<(), String> {
    let send = |message: &SentMessage| {
        let SentMessage { to, bytes, .. } = *message;
        let tag = tags.of_message(message);
        (format!("send {to} {tag} {bytes}"), format!("wait {rank} {to} {tag}"))
    };
    let receive = |room: &Room| {
        let sender = tags.of_receive(rank, room)?;
        let (from, tag) = (sender.from, sender.tag);
        Ok::<_, String>((
            format!("recv {from} {tag} {}", room.bytes),
            format!("wait {from} {rank} {tag}"),
        ))
    };
    let mut line = |words: &str| {
        let _ = writeln!(text, "{rank} {words}");
    };
    match event {
        RankEvent::Compute(span) => line(&format!("compute {}", span.as_ns() * FLOPS_PER_NS)),
        RankEvent::Sleep(span) => line(&format!("sleep {}", span.as_s())),
        RankEvent::Send(message) => line(&send(&message).0),
        RankEvent::Receive(room) => line(&receive(&room)?.0),
        RankEvent::Exchange(message, room) => {
            let (receive, wait) = receive(&room)?;
            line(&format!("i{receive}"));
            line(&send(&message).0);
            line(&wait);
        }
        RankEvent::PostSend { message, .. } => {
            let (send, wait) = send(&message);
            line(&format!("i{send}"));
            started.push(Some(wait));
        }
        RankEvent::PostReceive(room) => {
            let (receive, wait) = receive(&room)?;
            line(&format!("i{receive}"));
            started.push(Some(wait));
        }
        RankEvent::End(back) => {
            let index = started.len().checked_sub(1 + back as usize);
            if let Some(wait) = index.and_then(|index| started[index].take()) {
                line(&wait);
            }
        }
        RankEvent::Cancel(_) => {
            return Err(format!("rank {rank} took a receive back, which this format cannot say"));
        }
        RankEvent::Collective(collective) => line(&collective_words(&collective)),
        // Recordings with these marks are refused before.
        RankEvent::Meanwhile | RankEvent::Aside => {}
    }
    Ok(())
}

fn collective_words(RecordedCollective { kind, root, bytes }: &RecordedCollective) -> String {
    // The time of combining elements is unknown here.
    match kind {
        Collective::Barrier => "barrier".into(),
        Collective::Broadcast => format!("bcast {bytes} {root}"),
        Collective::Scatter => format!("scatter {bytes} {bytes} {root}"),
        Collective::Gather => format!("gather {bytes} {bytes} {root}"),
        Collective::Allgather => format!("allgather {bytes} {bytes}"),
        Collective::AllToAll => format!("alltoall {bytes} {bytes}"),
        Collective::Reduce => format!("reduce {bytes} 0 {root}"),
        Collective::Allreduce => format!("allreduce {bytes} 0"),
        other => unreachable!("{other:?} is recorded as its messages"),
    }
}
