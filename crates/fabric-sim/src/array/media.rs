//! The links and the bus: words under way, and the FIFOs in which they wait.

use std::collections::VecDeque;

use contract::{Time, TimeSpan};

use crate::machine::Array;

/// A word under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) from: usize,
    /// Receiver. `None`: all processors but the sender.
    pub(super) to: Option<usize>,
    pub(super) bits: u16,
    /// True if it is the checksum, which ends a buffer.
    pub(super) last: bool,
}

/// A link in one direction.
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Words that have arrived.
    pub(super) fifo: VecDeque<Word>,
    /// Words on the wire.
    wire: VecDeque<Word>,
    wire_free: Time,
}

impl Link {
    pub(super) fn new(from: usize, to: usize) -> Self {
        let (fifo, wire) = (VecDeque::new(), VecDeque::new());
        Link { from, to, fifo, wire, wire_free: Time::ZERO }
    }

    /// Returns whether the FIFO has room for another word beside those in it and on the wire.
    pub(super) fn has_room(&self, array: &Array) -> bool {
        self.fifo.len() + self.wire.len() < array.link_fifo_words
    }

    /// Puts a word on the wire, and returns the time of its arrival.
    pub(super) fn carry(&mut self, now: Time, word: Word, array: &Array) -> Time {
        self.wire.push_back(word);
        self.wire_free = self.wire_free.max(now) + array.link_word;
        self.wire_free
    }

    /// Moves the oldest word on the wire, which has arrived, to the FIFO.
    pub(super) fn arrive(&mut self) {
        let word = self.wire.pop_front().expect("a word is on the wire");
        self.fifo.push_back(word);
    }
}

/// Use of the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusUse {
    /// Words that it carried; one to all processors is one word.
    pub words: u64,
    /// Longest wait of a word at the head of its FIFO while the bus carried others.
    pub longest_wait: TimeSpan,
    /// Time at which it began to carry the first word.
    pub begin: Time,
    /// Time at which it had carried the last.
    pub end: Time,
}

impl BusUse {
    /// Returns the time from the beginning of its first word to the end of its last.
    pub fn span(&self) -> TimeSpan {
        self.end.since(self.begin)
    }
}

/// The bus, with the FIFOs at each processor.
pub(super) struct Bus {
    /// FIFOs to the bus, by processor.
    pub(super) send_fifos: Vec<VecDeque<Word>>,
    /// FIFOs from the bus, by processor.
    pub(super) receive_fifos: Vec<VecDeque<Word>>,
    /// Processors with a word at the head of their FIFO, and the time since which they have it, in the order of their
    /// requests.
    requests: VecDeque<(usize, Time)>,
    /// Processor whose word it carries.
    carries: Option<usize>,
    pub(super) used: BusUse,
}

impl Bus {
    pub(super) fn new(nodes: usize) -> Self {
        let fifos = || vec![VecDeque::new(); nodes];
        let (requests, used) = (VecDeque::new(), BusUse::default());
        Bus { send_fifos: fifos(), receive_fifos: fifos(), requests, carries: None, used }
    }

    pub(super) fn has_room(&self, from: usize, array: &Array) -> bool {
        self.send_fifos[from].len() < array.bus_out_words
    }

    /// Puts a word into its sender's FIFO.
    pub(super) fn put(&mut self, now: Time, word: Word) {
        let fifo = &mut self.send_fifos[word.from];
        fifo.push_back(word);
        if fifo.len() == 1 {
            self.requests.push_back((word.from, now));
        }
    }

    /// Begins to carry the word of the oldest request whose receivers have room. Returns whether it did.
    pub(super) fn grant(&mut self, now: Time, array: &Array) -> bool {
        if self.carries.is_some() {
            return false;
        }
        let fits = |&(from, _): &(usize, Time)| {
            let word = self.send_fifos[from].front().expect("it asks for a word");
            self.receivers(*word).all(|to| self.receive_fifos[to].len() < array.bus_in_words)
        };
        let Some(place) = self.requests.iter().position(fits) else { return false };
        let (from, since) = self.requests.remove(place).expect("just found");
        if self.used.words == 0 {
            self.used.begin = now;
        }
        self.used.words += 1;
        self.used.longest_wait = self.used.longest_wait.max(now.since(since));
        self.carries = Some(from);
        true
    }

    /// Delivers the carried word to its receivers' FIFOs. Returns its sender and its receivers.
    pub(super) fn deliver(&mut self, now: Time) -> (usize, Vec<usize>) {
        let from = self.carries.take().expect("the bus carries a word");
        self.used.end = now;
        let word = self.send_fifos[from].pop_front().expect("it was carried");
        if !self.send_fifos[from].is_empty() {
            self.requests.push_back((from, now));
        }
        let receivers: Vec<usize> = self.receivers(word).collect();
        for &to in &receivers {
            self.receive_fifos[to].push_back(word);
        }
        (from, receivers)
    }

    fn receivers(&self, word: Word) -> impl Iterator<Item = usize> + use<> {
        let nodes = self.send_fifos.len();
        (0..nodes).filter(move |&node| match word.to {
            Some(to) => node == to,
            None => node != word.from,
        })
    }
}
