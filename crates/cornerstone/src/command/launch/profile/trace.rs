//! A trace of the run, for Perfetto: the calls of each rank, messages as arrows, and the critical path.

use std::collections::HashMap;
use std::io::{self, Write};

use contract::Time;
use fabric_sim::trace::{Activity, Trace};
use profile::{Kind, RankRecord};

use super::places::Place;
use super::summarise::Followed;

/// Writes the trace. If the run is too long for viewers, writes its beginning and returns the moment at which the trace
/// ends, in seconds of the run.
///
/// # Errors
/// Errors of `out`.
pub(super) fn write(
    records: &[RankRecord],
    followed: &Followed,
    out: &mut dyn Write,
) -> io::Result<Option<f64>> {
    let cut = trace(records, followed).write_chrome(out)?;
    Ok(cut.map(|time| time.as_ps() as f64 * 1e-12))
}

fn trace(records: &[RankRecord], followed: &Followed) -> Trace {
    let time = |s: f64| Time::from_ps(((s - followed.zero_s).max(0.0) * 1e12) as u64);
    let mut trace = Trace::default();
    let mut numbers: HashMap<Place, u32> = HashMap::new();
    for (index, record) in records.iter().enumerate() {
        let at = |ticks: u64| time(record.clock.seconds(ticks));
        for event in record.events.iter().filter(|event| event.is_span) {
            let place = followed.places.get(index, event.site);
            let polls = event.kind == Kind::Polls;
            let number = *numbers.entry(place).or_insert_with_key(|place| {
                let again = if polls { ", again and again" } else { "" };
                trace.names.push(format!("{place}{again}"));
                trace.names.len() as u32 - 1
            });
            let activity = Activity::Call(number);
            trace.activities.push((record.rank, activity, at(event.begin), at(event.end)));
        }
    }
    for message in &followed.messages {
        let (from, to) = (&records[message.from], &records[message.to]);
        let (send, receive) = (&from.events[message.send], &to.events[message.receive]);
        let sent = time(from.clock.seconds(send.begin));
        let received = time(to.clock.seconds(receive.end));
        trace.messages.push((from.rank, to.rank, send.bytes as usize, sent, received));
    }
    for stretch in &followed.path {
        let rank = records[stretch.record].rank;
        trace.path.push((rank, time(stretch.begin_s), time(stretch.end_s)));
    }
    trace
}
