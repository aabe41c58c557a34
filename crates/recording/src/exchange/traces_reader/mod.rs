//! A reader of time-independent traces. Lines of one rank are in its order. Ranks may follow each other or be mixed, in
//! one text or in several.

mod collectives;
mod datatypes;
mod pairs;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use contract::{Selector, TimeSpan};

use super::{Mistake, number};
use crate::file::are_ranks;
use crate::{RankEvent, Room, SentMessage};
use collectives::Collective;
use words::Words;

/// Maximum number of ranks in a replay.
const MOST_RANKS: usize = 1 << 24;
/// Length of an element without a datatype, if the trace's `init` has a word after it, and otherwise.
const OLD_ELEMENT_BYTES: usize = 8;
const ELEMENT_BYTES: usize = 1;
/// Context of the messages of collectives.
const COLLECTIVES: u32 = 1;

/// Index of a text, and a mistake in it.
type Wrong = (usize, Mistake);

/// A started operation.
struct Started {
    /// Sender, receiver and tag, as in the trace.
    key: Key,
    state: State,
}

type Key = (Option<usize>, Option<usize>, Option<u32>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    UnderWay,
    /// It was last tested at this place among the events. It ended there if nothing waits for it.
    Tested(usize),
    Over,
}

/// The part of one rank that has been read.
#[derive(Default)]
struct Rank {
    events: Vec<RankEvent>,
    started: Vec<Started>,
    /// All operations before this place have ended.
    open_from: usize,
    /// Sends to MPI_PROC_NULL, which take no time.
    to_nobody: Vec<Key>,
    /// Tests that did not end their operation, as places among the events.
    idle: BTreeSet<usize>,
    /// Messages of `sendRecv`: the place among the events, the text and the line.
    tagless: BTreeMap<usize, (usize, usize)>,
    /// Length of an element without a datatype.
    default_bytes: usize,
    /// Number of collectives that became messages.
    collectives: u32,
}

pub(super) fn read(texts: &[String]) -> Result<Vec<Vec<RankEvent>>, Wrong> {
    let lines = || {
        let texts = texts.iter().enumerate();
        texts.flat_map(|(text, lines)| actions(lines).map(move |(line, words)| (text, line, words)))
    };
    let mut size = 0;
    for (text, line, words) in lines() {
        size = size.max(1 + rank_of(words[0], line).map_err(|mistake| (text, mistake))?);
    }
    if size == 0 {
        return Err((0, (1, "there is no rank".into())));
    }
    if !are_ranks(size, texts.iter().map(String::len).sum()) {
        return Err((0, (1, format!("{size} ranks cannot be replayed"))));
    }
    let mut ranks = Vec::new();
    ranks.resize_with(size, || Rank { default_bytes: ELEMENT_BYTES, ..Rank::default() });
    for (text, line, words) in lines() {
        let me = rank_of(words[0], line).map_err(|mistake| (text, mistake))?;
        let place = (me, size);
        ranks[me].read(place, &words[1..], (text, line)).map_err(|mistake| (text, mistake))?;
    }
    ranks.iter_mut().for_each(Rank::wait_for_all);
    pairs::assign_tags(&mut ranks)?;
    Ok(ranks.into_iter().map(Rank::done).collect())
}

/// Returns the lines of a text that have words, with their numbers. Lines that begin with `#` are comments.
pub(super) fn actions(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let lines = (1..).zip(text.lines());
    let lines = lines.map(|(line, words)| (line, words.split_whitespace().collect::<Vec<_>>()));
    lines.filter(|(_, words)| words.first().is_some_and(|word| !word.starts_with('#')))
}

fn rank_of(word: &str, line: usize) -> Result<usize, Mistake> {
    let rank: usize = number(Some(word.trim_start_matches('p')), line, "a rank")?;
    match rank < MOST_RANKS {
        true => Ok(rank),
        false => Err((line, format!("rank {rank} cannot be replayed"))),
    }
}

impl Rank {
    fn read(
        &mut self,
        (me, size): (usize, usize),
        words: &[&str],
        place: (usize, usize),
    ) -> Result<(), Mistake> {
        let line = place.1;
        let [verb, given @ ..] = words else { return Err((line, "an action is missing".into())) };
        let words = Words { given, line, ranks: size, default_bytes: self.default_bytes };
        // SimGrid writes some names in capitals.
        match &*verb.to_ascii_lowercase() {
            "init" if !given.is_empty() => self.default_bytes = OLD_ELEMENT_BYTES,
            "init" | "comm_size" | "comm_dup" | "location" => {}
            "finalize" | "waitall" => self.wait_for_all(),
            "compute" => {
                self.events.push(RankEvent::Compute(words.operations(0)?));
            }
            "sleep" => {
                self.events.push(RankEvent::Sleep(TimeSpan::from_s(words.real(0, "seconds")?)));
            }
            "send" | "bsend" => {
                self.events.extend(message(&words)?.map(RankEvent::Send));
            }
            "ssend" => {
                if self.post_send(me, &words, true)? {
                    self.end(self.started.len() - 1);
                }
            }
            "isend" | "ibsend" => drop(self.post_send(me, &words, false)?),
            // SimGrid's own spelling is `ISsend`.
            "issend" => drop(self.post_send(me, &words, true)?),
            "recv" => self.events.push(RankEvent::Receive(room(&words)?)),
            "irecv" => {
                let room = room(&words)?;
                let key =
                    (room.selector.source.map(|from| from as usize), Some(me), room.selector.tag);
                self.post(key, RankEvent::PostReceive(room));
            }
            "sendrecv" => self.send_and_receive(me, &words, place)?,
            "wait" => self.wait(&words)?,
            "test" => self.test(&words)?,
            "testall" => self.test_all(),
            "waitany" | "waitsome" | "testany" | "testsome" => {
                let why = "the trace does not say which operation it ended";
                return Err((line, format!("the action '{verb}' cannot be replayed: {why}")));
            }
            other => {
                let found = collectives::read(other, &words, (me, size))?;
                let unknown = || (line, format!("the action '{verb}' cannot be replayed"));
                let (collective, computed) = found.ok_or_else(unknown)?;
                self.collective(me, collective);
                if computed > TimeSpan::ZERO {
                    self.events.push(RankEvent::Compute(computed));
                }
            }
        }
        Ok(())
    }

    /// Returns the place of the first operation that has not ended. Long traces start millions, and few of them are
    /// open at a time.
    fn first_open(&mut self) -> usize {
        let is_over = |one: &Started| one.state == State::Over;
        self.open_from +=
            self.started[self.open_from..].iter().take_while(|one| is_over(one)).count();
        self.open_from
    }

    /// Starts an operation.
    fn post(&mut self, key: Key, event: RankEvent) {
        // An operation with the same key that was tested, and not waited for, ended in its last test.
        let tested = |one: &&mut Started| one.key == key && matches!(one.state, State::Tested(_));
        let open = self.first_open();
        self.started[open..].iter_mut().filter(tested).for_each(|one| one.state = State::Over);
        self.started.push(Started { key, state: State::UnderWay });
        self.events.push(event);
    }

    /// Starts a send. Returns false if there is no receiver.
    fn post_send(
        &mut self,
        me: usize,
        words: &Words<'_>,
        synchronous: bool,
    ) -> Result<bool, Mistake> {
        match message(words)? {
            Some(message) => {
                let key = (Some(me), Some(message.to), Some(message.tag));
                self.post(key, RankEvent::PostSend { message, synchronous });
                Ok(true)
            }
            None => {
                self.to_nobody.push((Some(me), None, words.tag(1)?));
                Ok(false)
            }
        }
    }

    /// Adds a message in each direction. The trace has their lengths and partners only.
    fn send_and_receive(
        &mut self,
        me: usize,
        words: &Words<'_>,
        place: (usize, usize),
    ) -> Result<(), Mistake> {
        let (to, from) = (words.partner(1)?, words.partner(3)?);
        let sent = words.bytes(0, 4)?;
        let bytes = words.bytes(2, 5)?;
        let source = from.map(|from| from as u32);
        let room = Room { selector: Selector { context: 0, source, tag: None }, bytes };
        self.tagless.insert(self.events.len(), place);
        self.post((from, Some(me), None), RankEvent::PostReceive(room));
        if let Some(to) = to {
            self.tagless.insert(self.events.len(), place);
            let message = SentMessage { to, context: 0, tag: 0, bytes: sent };
            self.events.push(RankEvent::Send(message));
        }
        self.end(self.started.len() - 1);
        Ok(())
    }

    fn collective(&mut self, me: usize, collective: Collective) {
        let rounds = match collective {
            Collective::Recorded(collective) => {
                self.events.push(RankEvent::Collective(collective));
                return;
            }
            Collective::Messages(rounds) => rounds,
        };
        let (context, tag) = (COLLECTIVES, self.collectives);
        self.collectives += 1;
        for round in rounds {
            let first = self.started.len();
            for (from, bytes) in round.receives {
                let selector = Selector { context, source: Some(from as u32), tag: Some(tag) };
                let key = (Some(from), Some(me), Some(tag));
                self.post(key, RankEvent::PostReceive(Room { selector, bytes }));
            }
            for (to, bytes) in round.sends {
                let message = SentMessage { to, context, tag, bytes };
                let event = RankEvent::PostSend { message, synchronous: false };
                self.post((Some(me), Some(to), Some(tag)), event);
            }
            (first..self.started.len()).for_each(|index| self.end(index));
        }
    }

    /// Returns the operation of a `wait` or a `test`: the oldest with its words, or, without words, as in old traces,
    /// the latest. Returns `None` for a send to no rank.
    fn find(&mut self, words: &Words<'_>) -> Result<Option<usize>, Mistake> {
        let is_there = |one: &Started| one.state != State::Over;
        let found = if words.given.is_empty() {
            self.started.iter().rposition(is_there)
        } else {
            let key = (words.rank(0)?, words.rank(1)?, words.tag(2)?);
            if let Some(at) = self.to_nobody.iter().position(|&one| one == key) {
                self.to_nobody.remove(at);
                return Ok(None);
            }
            let open = self.first_open();
            let found = self.started[open..].iter().position(|one| one.key == key && is_there(one));
            found.map(|at| open + at)
        };
        let nothing = || (words.line, "nothing was started that this waits for".to_string());
        found.map(Some).ok_or_else(nothing)
    }

    fn wait(&mut self, words: &Words<'_>) -> Result<(), Mistake> {
        if let Some(index) = self.find(words)? {
            self.end(index);
        }
        Ok(())
    }

    /// Tests an operation. The test ends it if it is the last one and nothing waits for the operation.
    fn test(&mut self, words: &Words<'_>) -> Result<(), Mistake> {
        if let Some(index) = self.find(words)? {
            let at = self.events.len();
            self.end(index);
            self.started[index].state = State::Tested(at);
        }
        Ok(())
    }

    fn test_all(&mut self) {
        for index in self.first_open()..self.started.len() {
            if self.started[index].state != State::Over {
                let at = self.events.len();
                self.end(index);
                self.started[index].state = State::Tested(at);
            }
        }
    }

    fn wait_for_all(&mut self) {
        for index in self.first_open()..self.started.len() {
            if self.started[index].state == State::UnderWay {
                self.end(index);
            }
        }
    }

    fn end(&mut self, index: usize) {
        if let State::Tested(at) = self.started[index].state {
            self.idle.insert(at);
        }
        self.started[index].state = State::Over;
        self.events.push(RankEvent::End((self.started.len() - 1 - index) as u64));
    }

    fn done(self) -> Vec<RankEvent> {
        let events = self.events.into_iter().enumerate();
        events.filter(|(at, _)| !self.idle.contains(at)).map(|(_, event)| event).collect()
    }
}

/// Returns a sent message, or `None` if there is no receiver. Old traces have no tags.
fn message(words: &Words<'_>) -> Result<Option<SentMessage>, Mistake> {
    let (tag, bytes) = tag_and_bytes(words)?;
    let tag = tag.ok_or_else(|| (words.line, "a send needs a tag".to_string()))?;
    Ok(words.partner(0)?.map(|to| SentMessage { to, context: 0, tag, bytes }))
}

fn room(words: &Words<'_>) -> Result<Room, Mistake> {
    let (tag, bytes) = tag_and_bytes(words)?;
    let source = words.partner(0)?.map(|from| from as u32);
    Ok(Room { selector: Selector { context: 0, source, tag }, bytes })
}

fn tag_and_bytes(words: &Words<'_>) -> Result<(Option<u32>, usize), Mistake> {
    if words.given.len() == 2 {
        return Ok((Some(0), words.count(1, "a length")? * words.default_bytes));
    }
    Ok((words.tag(1)?, words.bytes(2, 3)?))
}
