//! A reader of GOAL. A rank's operations become a sequence that respects their requirements. Sends and receives are
//! started, and waited for at the first operation that requires them.

use std::collections::HashMap;

use contract::{Selector, TimeSpan};

use super::{Mistake, number};
use crate::file::are_ranks;
use crate::{RankEvent, Room, SentMessage};

/// An operation of a rank.
struct Operation {
    event: RankEvent,
    /// Operations, by their places, that must end before it begins.
    requires: Vec<usize>,
    line: usize,
}

#[derive(Default)]
struct Rank {
    operations: Vec<Operation>,
    labels: HashMap<String, usize>,
}

pub(super) fn read(text: &str) -> Result<Vec<Vec<RankEvent>>, Mistake> {
    let mut ranks: Vec<Rank> = Vec::new();
    let mut current: Option<usize> = None;
    for (line, words) in (1..).zip(text.lines()) {
        let words = words.split("//").next().unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        match (&words[..], current) {
            ([], _) => {}
            (["num_ranks", count, ..], None) => {
                let count: usize = number(Some(count), line, "the number of ranks")?;
                if !are_ranks(count, text.len()) {
                    return Err((line, format!("{count} ranks cannot be replayed")));
                }
                ranks = (0..count).map(|_| Rank::default()).collect();
            }
            (["rank", rank, "{"], None) => {
                let rank: usize = number(Some(rank), line, "a rank")?;
                if rank >= ranks.len() {
                    return Err((line, format!("there is no rank {rank} of {}", ranks.len())));
                }
                current = Some(rank);
            }
            (["}"], Some(_)) => current = None,
            (words, Some(rank)) => ranks[rank].read(words, line)?,
            (words, None) => {
                return Err((line, format!("'{}' stands outside of a rank", words[0])));
            }
        }
    }
    match current {
        Some(rank) => Err((text.lines().count(), format!("rank {rank} has no end"))),
        None if ranks.is_empty() => Err((1, "there is no num_ranks".into())),
        None => ranks.iter().map(Rank::events).collect(),
    }
}

impl Rank {
    fn read(&mut self, words: &[&str], line: usize) -> Result<(), Mistake> {
        if let [one, verb @ ("requires" | "irequires"), other] = words {
            let place = |label: &str| {
                let found = self.labels.get(label).copied();
                found.ok_or_else(|| (line, format!("there is no '{label}' before this line")))
            };
            let (one, other) = (place(one)?, place(other)?);
            if *verb == "irequires" {
                return Err((
                    line,
                    "irequires (begins after another has begun) cannot be replayed".into(),
                ));
            }
            self.operations[one].requires.push(other);
            return Ok(());
        }
        let (label, rest) = match words {
            [first, rest @ ..] if first.ends_with(':') => (first.strip_suffix(':'), rest),
            rest => (None, rest),
        };
        let event = event(rest, line)?;
        if let Some(label) = label {
            self.labels.insert(label.into(), self.operations.len());
        }
        self.operations.push(Operation { event, requires: Vec::new(), line });
        Ok(())
    }

    /// Returns the operations as a sequence of events.
    fn events(&self) -> Result<Vec<RankEvent>, Mistake> {
        let order = self.order()?;
        let mut events = Vec::new();
        // By place: the number of operations started up to it, for those that were started and not yet waited for.
        let mut under_way: HashMap<usize, u64> = HashMap::new();
        let mut started = 0;
        let wait = |place: usize, under_way: &mut HashMap<usize, u64>, started: u64| {
            under_way.remove(&place).map(|number| RankEvent::End(started - number))
        };
        for place in order {
            let operation = &self.operations[place];
            for &before in &operation.requires {
                events.extend(wait(before, &mut under_way, started));
            }
            if !matches!(operation.event, RankEvent::Compute(_)) {
                started += 1;
                under_way.insert(place, started);
            }
            events.push(operation.event);
        }
        let mut left: Vec<usize> = under_way.keys().copied().collect();
        left.sort_unstable();
        for place in left {
            events.extend(wait(place, &mut under_way, started));
        }
        Ok(events)
    }

    /// Returns an order in which each operation comes after all that it requires: the order of the text if possible.
    fn order(&self) -> Result<Vec<usize>, Mistake> {
        let mut missing: Vec<usize> =
            self.operations.iter().map(|one| one.requires.len()).collect();
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); self.operations.len()];
        for (place, operation) in self.operations.iter().enumerate() {
            operation.requires.iter().for_each(|&before| followers[before].push(place));
        }
        let ready = (0..missing.len()).filter(|&place| missing[place] == 0);
        let mut ready: std::collections::BTreeSet<usize> = ready.collect();
        let mut order = Vec::with_capacity(missing.len());
        while let Some(place) = ready.pop_first() {
            order.push(place);
            for &follower in &followers[place] {
                missing[follower] -= 1;
                if missing[follower] == 0 {
                    ready.insert(follower);
                }
            }
        }
        match missing.iter().position(|&count| count > 0) {
            Some(place) => Err((
                self.operations[place].line,
                "this operation requires itself in the end".into(),
            )),
            None => Ok(order),
        }
    }
}

fn event(words: &[&str], line: usize) -> Result<RankEvent, Mistake> {
    let bytes = |word: &str| number(word.strip_suffix('b'), line, "a length, such as 8b,");
    let tag = |words: &[&str]| match words {
        ["tag", tag, ..] => number(Some(tag), line, "a tag"),
        _ => Ok(0),
    };
    match words {
        ["calc", ns, ..] => {
            let ns: u64 = number(Some(ns), line, "a time in nanoseconds")?;
            Ok(RankEvent::Compute(TimeSpan::from_ps(ns.saturating_mul(1000))))
        }
        ["send", length, "to", to, rest @ ..] => {
            let (to, bytes) = (number(Some(to), line, "a rank")?, bytes(length)?);
            let message = SentMessage { to, context: 0, tag: tag(rest)?, bytes };
            Ok(RankEvent::PostSend { message, synchronous: false })
        }
        ["recv", length, "from", from, rest @ ..] => {
            let (source, bytes) = (number(Some(from), line, "a rank")?, bytes(length)?);
            let selector = Selector { context: 0, source: Some(source), tag: Some(tag(rest)?) };
            Ok(RankEvent::PostReceive(Room { selector, bytes }))
        }
        words => Err((line, format!("'{}' is none of calc, send and recv", words.join(" ")))),
    }
}
