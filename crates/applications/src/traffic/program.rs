//! The program of every node, which sends, receives and, on machines whose processors forward, forwards messages.

use std::collections::VecDeque;

use contract::{Buffer, Completed, Error, Posted, Progress, Rank, Result, Source, Tag, Time};

use super::plan::{HEADER_BYTES, Planned};
use super::{MessagePlan, Model};

/// Number of runs that are drawn in advance. Later runs repeat them.
const RUNS: usize = 40;
/// Number of receives that a node has posted at once.
const RECEIVES: usize = 16;

/// The program at one rank, whose messages are drawn in advance.
pub struct TrafficProgram {
    runs: Vec<Run>,
    /// Number of runs so far.
    made: usize,
    finished: Finished,
}

/// One run at this rank.
struct Run {
    plan: MessagePlan,
    /// Number of messages to this rank.
    expected: usize,
    /// Length in bytes of the longest of them.
    longest: usize,
}

/// The results of the last run at this rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finished {
    /// Times in microseconds from the moment at which each message was made until this rank had it.
    pub delays_us: Vec<f64>,
}

/// The state of a run.
struct Underway<'a> {
    run: &'a Run,
    tag: Tag,
    /// Number of messages that were received from each rank.
    taken: Vec<usize>,
    receives: VecDeque<Posted>,
    posted: usize,
    delays_us: Vec<f64>,
}

impl TrafficProgram {
    /// Draws the runs. All ranks must call it.
    ///
    /// # Errors
    /// [`Error::Program`], the same on every rank, for a model that needs nodes that do not exist.
    pub fn new(rank: &mut dyn Rank, model: &Model) -> Result<Self> {
        let (me, ranks) = (rank.rank(), rank.size());
        for other in 0..ranks {
            MessagePlan::new(&Model { messages: 0, ..model.clone() }, other, ranks, 0)?;
        }
        let plans = (0..RUNS).map(|run| MessagePlan::new(model, me, ranks, run as u64));
        let plans = plans.collect::<Result<Vec<MessagePlan>>>()?;
        // For each rank and run, the number of messages to that rank and the length of the longest.
        let mut outgoing = vec![[0u32; 2]; ranks * RUNS];
        for (run, plan) in plans.iter().enumerate() {
            for message in &plan.messages {
                let [count, longest] = &mut outgoing[message.to * RUNS + run];
                *count += 1;
                *longest = (*longest).max(message.bytes as u32);
            }
        }
        let mut incoming = vec![[0u32; 2]; ranks * RUNS];
        rank.all_to_all(bytemuck::cast_slice(&outgoing), bytemuck::cast_slice_mut(&mut incoming))?;
        let of_run = |(run, plan)| {
            let incoming = || incoming.iter().skip(run).step_by(RUNS);
            let expected = incoming().map(|[count, _]| *count as usize).sum();
            let longest = incoming().map(|[_, longest]| *longest as usize).max().unwrap_or(0);
            Run { plan, expected, longest }
        };
        let runs = plans.into_iter().enumerate().map(of_run).collect();
        Ok(TrafficProgram { runs, made: 0, finished: Finished::default() })
    }

    /// Carries out the next run: sends this rank's messages at their times, without waiting for any, and receives those
    /// that arrive. All ranks must call it.
    ///
    /// # Errors
    /// [`Error::Program`] names a message that differs from the sent one.
    pub fn run(&mut self, rank: &mut dyn Rank) -> Result<()> {
        let number = self.made % RUNS;
        self.made += 1;
        let run = &self.runs[number];
        let mut underway = Underway {
            run,
            tag: Tag::new(number as u32),
            taken: vec![0; rank.size()],
            receives: VecDeque::with_capacity(RECEIVES),
            posted: 0,
            delays_us: std::mem::take(&mut self.finished.delays_us),
        };
        underway.delays_us.clear();
        for _ in 0..RECEIVES {
            underway.post(rank, Buffer::zeroed(run.longest))?;
        }
        let mut sends = Vec::with_capacity(run.plan.messages.len());
        let mut due = rank.now();
        // Messages to one destination arrive in order, and those to others come between them.
        let mut given = vec![0; rank.size()];
        for message in &run.plan.messages {
            due += message.gap;
            rank.wait_until(due);
            let buffer = contents(rank, given[message.to], message);
            given[message.to] += 1;
            sends.push(rank.post_send(message.to, underway.tag, buffer)?);
            underway.take_arrived(rank)?;
        }
        while let Some(posted) = underway.receives.pop_front() {
            let completed = rank.wait(posted)?;
            underway.take(rank, completed)?;
        }
        sends.into_iter().try_for_each(|send| rank.wait(send).map(drop))?;
        self.finished.delays_us = underway.delays_us;
        Ok(())
    }

    /// Returns the results of the last run at this rank.
    pub fn finished(&self) -> &Finished {
        &self.finished
    }
}

/// Returns a message of this rank: the present time, its number among those to this destination, and bytes that depend
/// on its sender and its number.
fn contents(rank: &dyn Rank, number: usize, message: &Planned) -> Buffer {
    let mut buffer = Buffer::zeroed(message.bytes);
    buffer[HEADER_BYTES..].fill(fill(rank.rank(), number));
    buffer[..8].copy_from_slice(&rank.now().as_ps().to_ne_bytes());
    buffer[8..HEADER_BYTES].copy_from_slice(&(number as u64).to_ne_bytes());
    buffer
}

fn fill(from: usize, number: usize) -> u8 {
    (from * 37 + number * 11 + 1) as u8
}

impl Underway<'_> {
    /// Posts a receive, if more messages come than were posted for.
    fn post(&mut self, rank: &mut dyn Rank, buffer: Buffer) -> Result<()> {
        if self.posted < self.run.expected {
            self.posted += 1;
            let tag = self.tag.into();
            self.receives.push_back(rank.post_receive(Source::Any, tag, buffer)?);
        }
        Ok(())
    }

    /// Takes the messages that have arrived. Receives end in the order in which they were posted, so only the first is
    /// tested.
    fn take_arrived(&mut self, rank: &mut dyn Rank) -> Result<()> {
        while let Some(posted) = self.receives.pop_front() {
            match rank.test(posted)? {
                Progress::Done(completed) => self.take(rank, completed)?,
                Progress::Pending(posted) => {
                    self.receives.push_front(posted);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Records the delay of a message, checks it, and posts its buffer again.
    fn take(&mut self, rank: &mut dyn Rank, completed: Completed) -> Result<()> {
        let (from, bytes) = (completed.status.source, completed.status.bytes);
        let words = bytemuck::pod_collect_to_vec::<u8, u64>(&completed.buffer[..HEADER_BYTES]);
        let made = Time::from_ps(words[0]);
        self.delays_us.push(rank.now().since(made).as_us());
        let number = self.taken[from];
        self.taken[from] += 1;
        let sent = words[1] as usize;
        let wrong = |byte: &u8| *byte != fill(from, sent);
        if sent != number
            || bytes < HEADER_BYTES
            || completed.buffer[HEADER_BYTES..bytes].iter().any(wrong)
        {
            return Err(Error::Program(format!(
                "message {number} from rank {from} to rank {}, of {bytes} bytes, is not what was sent",
                rank.rank()
            )));
        }
        self.post(rank, completed.buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use conformance::reference;
    use contract::TimeSpan;

    use super::*;

    fn model(messages: usize, rule: &str, hits: &[f64]) -> Model {
        Model {
            messages,
            hits: hits.to_vec(),
            rule: rule.parse().unwrap(),
            mean_bytes: 100,
            mean_gap: TimeSpan::ZERO,
            flush_every: 0,
            seed: 11,
        }
    }

    #[test]
    fn every_message_of_several_runs_arrives_whatever_the_number_of_ranks() {
        for ranks in [2, 3, 5, 8] {
            // A miss of two ranks would have no node outside the stack.
            let hits: &[f64] = if ranks > 2 { &[0.5] } else { &[] };
            for (rule, hits) in [("uniform", &[][..]), ("decreasing:0.5", hits)] {
                let model = model(211, rule, hits);
                let arrived = Mutex::new(Vec::new());
                reference::run(ranks, |rank| {
                    let mut traffic = TrafficProgram::new(rank, &model)?;
                    for _ in 0..3 {
                        traffic.run(rank)?;
                        arrived.lock().unwrap().push(traffic.finished().delays_us.len());
                    }
                    Ok(())
                })
                .unwrap();
                let sum: usize = arrived.into_inner().unwrap().iter().sum();
                assert_eq!(sum, 3 * 211, "{ranks} {rule}");
            }
        }
    }

    #[test]
    fn a_rule_without_destinations_is_the_same_error_on_every_rank() {
        let model = model(20, "sphere:2:0.5", &[]);
        // No node of four is three hops away.
        let errors = Mutex::new(Vec::new());
        reference::run(4, |rank| {
            let error = TrafficProgram::new(rank, &model).err().unwrap().to_string();
            errors.lock().unwrap().push(error);
            Ok(())
        })
        .unwrap();
        let errors = errors.into_inner().unwrap();
        assert!(errors.iter().all(|error| error.contains("0.500 of all messages")), "{errors:?}");
        assert_eq!(errors.len(), 4);
    }
}
