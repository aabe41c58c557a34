//! What a call to send or to receive takes the processor that makes it, on a simulated machine (Knott 1983, tables 1
//! and 2: a fixed part, and a part for each word of 16 bits).

use contract::{Rank, Result as RankResult, Source, Tag, TagSelector, TimeSpan};
use fabric_sim::quantity::{Cost, PerUnit, Piecewise};
use fabric_sim::{Options, machine, run};
use serde::Deserialize;

/// A cell of these tables.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallCell {
    machine: String,
    call: CallKind,
    term: CostTerm,
    /// Replaces the machine's cost of a receive: its asynchronous mode.
    receive: Option<ReceiveCost>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CallKind {
    Send,
    /// Of a message that is already there.
    Receive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CostTerm {
    Fixed,
    PerWord,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiveCost {
    us: f64,
    ns_per_byte: f64,
}

const WORD_BYTES: usize = 2;
/// The shortest and the longest message of these calls (section 5), between which their cost is a straight line.
const WORDS: [usize; 2] = [1, 255];

impl CallCell {
    /// The term in milliseconds.
    pub(crate) fn value(&self) -> Result<f64, String> {
        let short_ms = self.call_ms(WORDS[0])?;
        let per_word_ms = (self.call_ms(WORDS[1])? - short_ms) / (WORDS[1] - WORDS[0]) as f64;
        Ok(match self.term {
            CostTerm::Fixed => short_ms - WORDS[0] as f64 * per_word_ms,
            CostTerm::PerWord => per_word_ms,
        })
    }

    fn call_ms(&self, words: usize) -> Result<f64, String> {
        let mut machine = machine::find(&self.machine).map_err(|error| error.to_string())?;
        if let Some(ReceiveCost { us, ns_per_byte }) = self.receive {
            machine.endpoint.receive = Piecewise::line(Cost {
                fixed: TimeSpan::from_ps((us * 1e6).round() as u64),
                per_byte: PerUnit::from_us(ns_per_byte / 1e3),
            });
        }
        let ended = run(&machine, &Options::new(2), move |rank| time_calls(rank, words));
        let outcome = ended.map_err(|(rank, error)| format!("rank {rank}: {error}"))?;
        let caller = match self.call {
            CallKind::Send => 0,
            CallKind::Receive => 1,
        };
        Ok(outcome.results[caller].as_us() / 1e3)
    }
}

/// Rank 0 sends a message, and rank 1 receives it long after it has come; each gives the time of its own call.
fn time_calls(rank: &mut dyn Rank, words: usize) -> RankResult<TimeSpan> {
    const TAG: Tag = Tag::new(0);
    const LONG_AFTER: TimeSpan = TimeSpan::from_us(1_000_000);
    let mut data = vec![0; words * WORD_BYTES];
    if rank.rank() == 1 {
        rank.wait_until(contract::Time::ZERO + LONG_AFTER);
    }
    let begin = rank.now();
    if rank.rank() == 0 {
        rank.send(1, TAG, &data)?;
    } else {
        rank.receive(Source::Rank(0), TagSelector::Is(TAG), &mut data)?;
    }
    Ok(rank.now().since(begin))
}
