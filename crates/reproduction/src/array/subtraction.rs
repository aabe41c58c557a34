//! Times of calls and interrupts, by the paper's method (section 5.3). Calls are timed alone. Then a program sends a
//! series of buffers, with other work of known length between them. The time by which it exceeds its work and its calls
//! is that in which the interrupts used the processor.

use analysis::model::Point;
use analysis::model::hockney::fit;
use contract::{Result as RunResult, Time, TimeSpan};
use fabric_sim::Machine;
use fabric_sim::array::{
    ArrayNode, ArrayOptions, BUFFER_WORDS_MAX, Medium, ReceiveMode, run_array,
};

use super::{CellMedium, CellMode, CostTerm, in_words};

/// Number of buffers in a series.
const SERIES: u64 = 4;
/// Work between two calls: longer than the longest buffer takes.
const WORK: TimeSpan = TimeSpan::from_us(200_000);
/// Steps of the lengths of buffers between which a knee is searched: every length over links, every third over the bus,
/// where the knee is at much longer buffers.
const STEPS: [usize; 2] = [1, 3];
const LOCAL_WORDS_MAX: usize = 64;
/// Half-width of the intervals of a simulated time relative to it: it is exact, except for the steps of whole words.
const SPREAD: f64 = 0.01;

/// A series of buffers from one processor to another.
pub(super) struct Train<'a> {
    machine: &'a Machine,
    medium: Medium,
    mode: ReceiveMode,
}

/// Times for one buffer, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) send_call: f64,
    pub(super) send_interrupt: f64,
    pub(super) receive_call: f64,
    pub(super) receive_interrupt: f64,
    /// Number of entries of the receiver's interrupt for a SEND.
    entries: f64,
}

impl Measured {
    pub(super) fn total(&self) -> f64 {
        self.send_call + self.send_interrupt + self.receive_call + self.receive_interrupt
    }
}

/// Result of a program: the time of its first call alone, and of the whole series.
type Found = (TimeSpan, TimeSpan);

impl<'a> Train<'a> {
    pub(super) fn new(machine: &'a Machine, medium: CellMedium, mode: CellMode) -> Self {
        Train { machine, medium: medium.medium(), mode: mode.mode() }
    }

    pub(super) fn measure(&self, words: usize) -> Result<Measured, String> {
        let (medium, mode) = (self.medium, self.mode);
        let outcome =
            run_array(self.machine, &ArrayOptions::new(2), move |node| match node.number() {
                0 => series(node, |node| node.send(medium, 1, &vec![1; words])),
                _ => {
                    node.expect(medium, 0, mode)?;
                    series(node, |node| match mode {
                        ReceiveMode::Synchronous => node.receive(medium, 0).map(drop),
                        ReceiveMode::Asynchronous => node.latest(medium, 0).map(drop),
                    })
                }
            })
            .map_err(in_words)?;
        let of = |node: usize| {
            let (call, all): Found = outcome.results[node];
            let subtracted = (WORK + call).times(SERIES);
            (call.as_us(), all.as_us() / SERIES as f64 - subtracted.as_us() / SERIES as f64)
        };
        let ((send_call, send_interrupt), (receive_call, receive_interrupt)) = (of(0), of(1));
        let entries = outcome.interrupts[1].receive as f64 / (SERIES + 1) as f64;
        Ok(Measured { send_call, send_interrupt, receive_call, receive_interrupt, entries })
    }

    /// Returns a term of a call's straight line over words, in milliseconds.
    pub(super) fn call_ms(
        &self,
        term: CostTerm,
        call: impl Fn(&Measured) -> f64,
    ) -> Result<f64, String> {
        let short_us = call(&self.measure(1)?);
        let long_us = call(&self.measure(BUFFER_WORDS_MAX)?);
        let per_word_us = (long_us - short_us) / (BUFFER_WORDS_MAX - 1) as f64;
        Ok(match term {
            CostTerm::Fixed => (short_us - per_word_us) / 1e3,
            CostTerm::PerWord => per_word_us / 1e3,
        })
    }

    /// Returns pairs of transmissions (words and checksum) and the time of the send interrupt.
    fn send_curve(&self) -> Result<Vec<(u64, f64)>, String> {
        let (step, most) = match self.medium {
            Medium::Local => (STEPS[0], LOCAL_WORDS_MAX),
            Medium::Global => (STEPS[1], BUFFER_WORDS_MAX),
        };
        let point = |words: usize| Ok((words as u64 + 1, self.measure(words)?.send_interrupt));
        (1..=most).step_by(step).map(point).collect()
    }

    /// Returns the first transmission that is no longer on the first of the straight lines of which the send
    /// interrupt's curve consists.
    pub(super) fn knee(&self) -> Result<f64, String> {
        let point = |(transmissions, us): (u64, f64)| Point {
            size_bytes: transmissions,
            median_us: us,
            ci_low_us: us * (1.0 - SPREAD),
            ci_high_us: us * (1.0 + SPREAD),
        };
        let points: Vec<Point> = self.send_curve()?.into_iter().map(point).collect();
        let segments = fit(&points, 0.95).map_err(|error| error.to_string())?.segments;
        let second = segments.get(1).ok_or("the curve of the send interrupt has no break")?;
        Ok(second.from_bytes as f64)
    }

    /// Returns the buffer with the least send time a word, in transmissions.
    pub(super) fn cheapest(&self) -> Result<f64, String> {
        let curve = self.send_curve()?;
        let per_word = |&(transmissions, us): &(u64, f64)| us / (transmissions - 1) as f64;
        let least = curve.iter().min_by(|a, b| per_word(a).total_cmp(&per_word(b)));
        least.map(|(transmissions, _)| *transmissions as f64).ok_or_else(|| "no buffers".into())
    }

    /// Returns the most entries of the receive interrupt for a SEND, over short and long buffers.
    pub(super) fn entries(&self) -> Result<f64, String> {
        let lengths = [1, 20, 180, BUFFER_WORDS_MAX];
        lengths.iter().try_fold(0.0, |most: f64, &words| Ok(most.max(self.measure(words)?.entries)))
    }
}

/// Times a call after a long time of work, and a series of calls with as much work between them.
fn series(
    node: &ArrayNode<'_>,
    call: impl Fn(&ArrayNode<'_>) -> RunResult<()>,
) -> RunResult<Found> {
    let is_receiver = node.number() == 1;
    let work = || node.compute(WORK);
    // The receiver's first call finds the sender's first buffer.
    if is_receiver {
        work();
    }
    let begin = node.now();
    call(node)?;
    let alone = node.now().since(begin);
    // The remaining interrupts of the first buffer are no part of the series.
    work();
    let idle_until = Time::ZERO + WORK.times(4);
    node.compute(idle_until.since(node.now()));
    let begin = node.now();
    for _ in 0..SERIES {
        if is_receiver {
            work();
            call(node)?;
        } else {
            call(node)?;
            work();
        }
    }
    Ok((alone, node.now().since(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that the method finds the machine file's costs. By hand: three transmissions, and interrupts of the
    /// machine file; the calls are those of tables 1 and 2.
    #[test]
    fn subtraction_finds_what_the_machine_file_says() {
        let machine = fabric_sim::machine::find("fem").unwrap();
        let array = machine.array.as_ref().unwrap();
        for medium in [CellMedium::Local, CellMedium::Global] {
            for (mode, call) in [(CellMode::Sync, 458.8), (CellMode::Async, 414.3)] {
                let measured = Train::new(&machine, medium, mode).measure(2).unwrap();
                let close = |found: f64, expected: f64| {
                    assert!(
                        (found - expected).abs() < 1e-3,
                        "{found} and {expected}: {measured:?}"
                    );
                };
                close(measured.send_call, 757.7);
                close(measured.receive_call, call);
                close(measured.send_interrupt, array.send_interrupt.of(3).as_us());
                close(measured.receive_interrupt, array.receive_interrupt.of(3).as_us());
            }
        }
    }

    /// Tests that the receive interrupt's time is a straight line over words (figures 5), and that its time a word
    /// falls towards the line's slope (figures 6).
    #[test]
    fn receive_curves_are_lines() {
        let machine = fabric_sim::machine::find("fem").unwrap();
        let array = machine.array.as_ref().unwrap();
        let train = Train::new(&machine, CellMedium::Global, CellMode::Async);
        let mut before = f64::INFINITY;
        for words in [1, 16, 64, 180, 255] {
            let found = train.measure(words).unwrap().receive_interrupt;
            let line = array.receive_interrupt.of(words + 1).as_us();
            assert!((found - line).abs() < 1e-3, "{words} words: {found} and {line}");
            assert!(found / (words as f64) < before);
            before = found / words as f64;
        }
    }
}
