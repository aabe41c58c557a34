//! The scheduler of a processor that several ranks share: which rank runs, and until when.
//!
//! A job is work of the processor for a rank. Of the jobs that are ready, the one of the highest fixed priority runs.
//! Ranks without a fixed priority share the processor by time slices, round robin. A job of a higher priority preempts
//! one of a lower priority at once. A context switch is part of the first job of the rank that gets the processor.

use std::collections::VecDeque;

use contract::{Priority, Time, TimeSpan};

use super::noise::Noise;
use crate::agenda::{Agenda, Event};

/// Work of a processor for a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) rank: u32,
    pub(super) priority: Priority,
    /// Remaining time; zero for a rank that only has to get the processor.
    pub(super) left: TimeSpan,
    /// Event that happens when it is done.
    pub(super) done: Event,
}

/// The times of the machine's scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Time slice of ranks without a fixed priority.
    pub(super) slice: TimeSpan,
    /// Time of a context switch.
    pub(super) switch: TimeSpan,
}

/// The state of one shared processor.
pub(super) struct Scheduler {
    /// Number of the processor in its events.
    node: u32,
    costs: Costs,
    noise: Noise,
    running: Option<Running>,
    /// The run queue.
    ready: VecDeque<Job>,
    /// The rank that had the processor last, and the used part of its slice.
    last: Option<u32>,
    used: TimeSpan,
    /// True if the event that chooses the next job is in the agenda.
    choosing: bool,
}

/// A job in execution, or a slice of one. Only pauses of the operating system interrupt it.
struct Running {
    job: Job,
    begin: Time,
    span: TimeSpan,
    end: Time,
    /// The rank that had the processor before and the used part of its slice, if this begins with a context switch.
    switched_from: Option<(u32, TimeSpan)>,
}

fn fixed(priority: Priority) -> u8 {
    match priority {
        Priority::TimeShared => 0,
        Priority::Fixed(number) => number,
    }
}

impl Scheduler {
    pub(super) fn new(node: u32, costs: Costs, noise: Noise) -> Self {
        let (running, ready, last) = (None, VecDeque::new(), None);
        Scheduler {
            node,
            costs,
            noise,
            running,
            ready,
            last,
            used: TimeSpan::ZERO,
            choosing: false,
        }
    }

    /// Adds a job. The running one is preempted only by a higher priority; if it ran alone, its slice begins now.
    pub(super) fn submit(&mut self, agenda: &mut Agenda, job: Job) {
        self.ready.push_back(job);
        let now = agenda.now();
        match self.running.take_if(|running| running.end > now) {
            Some(running) => {
                let job = self.interrupt(running, now);
                self.ready.push_front(job);
                self.start(agenda);
            }
            // It ends at this moment.
            None if self.running.is_some() => {}
            None => self.choose_soon(agenda),
        }
    }

    /// Ends the time slice of the rank that had the processor last: others that are ready come first.
    pub(super) fn end_slice(&mut self) {
        self.used = self.costs.slice;
    }

    /// Returns the rest of a job that is interrupted. A context switch to it that has taken no time yet is undone.
    fn interrupt(&mut self, running: Running, now: Time) -> Job {
        let Running { mut job, begin, span, switched_from, .. } = running;
        let worked = self.noise.worked(begin, now).min(span);
        job.left = job.left - worked;
        self.used = self.used + worked;
        if let Some((before, used)) = switched_from.filter(|_| worked == TimeSpan::ZERO) {
            job.left = job.left - self.costs.switch;
            (self.last, self.used) = (Some(before), used);
        }
        job
    }

    /// Schedules an event that chooses the next job, after ranks whose jobs end at this moment have submitted their
    /// next ones. Otherwise a rank would lose the processor between two jobs.
    fn choose_soon(&mut self, agenda: &mut Agenda) {
        if !self.choosing {
            self.choosing = true;
            agenda.push(agenda.now(), Event::Choose(self.node));
        }
    }

    /// Ends the running job. The event is out of date if the job was interrupted.
    pub(super) fn stop(&mut self, agenda: &mut Agenda) {
        let is_over = |running: &mut Running| running.end == agenda.now();
        let Some(running) = self.running.take_if(is_over) else { return };
        let Running { mut job, span, .. } = running;
        job.left = job.left - span;
        self.used = self.used + span;
        if job.left == TimeSpan::ZERO {
            agenda.push(agenda.now(), job.done);
        } else {
            self.ready.push_back(job);
        }
        self.choose_soon(agenda);
    }

    /// Chooses the next job, after all jobs of this moment have been submitted.
    pub(super) fn choose(&mut self, agenda: &mut Agenda) {
        self.choosing = false;
        self.start(agenda);
    }

    /// Starts the next job.
    fn start(&mut self, agenda: &mut Agenda) {
        let Some(index) = self.next() else { return };
        let mut job = self.ready.remove(index).expect("it is one of the ready");
        let mut switched_from = None;
        if self.last != Some(job.rank) {
            if self.costs.switch > TimeSpan::ZERO
                && let Some(last) = self.last
            {
                job.left = job.left + self.costs.switch;
                switched_from = Some((last, self.used));
            }
            self.used = TimeSpan::ZERO;
        } else if self.used >= self.costs.slice {
            self.used = TimeSpan::ZERO;
        }
        self.last = Some(job.rank);
        let begin = agenda.now();
        let shares = fixed(job.priority) == 0 && !self.ready.is_empty();
        let span = if shares { job.left.min(self.costs.slice - self.used) } else { job.left };
        let end = self.noise.end(begin, span);
        agenda.push(end, Event::Stop(self.node));
        self.running = Some(Running { job, begin, span, end, switched_from });
    }

    /// Returns the index of the job of the highest priority; among equals that of the rank whose slice is not used up,
    /// else the oldest.
    fn next(&self) -> Option<usize> {
        let highest = self.ready.iter().map(|job| fixed(job.priority)).max()?;
        let continues = |job: &Job| self.last == Some(job.rank) && self.used < self.costs.slice;
        let is_highest = |job: &Job| fixed(job.priority) == highest;
        let same = self.ready.iter().position(|job| is_highest(job) && continues(job));
        same.or_else(|| self.ready.iter().position(is_highest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::find;

    const SLICE_US: u64 = 10;
    const SWITCH_US: u64 = 1;

    fn us(us: u64) -> TimeSpan {
        TimeSpan::from_us(us)
    }

    fn scheduler() -> Scheduler {
        let noise = Noise::new(&find("cluster").unwrap(), 1, 0);
        Scheduler::new(0, Costs { slice: us(SLICE_US), switch: us(SWITCH_US) }, noise)
    }

    /// Runs jobs (when, rank, priority, length in µs) on one processor. Returns when each is done, in order, as (rank,
    /// µs).
    fn run(jobs: &[(u64, u32, u8, u64)]) -> Vec<(u32, u64)> {
        let mut scheduler = scheduler();
        let mut agenda = Agenda::new();
        for (number, &(when, ..)) in jobs.iter().enumerate() {
            agenda.push(Time::ZERO + us(when), Event::Ready(number as u32));
        }
        let mut done = Vec::new();
        while let Some(event) = agenda.pop() {
            match event {
                Event::Ready(number) => {
                    let (_, rank, priority, length) = jobs[number as usize];
                    let priority = match priority {
                        0 => Priority::TimeShared,
                        number => Priority::Fixed(number),
                    };
                    let done = Event::Wake(rank);
                    scheduler.submit(&mut agenda, Job { rank, priority, left: us(length), done });
                }
                Event::Stop(_) => scheduler.stop(&mut agenda),
                Event::Choose(_) => scheduler.choose(&mut agenda),
                Event::Wake(rank) => {
                    done.push((rank, agenda.now().since(Time::ZERO).as_us() as u64));
                }
                other => unreachable!("{other:?}"),
            }
        }
        done
    }

    #[test]
    fn a_rank_alone_pays_for_no_switch() {
        assert_eq!(run(&[(0, 3, 0, 25), (40, 3, 0, 5)]), [(3, 25), (3, 45)]);
    }

    /// Rank 0 runs from 0 to 10, a switch, rank 1 from 11 to 20 (its slice of 10 begins with the switch), a switch,
    /// rank 0's last 2 µs to 23, a switch, rank 1's last 3 µs to 27.
    #[test]
    fn equal_ranks_take_turns_of_a_slice() {
        assert_eq!(run(&[(0, 0, 0, 12), (0, 1, 0, 12)]), [(0, 23), (1, 27)]);
    }

    /// Rank 1 becomes ready at 4, when rank 0 has used 4 of its slice, which ends at 10. Rank 1 runs from 11 to 13,
    /// rank 0 from 14.
    #[test]
    fn a_slice_counts_from_when_a_rank_got_the_processor() {
        assert_eq!(run(&[(0, 0, 0, 16), (4, 1, 0, 2)]), [(1, 13), (0, 20)]);
    }

    /// Rank 0 works from 0 to 5, rank 1 from 6 to 9, rank 0 from 10 to 15.
    #[test]
    fn a_higher_priority_preempts_at_once() {
        assert_eq!(run(&[(0, 0, 1, 10), (5, 1, 2, 3)]), [(1, 9), (0, 15)]);
        assert_eq!(run(&[(0, 0, 0, 10), (5, 1, 1, 3)]), [(1, 9), (0, 15)]);
    }

    /// There are no time slices among fixed priorities.
    #[test]
    fn ranks_of_one_fixed_priority_follow_each_other() {
        assert_eq!(run(&[(0, 0, 7, 30), (1, 1, 7, 30), (2, 2, 6, 1)]), [(0, 30), (1, 61), (2, 63)]);
    }

    /// Rank 0's slice ends at 10, and the switch to rank 1 begins. A job that is submitted at this very moment must not
    /// give rank 0 another slice: rank 1 is done after the switch and its 5 µs.
    #[test]
    fn a_slice_that_is_over_stays_over_when_a_switch_is_begun_again() {
        let (mut scheduler, mut agenda) = (scheduler(), Agenda::new());
        let job = |rank, length| {
            let (priority, done) = (Priority::TimeShared, Event::Wake(rank));
            Job { rank, priority, left: us(length), done }
        };
        scheduler.submit(&mut agenda, job(0, 20));
        scheduler.submit(&mut agenda, job(1, 5));
        let mut choices = 0;
        let first_done = loop {
            match agenda.pop().unwrap() {
                Event::Stop(_) => scheduler.stop(&mut agenda),
                Event::Choose(_) => {
                    scheduler.choose(&mut agenda);
                    choices += 1;
                    if choices == 2 {
                        assert_eq!(agenda.now(), Time::ZERO + us(10));
                        scheduler.submit(&mut agenda, job(2, 1));
                    }
                }
                done => break (done, agenda.now().since(Time::ZERO)),
            }
        };
        assert_eq!(first_done, (Event::Wake(1), us(16)));
    }

    /// Of two jobs that are submitted at one moment, the one of the higher priority runs, without a switch to the other
    /// before.
    #[test]
    fn jobs_of_one_moment_are_gathered_before_one_is_chosen() {
        assert_eq!(run(&[(3, 0, 1, 4), (3, 1, 2, 4)]), [(1, 7), (0, 12)]);
    }
}
