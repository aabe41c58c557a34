//! An array of processors that send each other words over links and a bus (Knott 1983).

use contract::TimeSpan;

use crate::array::Wiring;

/// The processors of an array, at the level of words and interrupts. See [`crate::array`].
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// How its links are plugged unless a run asks for other wirings; a pair that several name has one link.
    pub wiring: Vec<Wiring>,
    /// The most links of a processor.
    pub links_max: usize,
    /// The time of a word on a link.
    pub link_word: TimeSpan,
    /// The words that the FIFO at the receiving end of a link holds.
    pub link_fifo_words: usize,
    /// The time of a word on the bus.
    pub bus_word: TimeSpan,
    /// The words that a processor's FIFO towards the bus holds.
    pub bus_out_words: usize,
    /// The words that a processor's FIFO from the bus holds.
    pub bus_in_words: usize,
    /// A call of SEND.
    pub send_call: WordCost,
    /// A call of RECV in synchronous mode, once the buffer is there.
    pub receive_call: WordCost,
    /// A call of RECV in asynchronous mode. Receive interrupts are locked out meanwhile.
    pub latest_call: WordCost,
    /// The send interrupt: each entry, and each word that it moves.
    pub send_interrupt: WordCost,
    /// The receive interrupt: each word that it takes, and the end of each buffer.
    pub receive_interrupt: WordCost,
    /// From the last processor's flag until all see that all are set.
    pub flag: TimeSpan,
    /// From the last processor's number until all have the sum or the maximum.
    pub sum_maximum: TimeSpan,
}

/// A fixed time, and a time for each word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordCost {
    /// However many words there are.
    pub fixed: TimeSpan,
    /// For each word.
    pub word: TimeSpan,
}

impl WordCost {
    /// The time for so many words.
    pub fn of(self, words: usize) -> TimeSpan {
        self.fixed + self.word.times(words as u64)
    }
}
