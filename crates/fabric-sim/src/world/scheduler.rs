//! A processor that several ranks share: who runs, and until when.
//!
//! Whatever a rank's processor has to do for it is a job. Of the jobs that are ready one runs: that of the highest fixed
//! priority, or if there is none, those of equal ranks in turns of a time slice. A more urgent job takes the processor
//! from a less urgent one at once. When another rank gets the processor, the switch is part of its first job.

use std::collections::VecDeque;

use contract::{Priority, Time, TimeSpan};

use super::noise::Noise;
use crate::agenda::{Agenda, Event};

/// Something that a processor has to do for a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) rank: u32,
    pub(super) priority: Priority,
    /// How long it takes yet; may be zero, for a rank that only has to get the processor.
    pub(super) left: TimeSpan,
    /// What happens when it is done.
    pub(super) done: Event,
}

/// What sharing costs, as the machine says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// After which a rank without a fixed priority lets the next one run.
    pub(super) slice: TimeSpan,
    /// To go over to another rank.
    pub(super) switch: TimeSpan,
}

/// The state of one shared processor.
pub(super) struct Sharing {
    /// Its number, which its events bear.
    node: u32,
    costs: Costs,
    noise: Noise,
    running: Option<Piece>,
    /// In the order of their turns.
    ready: VecDeque<Job>,
    /// The rank that had the processor last, and how much of its slice is gone.
    last: Option<u32>,
    used: TimeSpan,
    /// Whether an event is under way in which the next job is chosen.
    choosing: bool,
}

/// A job, or part of one, that runs without a break but for the operating system's.
struct Piece {
    job: Job,
    begin: Time,
    span: TimeSpan,
    end: Time,
    /// The rank that had the processor before and how much of its slice was gone, if it begins with a switch.
    switched_from: Option<(u32, TimeSpan)>,
}

fn fixed(priority: Priority) -> u8 {
    match priority {
        Priority::TimeShared => 0,
        Priority::Fixed(number) => number,
    }
}

impl Sharing {
    pub(super) fn new(node: u32, costs: Costs, noise: Noise) -> Self {
        let (running, ready, last) = (None, VecDeque::new(), None);
        Sharing { node, costs, noise, running, ready, last, used: TimeSpan::ZERO, choosing: false }
    }

    /// Takes a job. What runs goes on if the new one is not more urgent; if it ran alone, its slice begins now.
    pub(super) fn submit(&mut self, agenda: &mut Agenda, job: Job) {
        self.ready.push_back(job);
        let now = agenda.now();
        match self.running.take_if(|piece| piece.end > now) {
            Some(piece) => {
                let job = self.interrupt(piece, now);
                self.ready.push_front(job);
                self.start(agenda);
            }
            // It ends in this moment.
            None if self.running.is_some() => {}
            None => self.choose_soon(agenda),
        }
    }

    /// What is left of a piece that is broken off. A switch to it that took no time yet did not take place.
    fn interrupt(&mut self, piece: Piece, now: Time) -> Job {
        let Piece { mut job, begin, span, switched_from, .. } = piece;
        let worked = self.noise.worked(begin, now).min(span);
        job.left = job.left - worked;
        self.used = self.used + worked;
        if let Some((before, used)) = switched_from.filter(|_| worked == TimeSpan::ZERO) {
            job.left = job.left - self.costs.switch;
            (self.last, self.used) = (Some(before), used);
        }
        job
    }

    /// The ranks whose jobs end at one moment first ask for what they do next; only then is it decided who runs. Else a
    /// rank would lose the processor between two steps.
    fn choose_soon(&mut self, agenda: &mut Agenda) {
        if !self.choosing {
            self.choosing = true;
            agenda.push(agenda.now(), Event::Choose(self.node));
        }
    }

    /// A piece ends. The event may be out of date, if its piece was interrupted.
    pub(super) fn turn(&mut self, agenda: &mut Agenda) {
        let Some(piece) = self.running.take_if(|piece| piece.end == agenda.now()) else { return };
        let Piece { mut job, span, .. } = piece;
        job.left = job.left - span;
        self.used = self.used + span;
        if job.left == TimeSpan::ZERO {
            agenda.push(agenda.now(), job.done);
        } else {
            self.ready.push_back(job);
        }
        self.choose_soon(agenda);
    }

    /// The next job is chosen, now that all of this moment have come.
    pub(super) fn choose(&mut self, agenda: &mut Agenda) {
        self.choosing = false;
        self.start(agenda);
    }

    /// Lets the job run whose turn it is.
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
        agenda.push(end, Event::Turn(self.node));
        self.running = Some(Piece { job, begin, span, end, switched_from });
    }

    /// The most urgent job; of equally urgent ones that of the rank whose slice is not over, else the one that came first.
    fn next(&self) -> Option<usize> {
        let most = self.ready.iter().map(|job| fixed(job.priority)).max()?;
        let goes_on = |job: &Job| self.last == Some(job.rank) && self.used < self.costs.slice;
        let urgent = |job: &Job| fixed(job.priority) == most;
        let same = self.ready.iter().position(|job| urgent(job) && goes_on(job));
        same.or_else(|| self.ready.iter().position(urgent))
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

    fn sharing() -> Sharing {
        let noise = Noise::new(&find("cluster").unwrap(), 1, 0);
        Sharing::new(0, Costs { slice: us(SLICE_US), switch: us(SWITCH_US) }, noise)
    }

    /// Jobs (when, rank, priority, length in µs) on one processor; when each is done, in order, as (rank, µs).
    fn run(jobs: &[(u64, u32, u8, u64)]) -> Vec<(u32, u64)> {
        let mut sharing = sharing();
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
                    sharing.submit(&mut agenda, Job { rank, priority, left: us(length), done });
                }
                Event::Turn(_) => sharing.turn(&mut agenda),
                Event::Choose(_) => sharing.choose(&mut agenda),
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

    /// Rank 0 from 0 to 10, a switch, rank 1 from 11 to 20 (its slice of 10 begins with the switch), a switch, rank 0's last
    /// 2 µs to 23, a switch, rank 1's last 3 µs to 27.
    #[test]
    fn equal_ranks_take_turns_of_a_slice() {
        assert_eq!(run(&[(0, 0, 0, 12), (0, 1, 0, 12)]), [(0, 23), (1, 27)]);
    }

    /// Rank 1 comes at 4, when rank 0 has used 4 of its slice: that ends at 10. Rank 1 runs from 11 to 13, rank 0 from 14.
    #[test]
    fn a_slice_counts_from_when_a_rank_got_the_processor() {
        assert_eq!(run(&[(0, 0, 0, 16), (4, 1, 0, 2)]), [(1, 13), (0, 20)]);
    }

    /// Rank 0 works from 0 to 5, rank 1 from 6 to 9, rank 0 from 10 to 15.
    #[test]
    fn a_more_urgent_rank_takes_the_processor_at_once() {
        assert_eq!(run(&[(0, 0, 1, 10), (5, 1, 2, 3)]), [(1, 9), (0, 15)]);
        assert_eq!(run(&[(0, 0, 0, 10), (5, 1, 1, 3)]), [(1, 9), (0, 15)]);
    }

    /// However long: no slices among fixed priorities.
    #[test]
    fn ranks_of_one_fixed_priority_follow_each_other() {
        assert_eq!(run(&[(0, 0, 7, 30), (1, 1, 7, 30), (2, 2, 6, 1)]), [(0, 30), (1, 61), (2, 63)]);
    }

    /// Rank 0's slice is over at 10, and the switch to rank 1 begins; a job that comes in this very moment must not give rank
    /// 0 another slice: rank 1 is done after the switch and its 5 µs.
    #[test]
    fn a_slice_that_is_over_stays_over_when_a_switch_is_begun_again() {
        let (mut sharing, mut agenda) = (sharing(), Agenda::new());
        let job = |rank, length| {
            let (priority, done) = (Priority::TimeShared, Event::Wake(rank));
            Job { rank, priority, left: us(length), done }
        };
        sharing.submit(&mut agenda, job(0, 20));
        sharing.submit(&mut agenda, job(1, 5));
        let mut choices = 0;
        let first_done = loop {
            match agenda.pop().unwrap() {
                Event::Turn(_) => sharing.turn(&mut agenda),
                Event::Choose(_) => {
                    sharing.choose(&mut agenda);
                    choices += 1;
                    if choices == 2 {
                        assert_eq!(agenda.now(), Time::ZERO + us(10));
                        sharing.submit(&mut agenda, job(2, 1));
                    }
                }
                done => break (done, agenda.now().since(Time::ZERO)),
            }
        };
        assert_eq!(first_done, (Event::Wake(1), us(16)));
    }

    /// Of two that come at one moment the urgent one runs, and no switch to the other is paid for.
    #[test]
    fn jobs_of_one_moment_are_gathered_before_one_is_chosen() {
        assert_eq!(run(&[(3, 0, 1, 4), (3, 1, 2, 4)]), [(1, 7), (0, 12)]);
    }
}
