//! The measurements of programs on the Finite Element Machine, simulated word by word (Knott 1983).
//!
//! * `subtraction`: calls, interrupts and knees, by the paper's method;
//! * `sums`: the sums of section 6;
//! * `tree`: the senders and receivers of a sum over links.

mod subtraction;
mod sums;
mod tree;

use contract::Time;
use fabric_sim::array::{ArrayOptions, Medium, ReceiveMode, run_array};
use fabric_sim::{Machine, machine};
use serde::Deserialize;

use subtraction::Train;
pub(crate) use sums::Sum;

/// Machine on which all cells here are measured.
const MACHINE: &str = "fem";

/// A cell that is measured on the array.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum ArrayCell {
    /// Cost of a SEND call, in milliseconds.
    SendCall { medium: CellMedium, mode: CellMode, term: CostTerm },
    /// Cost of a RECV call, in milliseconds.
    ReceiveCall { medium: CellMedium, mode: CellMode, term: CostTerm },
    /// Time of the send interrupt for each word of a buffer, in microseconds.
    SendInterruptPerWord { medium: CellMedium, mode: CellMode, words: usize },
    /// Transmission from which the send interrupt takes longer for each word: words and checksum.
    SendKnee { medium: CellMedium, mode: CellMode },
    /// Transmissions of the buffer for which the send interrupt takes the least time a word.
    CheapestSend { medium: CellMedium, mode: CellMode },
    /// Maximum number of entries of the receive interrupt for a SEND.
    ReceiveEntries { medium: CellMedium, mode: CellMode },
    /// Calls and interrupts of both sides for a buffer, in microseconds.
    Total { medium: CellMedium, mode: CellMode, words: usize },
    /// Total for each word of buffers of this many words, over that of buffers of two.
    ShareOfTwoWords { medium: CellMedium, mode: CellMode, words: usize },
    /// A sum of 32 values, in microseconds.
    Sum { how: Sum },
    /// Time from word to word on the bus when all processors send at once, in microseconds.
    BusInterval,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CellMedium {
    Local,
    Global,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CellMode {
    Sync,
    Async,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CostTerm {
    Fixed,
    PerWord,
}

impl ArrayCell {
    /// Returns the cell's value, in its unit.
    pub(crate) fn value(&self) -> Result<f64, String> {
        let machine = machine::find(MACHINE).map_err(|error| error.to_string())?;
        let train = |medium, mode| Train::new(&machine, medium, mode);
        match *self {
            ArrayCell::SendCall { medium, mode, term } => {
                train(medium, mode).call_ms(term, |measured| measured.send_call)
            }
            ArrayCell::ReceiveCall { medium, mode, term } => {
                train(medium, mode).call_ms(term, |measured| measured.receive_call)
            }
            ArrayCell::SendInterruptPerWord { medium, mode, words } => {
                Ok(train(medium, mode).measure(words)?.send_interrupt / words as f64)
            }
            ArrayCell::SendKnee { medium, mode } => train(medium, mode).knee(),
            ArrayCell::CheapestSend { medium, mode } => train(medium, mode).cheapest(),
            ArrayCell::ReceiveEntries { medium, mode } => train(medium, mode).entries(),
            ArrayCell::Total { medium, mode, words } => {
                Ok(train(medium, mode).measure(words)?.total())
            }
            ArrayCell::ShareOfTwoWords { medium, mode, words } => {
                let per_word = |words: usize| {
                    Ok::<_, String>(train(medium, mode).measure(words)?.total() / words as f64)
                };
                Ok(per_word(words)? / per_word(2)?)
            }
            ArrayCell::Sum { how } => how.time_us(&machine),
            ArrayCell::BusInterval => bus_interval_us(&machine),
        }
    }
}

impl CellMedium {
    fn medium(self) -> Medium {
        match self {
            CellMedium::Local => Medium::Local,
            CellMedium::Global => Medium::Global,
        }
    }
}

impl CellMode {
    fn mode(self) -> ReceiveMode {
        match self {
            CellMode::Sync => ReceiveMode::Synchronous,
            CellMode::Async => ReceiveMode::Asynchronous,
        }
    }
}

fn in_words((node, error): fabric_sim::Failure) -> String {
    format!("processor {node}: {error}")
}

fn us(time: Time) -> f64 {
    time.since(Time::ZERO).as_us()
}

/// Returns the interval in a program in which all processors send a buffer at once. With its checksum it just fits into
/// a FIFO, so no processor waits for space.
fn bus_interval_us(machine: &Machine) -> Result<f64, String> {
    let words =
        machine.array.as_ref().map_or(0, |array| array.bus_out_words.min(array.bus_in_words) - 1);
    let nodes = machine.ranks_max.unwrap_or(0);
    let outcome = run_array(machine, &ArrayOptions::new(nodes), move |node| {
        let to = (node.number() + nodes / 2) % nodes;
        node.send(Medium::Global, to, &vec![1; words])
    });
    let bus = outcome.map_err(in_words)?.bus;
    Ok(bus.span().as_us() / bus.words as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the interval of the bus. 36 processors put a word on it every 55 µs, and it takes 0.8: each requests the
    /// bus when at most 35 others are before it.
    #[test]
    fn the_bus_is_never_saturated() {
        let machine = machine::find(MACHINE).unwrap();
        let interval_us = bus_interval_us(&machine).unwrap();
        // The first and the last of 64 transmissions are 63 x 55 µs apart, and then 36 words follow each other.
        let expected_us = (63.0 * 55.0 + 36.0 * 0.8) / (64.0 * 36.0);
        assert!((interval_us - expected_us).abs() < 1e-6, "{interval_us} and {expected_us}");
        let outcome = run_array(&machine, &ArrayOptions::new(36), |node| {
            node.send(Medium::Global, (node.number() + 1) % 36, &[1; 63])
        });
        let wait_us = outcome.unwrap().bus.longest_wait.as_us();
        assert!((wait_us - 35.0 * 0.8).abs() < 1e-6, "{wait_us}");
    }

    #[test]
    fn cells_are_read_and_mistakes_in_them_refused() {
        let read = |text: &str| toml::from_str::<ArrayCell>(text);
        assert!(read("of = \"total\"\nmedium = \"local\"\nmode = \"sync\"\nwords = 2").is_ok());
        assert!(read("of = \"sum\"\nhow = \"one-processor\"").is_ok());
        assert!(read("of = \"sum\"\nhow = \"ten-processors\"").is_err());
        assert!(read("of = \"total\"\nmedium = \"wire\"\nmode = \"sync\"\nwords = 2").is_err());
    }
}
