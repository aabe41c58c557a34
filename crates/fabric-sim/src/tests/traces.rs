//! Traces against the Trace Event Format, read strictly, because viewers silently omit events that they cannot read.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Rank, Result, Source};
use serde_json::Value;

use super::{TAG, machine};
use crate::{Level, Options};

/// Four nodes in a line.
const LINE: &str = "[endpoint]\nsend_us = 0.7\nreceive_us = 1.1\n[network]\nshape = \"line\"\n\
    link_mb_per_s = 300\nlatency_us = 0.3\npacket_bytes = 100\n[processor]\ncopy_mb_per_s = 700";

/// Sends messages that follow each other and messages posted at once, and executes a collective.
fn program(rank: &mut dyn Rank) -> Result<()> {
    let me = rank.rank();
    for bytes in [0, 77, 1000] {
        let mut room = vec![0; bytes];
        if me.is_multiple_of(2) {
            rank.send(me + 1, TAG, &room)?;
            rank.receive(Source::Rank(me + 1), TAG.into(), &mut room)?;
        } else {
            rank.receive(Source::Rank(me - 1), TAG.into(), &mut room)?;
            rank.send(me - 1, TAG, &room)?;
        }
    }
    rank.allgather(&[1; 300], &mut [0; 1200])?;
    rank.barrier()
}

/// Returns the picoseconds of a time in microseconds that was written with all its digits.
fn ps(value: &Value) -> i128 {
    let text = value.as_f64().expect("a number").to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    assert!(part.len() <= 6, "{text} us are no whole picoseconds");
    format!("{whole}{part:0<6}").parse().expect("digits")
}

fn field(event: &Value, name: &str) -> u64 {
    event[name].as_u64().unwrap_or_else(|| panic!("no whole number `{name}` in {event}"))
}

type Track = (u64, u64);

/// Requirements of the format for each event, by its phase.
#[derive(Default)]
struct Seen {
    processes: BTreeMap<u64, String>,
    tracks: BTreeMap<Track, String>,
    spans: BTreeMap<Track, Vec<(i128, i128)>>,
    begun: BTreeMap<u64, (Track, i128)>,
    ended: BTreeMap<u64, (Track, i128)>,
}

impl Seen {
    fn take(&mut self, event: &Value) {
        let name = event["name"].as_str().expect("every event has a name");
        let track = || (field(event, "pid"), field(event, "tid"));
        match event["ph"].as_str().expect("every event has a phase") {
            "M" => match name {
                "process_name" => {
                    let shown = event["args"]["name"].as_str().unwrap().into();
                    assert_eq!(self.processes.insert(field(event, "pid"), shown), None);
                }
                "thread_name" => {
                    let shown = event["args"]["name"].as_str().unwrap().into();
                    assert_eq!(self.tracks.insert(track(), shown), None);
                }
                "process_sort_index" | "thread_sort_index" => {
                    field(&event["args"], "sort_index");
                }
                other => panic!("no viewer knows {other}"),
            },
            "X" => {
                let begin = ps(&event["ts"]);
                let end = begin + ps(&event["dur"]);
                self.spans.entry(track()).or_default().push((begin, end));
            }
            phase @ ("s" | "f") => {
                assert!(event["cat"].is_string(), "an arrow is known by its category and number");
                assert_eq!(event.get("bp").is_some(), phase == "f");
                let arrows = if phase == "s" { &mut self.begun } else { &mut self.ended };
                let at = (track(), ps(&event["ts"]));
                assert_eq!(arrows.insert(field(event, "id"), at), None, "an arrow twice");
            }
            other => panic!("phase {other}"),
        }
    }

    /// Returns whether an arrow's end is in a span, without which viewers do not draw it.
    fn hangs(&self, (track, at): &(Track, i128)) -> bool {
        let spans = self.spans.get(track).map_or(&[][..], Vec::as_slice);
        spans.iter().any(|(begin, end)| (begin..=end).contains(&at))
    }
}

#[test]
fn a_trace_is_what_viewers_read() {
    let options = Options { trace: true, level: Some(Level::Packets), ..Options::new(4) };
    let outcome = crate::run(&machine(LINE), &options, program).unwrap();
    let mut text = Vec::new();
    outcome.trace.expect("one was asked for").write_chrome(&mut text).unwrap();
    let trace: Value = serde_json::from_slice(&text).unwrap();
    assert!(["ms", "ns"].contains(&trace["displayTimeUnit"].as_str().unwrap()));

    let mut seen = Seen::default();
    trace["traceEvents"].as_array().unwrap().iter().for_each(|event| seen.take(event));
    assert_eq!(seen.processes.values().map(String::as_str).collect::<Vec<_>>(), ["ranks", "links"]);
    // Every track has a name, and every name has a track.
    let used: BTreeSet<Track> = seen.spans.keys().copied().collect();
    assert_eq!(used, seen.tracks.keys().copied().collect());
    assert_eq!(seen.tracks[&(1, 3)], "rank 3");
    // Three links join four nodes, in both directions.
    assert_eq!(used.iter().filter(|track| track.0 == 2).count(), 6);
    for (track, spans) in &seen.spans {
        for pair in spans.windows(2) {
            assert!(pair[0].0 <= pair[1].0, "{track:?}: {pair:?} are out of order");
            let nested = pair[1].1 <= pair[0].1;
            assert!(nested || pair[0].1 <= pair[1].0, "{track:?}: {pair:?} overlap");
        }
    }
    // Twelve messages between neighbours and the collectives' messages: each has both its ends.
    assert!(seen.begun.len() >= 12);
    assert_eq!(seen.begun.len(), seen.ended.len());
    for (id, begin) in &seen.begun {
        let end = &seen.ended[id];
        assert!(begin.1 <= end.1, "message {id} is there before it is sent");
        assert!(seen.hangs(begin) && seen.hangs(end), "message {id}: {begin:?} to {end:?}");
    }
}
