//! The time of a program, or of a recording, on a simulated machine.

use std::time::Duration;

use contract::{Time, TimeSpan, name_ranks};
use fabric_sim::{Counts, Level, Machine, Options};

use crate::arguments::PredictionArguments;
use crate::failure::Failure;
use crate::progress::note;
use crate::wording::quantity;

/// Maximum number of ranks that are printed one by one.
const LISTED_RANKS: usize = 16;

/// Result of a simulation.
pub(super) struct Predicted {
    pub(super) ranks: Vec<RankTime>,
    /// Time at which the last rank ended.
    pub(super) end: Time,
    pub(super) event_hash: u64,
    pub(super) counts: Counts,
    /// Number of requests of the processes to the machine, if there were processes. A call of MPI may make none or many.
    pub(super) requests: Option<u64>,
}

/// Use of a rank's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RankTime {
    pub(super) computing: TimeSpan,
    pub(super) sleeping: TimeSpan,
    /// Computing of threads that virtual time does not contain; zero if there is none.
    pub(super) uncounted: TimeSpan,
    pub(super) end: Time,
}

/// Least computing of other threads that is a reason for a warning, absolute and as a share of the time. Libraries have
/// threads that mostly sleep.
const LEAST_UNCOUNTED: TimeSpan = TimeSpan::from_us(1000);
const LEAST_UNCOUNTED_SHARE: f64 = 0.01;
/// Least share of sleeping in a rank's time that is printed.
const LEAST_SLEEPING_SHARE: f64 = 0.01;

impl RankTime {
    /// Returns whether other threads have computed so much that the prediction does not describe the rank.
    fn is_incomplete(&self) -> bool {
        let share = LEAST_UNCOUNTED_SHARE * self.end.since(Time::ZERO).as_s();
        self.uncounted >= LEAST_UNCOUNTED && self.uncounted.as_s() >= share
    }

    fn in_mpi_s(&self) -> f64 {
        let outside = self.computing + self.sleeping;
        (self.end.since(Time::ZERO).as_s() - outside.as_s()).max(0.0)
    }

    /// Returns whether its sleeping is worth mentioning. A process that starts sleeps for some microseconds.
    fn sleeps(&self) -> bool {
        self.sleeping.as_s() >= LEAST_SLEEPING_SHARE * self.end.since(Time::ZERO).as_s()
            && self.sleeping > TimeSpan::ZERO
    }
}

/// Refuses numbers of ranks that the machine cannot have at the requested level of detail.
pub(super) fn check_ranks(
    ranks: usize,
    machine: &Machine,
    wanted: &PredictionArguments,
) -> Result<(), Failure> {
    let sharing = wanted.ranks_per_processor.map(|ranks| ranks as usize);
    let most = machine.most_ranks(sharing.unwrap_or(machine.ranks_per_processor));
    if ranks <= most {
        let checked = fabric_sim::check(machine, &options(ranks, wanted));
        return checked.map_err(|error| Failure::usage(error.to_string()));
    }
    let each = ranks.div_ceil(machine.most_ranks(1).max(1));
    Err(Failure::usage(format!("{} has at most {most} ranks, not {ranks}", machine.name))
        .hint(format!("several can share a processor: --ranks-per-processor {each}")))
}

/// Returns the settings of the simulation.
pub(super) fn options(ranks: usize, wanted: &PredictionArguments) -> Options {
    let mut options = Options::new(ranks);
    options.level = wanted.level.map(Level::from);
    options.ranks_per_processor = wanted.ranks_per_processor.map(|ranks| ranks as usize);
    options.seed = wanted.seed.unwrap_or(options.seed);
    options
}

/// Prints the time, and its use.
pub(super) fn report(name: &str, predicted: &Predicted, took: Duration) {
    lines(name, predicted, took).iter().for_each(|line| note(line));
}

/// Returns a warning that threads have computed outside of virtual time, if they have.
pub(super) fn uncounted(ranks: &[RankTime]) -> Option<String> {
    let numbers: Vec<usize> =
        (0..ranks.len()).filter(|&rank| ranks[rank].is_incomplete()).collect();
    let times = || numbers.iter().map(|&rank| ranks[rank].uncounted.as_s());
    let time = match numbers.len() {
        0 => return None,
        1 => quantity(times().sum(), "s"),
        _ => spread(times()),
    };
    Some(format!(
        "{}: other threads computed {time}, which virtual time does not count: predict with one thread a rank \
         (OMP_NUM_THREADS=1, for example)",
        name_ranks(&numbers)
    ))
}

fn lines(name: &str, predicted: &Predicted, took: Duration) -> Vec<String> {
    let Predicted { ranks, end, event_hash, counts, requests } = predicted;
    let mut lines = vec![format!(
        "cornerstone: {name}, {} ranks: {} of virtual time, simulated in {}",
        ranks.len(),
        quantity(end.since(Time::ZERO).as_s(), "s"),
        quantity(took.as_secs_f64(), "s")
    )];
    if ranks.len() <= LISTED_RANKS {
        lines.extend(ranks.iter().enumerate().map(|(number, rank)| {
            let computing = quantity(rank.computing.as_s(), "s");
            let in_mpi = quantity(rank.in_mpi_s(), "s");
            let sleeping = match rank.sleeps() {
                true => format!("sleeping {}, ", quantity(rank.sleeping.as_s(), "s")),
                false => String::new(),
            };
            format!("  rank {number}: computing {computing}, {sleeping}in MPI {in_mpi}")
        }));
    } else {
        lines
            .push(format!("  computing: {}", spread(ranks.iter().map(|one| one.computing.as_s()))));
        if ranks.iter().any(RankTime::sleeps) {
            let times = ranks.iter().map(|one| one.sleeping.as_s());
            lines.push(format!("  sleeping: {}", spread(times)));
        }
        lines.push(format!("  in MPI: {}", spread(ranks.iter().map(RankTime::in_mpi_s))));
    }
    let requests =
        requests.map_or(String::new(), |requests| format!("{requests} requests to the machine, "));
    lines.push(format!(
        "  {requests}{} messages with {} bytes, event hash {event_hash:016x}",
        counts.messages, counts.bytes
    ));
    lines
}

/// Returns the least, the most and the median of some times, in words.
fn spread(times: impl Iterator<Item = f64>) -> String {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    let [least, most, median] =
        [0, times.len() - 1, times.len() / 2].map(|at| quantity(times[at], "s"));
    format!("{least} to {most} by rank, median {median}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(ranks: u64) -> Predicted {
        let ms = |ms: u64| TimeSpan::from_us(1000 * ms);
        let rank = |one| RankTime {
            computing: ms(one),
            sleeping: TimeSpan::ZERO,
            uncounted: TimeSpan::ZERO,
            end: Time::ZERO + ms(100),
        };
        Predicted {
            ranks: (1..=ranks).map(rank).collect(),
            end: Time::ZERO + ms(100),
            event_hash: 0xabc,
            counts: Counts { messages: 7, bytes: 70, events: 700 },
            requests: Some(9),
        }
    }

    #[test]
    fn what_threads_compute_is_told_where_it_is_much() {
        let warning = |uncounted_us: &[u64]| {
            let mut ranks = predicted(uncounted_us.len() as u64).ranks;
            for (rank, &us) in ranks.iter_mut().zip(uncounted_us) {
                rank.uncounted = TimeSpan::from_us(us);
            }
            uncounted(&ranks)
        };
        // Ranks end after 100 ms, so the least share of 1 % is 1 ms.
        assert_eq!(warning(&[999, 0]), None);
        let one = warning(&[0, 1000]).unwrap();
        assert!(one.starts_with("rank 1: other threads computed 1"), "{one}");
        assert!(one.contains("ms, which virtual time does not count"), "{one}");
        let several = warning(&[2000, 500, 6000, 4000]).unwrap();
        assert!(several.starts_with("ranks 0, 2, 3: other threads computed 2"), "{several}");
        assert!(several.contains("to 6") && several.contains("by rank, median 4"), "{several}");
        // In a longer run the same time is less than that share.
        let end = Time::ZERO + TimeSpan::from_us(100_001);
        let uncounted_us = TimeSpan::from_us(1000);
        let long = RankTime { end, uncounted: uncounted_us, ..predicted(1).ranks[0] };
        assert_eq!(uncounted(&[long]), None);
    }

    #[test]
    fn few_ranks_are_told_one_by_one_and_many_by_their_spread() {
        let few = lines("sim:x", &predicted(2), Duration::from_millis(5));
        let first = "cornerstone: sim:x, 2 ranks: 100 ms of virtual time, simulated in 5";
        assert!(few[0].starts_with(first), "{few:?}");
        assert!(few[2].contains("rank 1: computing 2") && few[2].contains("in MPI 98"), "{few:?}");
        assert!(few[3].contains(
            "9 requests to the machine, 7 messages with 70 bytes, event hash 0000000000000abc"
        ));
        let many = lines("sim:x", &predicted(21), Duration::from_millis(5));
        assert_eq!(many.len(), 4);
        assert!(many[1].starts_with("  computing: 1") && many[1].contains("median 11"), "{many:?}");
    }

    /// Rank 1 computes for 2 of its 100 ms and sleeps for 60, so 38 remain. One rank of 21 that sleeps is enough to
    /// have the line. Half a millisecond is not mentioned.
    #[test]
    fn sleeping_is_neither_computing_nor_in_mpi() {
        let mut two = predicted(2);
        two.ranks[0].sleeping = TimeSpan::from_us(500);
        two.ranks[1].sleeping = TimeSpan::from_us(60_000);
        let few = lines("sim:x", &two, Duration::from_millis(5));
        assert!(!few[1].contains("sleeping"), "{few:?}");
        assert!(few[2].contains("ms, sleeping 60") && few[2].contains("in MPI 38"), "{few:?}");
        let mut all = predicted(21);
        all.ranks[3].sleeping = TimeSpan::from_us(60_000);
        let many = lines("sim:x", &all, Duration::from_millis(5));
        assert!(many[2].starts_with("  sleeping: 0 s to 60"), "{many:?}");
    }
}
