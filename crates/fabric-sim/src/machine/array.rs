//! An array of processors that exchange words over links and a bus (Knott 1983).

use contract::TimeSpan;

use crate::array::Wiring;

/// The processors of an array, described at the level of words and interrupts. See [`crate::array`].
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Wirings of its links, unless a run selects others. A pair of processors that several wirings name has one link.
    pub wiring: Vec<Wiring>,
    /// Maximum number of links of a processor.
    pub links_max: usize,
    /// Time of a word on a link.
    pub link_word: TimeSpan,
    /// Number of words that the FIFO at the receiving end of a link holds.
    pub link_fifo_words: usize,
    /// Time of a word on the bus.
    pub bus_word: TimeSpan,
    /// Number of words that a processor's FIFO towards the bus holds.
    pub bus_out_words: usize,
    /// Number of words that a processor's FIFO from the bus holds.
    pub bus_in_words: usize,
    /// Time of a call of SEND.
    pub send_call: WordCost,
    /// Time of a call of RECV in synchronous mode after the buffer has arrived.
    pub receive_call: WordCost,
    /// Time of a call of RECV in asynchronous mode. Receive interrupts are disabled during the call.
    pub latest_call: WordCost,
    /// Time of the send interrupt: fixed for each entry, and for each word that it moves.
    pub send_interrupt: WordCost,
    /// Time of the receive interrupt: for each word that it takes, and fixed for the end of each buffer.
    pub receive_interrupt: WordCost,
    /// Time from the moment when the last processor sets its flag until all see that all flags are set.
    pub flag: TimeSpan,
    /// Time from the last processor's number until all have the sum or the maximum.
    pub sum_maximum: TimeSpan,
}

/// A fixed time and a time for each word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordCost {
    /// Time that does not depend on the number of words.
    pub fixed: TimeSpan,
    /// Time for each word.
    pub word: TimeSpan,
}

impl WordCost {
    /// Returns the time for `words` words.
    pub fn of(self, words: usize) -> TimeSpan {
        self.fixed + self.word.times(words as u64)
    }
}
