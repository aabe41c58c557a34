//! The virtual time of computing between calls.

use std::sync::Arc;

use contract::{Error, Result, TimeSpan};
use recording::{RankEvent, Recording};

use fabric_proxy::wire::scaled;

/// The virtual time of a rank's computing.
#[derive(Clone, Debug, PartialEq)]
pub enum Computing {
    /// Computing takes no time: only communication counts.
    None,
    /// The processor time of the thread, times this factor.
    Measured(f64),
    /// The time in a recording of the same program.
    Recorded(Arc<Recording>),
}

impl Computing {
    /// Returns the factor of measured computing, or `None` if processes need not report their computing time.
    pub(crate) fn factor(&self) -> Option<f64> {
        match self {
            Computing::Measured(factor) => Some(*factor),
            Computing::None | Computing::Recorded(_) => None,
        }
    }

    /// Returns the computing of a rank.
    pub(crate) fn of_rank(&self, rank: usize) -> RankComputing {
        match self {
            Computing::None => RankComputing::Measured(0.0),
            Computing::Measured(factor) => RankComputing::Measured(*factor),
            Computing::Recorded(recording) => RankComputing::Recorded(Cursor {
                recording: recording.clone(),
                rank,
                events: of_program(recording.events(rank)),
                at: 0,
            }),
        }
    }
}

/// The meaning of a request for recorded computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A call that recordings contain.
    Call(Call),
    /// A wait for started operations.
    Wait,
    /// The end of the rank's part.
    End,
    /// A request that recordings do not contain.
    Other,
}

/// The calls that recordings contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Send,
    Receive,
    Exchange,
    Collective,
    Sleep,
}

/// The computing of one rank.
pub(crate) enum RankComputing {
    Measured(f64),
    Recorded(Cursor),
}

/// A rank's position in a recording.
pub(crate) struct Cursor {
    recording: Arc<Recording>,
    rank: usize,
    events: Vec<RankEvent>,
    at: usize,
}

impl RankComputing {
    /// Returns the virtual time of computing before a request, which was measured as `ns`.
    ///
    /// # Errors
    /// If the recording has another call there.
    pub(crate) fn before(&mut self, step: Step, ns: u64) -> Result<TimeSpan> {
        match self {
            RankComputing::Measured(factor) => Ok(scaled(ns, *factor)),
            RankComputing::Recorded(cursor) => cursor.before(step),
        }
    }

    /// Returns the virtual time that `ns` of other threads would have taken if they counted, or zero if computing is
    /// not measured.
    pub(crate) fn uncounted(&self, ns: u64) -> TimeSpan {
        match self {
            RankComputing::Measured(factor) => scaled(ns, *factor),
            RankComputing::Recorded(_) => TimeSpan::ZERO,
        }
    }
}

impl Cursor {
    fn before(&mut self, step: Step) -> Result<TimeSpan> {
        let mut sum = TimeSpan::ZERO;
        match step {
            Step::Other => {}
            // The computing before the wait is recorded before the wait's end.
            Step::Wait => {
                while self.is_end(self.at) {
                    self.at += 1;
                }
                let mut at = self.at;
                while let Some(RankEvent::Compute(span)) = self.events.get(at) {
                    (sum, at) = (sum + *span, at + 1);
                }
                if !self.is_end(at) {
                    return Ok(TimeSpan::ZERO);
                }
                self.at = at;
            }
            Step::End | Step::Call(_) => {
                let found = loop {
                    let event = self.events.get(self.at).copied();
                    self.at += 1;
                    match event {
                        Some(RankEvent::Compute(span)) => sum = sum + span,
                        Some(RankEvent::End(_) | RankEvent::Cancel(_)) => {}
                        other => break other.map(call_of),
                    }
                };
                let expected = if let Step::Call(call) = step { Some(call) } else { None };
                if found != expected {
                    return Err(self.mismatch(found, expected));
                }
            }
        }
        Ok(sum)
    }

    fn is_end(&self, at: usize) -> bool {
        matches!(self.events.get(at), Some(RankEvent::End(_) | RankEvent::Cancel(_)))
    }

    fn mismatch(&self, recorded: Option<Call>, made: Option<Call>) -> Error {
        let name = |call: Option<Call>| call.map_or("its end", Call::name);
        Error::Program(format!(
            "the recorded computing is of another program, or of other arguments ({}), or the program has windows: where rank \
             {} comes to {}, the recording has {}",
            self.recording.title,
            self.rank,
            name(made),
            name(recorded)
        ))
    }
}

impl Call {
    fn name(self) -> &'static str {
        match self {
            Call::Send => "a send",
            Call::Receive => "a receive",
            Call::Exchange => "a send and receive",
            Call::Collective => "a collective of all ranks",
            Call::Sleep => "a sleep",
        }
    }
}

/// Returns whether messages of a context belong to collectives. Contexts of collectives are odd, but so is the context
/// of claimed messages, which do not.
pub(crate) fn is_of_collectives(context: u32) -> bool {
    context % 2 == 1 && context != u32::MAX
}

/// Returns the events that the program has caused, without those that the library caused while the program waited.
fn of_program(mut events: impl Iterator<Item = RankEvent>) -> Vec<RankEvent> {
    let mut kept = Vec::new();
    while let Some(event) = events.next() {
        match event {
            RankEvent::Meanwhile | RankEvent::Aside => drop(events.next()),
            RankEvent::PostSend { message, .. } if is_of_collectives(message.context) => {}
            RankEvent::PostReceive(room) if is_of_collectives(room.selector.context) => {}
            other => kept.push(other),
        }
    }
    kept
}

/// Returns the call of an event. Computing, ends and marks have none, and are not passed to this function.
fn call_of(event: RankEvent) -> Call {
    match event {
        RankEvent::Send(_) | RankEvent::PostSend { .. } => Call::Send,
        RankEvent::Receive(_) | RankEvent::PostReceive(_) => Call::Receive,
        RankEvent::Exchange(..) => Call::Exchange,
        RankEvent::Collective(_) => Call::Collective,
        RankEvent::Sleep(_)
        | RankEvent::Compute(_)
        | RankEvent::End(_)
        | RankEvent::Cancel(_)
        | RankEvent::Meanwhile
        | RankEvent::Aside => Call::Sleep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::SentMessage;

    #[test]
    fn computing_takes_its_factor_of_time() {
        let span = |computing: Computing, ns| computing.of_rank(0).before(Step::Wait, ns);
        assert_eq!(span(Computing::Measured(0.5), 3), Ok(TimeSpan::from_ps(1500)));
        assert_eq!(span(Computing::Measured(2.0), 1_000_000), Ok(TimeSpan::from_us(2000)));
        assert_eq!(span(Computing::None, 1_000_000), Ok(TimeSpan::ZERO));
    }

    fn computing(events: &[RankEvent]) -> RankComputing {
        let recording = Recording::of("a program", &[events.to_vec()]);
        Computing::Recorded(Arc::new(recording)).of_rank(0)
    }

    fn send() -> RankEvent {
        let message = SentMessage { to: 0, context: 0, tag: 0, bytes: 0 };
        RankEvent::PostSend { message, synchronous: false }
    }

    #[test]
    fn recorded_computing_comes_before_the_calls_and_waits_that_it_came_before() {
        let us = TimeSpan::from_us;
        let compute = |one| RankEvent::Compute(us(one));
        let events = [
            compute(1),
            send(),
            compute(2),
            RankEvent::End(0),
            compute(4),
            compute(8),
            send(),
            compute(16),
        ];
        let mut own = computing(&events);
        let call = Step::Call(Call::Send);
        let steps = [Step::Other, call, Step::Other, Step::Wait, Step::Wait, call, Step::End];
        let spans = steps.map(|step| own.before(step, 99).unwrap());
        assert_eq!(spans, [0, 1, 0, 2, 0, 12, 16].map(us));
        // A program that polls instead of waiting computes the same.
        let mut polling = computing(&events);
        assert_eq!(
            [call, call, Step::End].map(|step| polling.before(step, 0).unwrap()),
            [1, 14, 16].map(us)
        );
    }

    #[test]
    fn another_call_than_the_recorded_one_is_named() {
        let refusal = |step| computing(&[send()]).before(step, 0).unwrap_err().to_string();
        let words = refusal(Step::Call(Call::Collective));
        assert!(words.contains("rank 0 comes to a collective of all ranks"), "{words}");
        assert!(words.contains("(a program)") && words.contains("has a send"), "{words}");
        assert!(refusal(Step::End).contains("comes to its end"));
    }
}
