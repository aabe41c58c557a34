//! Synchronisation of the clocks of several hosts by messages.
//!
//! The method follows HCA3 (S. Hunold and A. Carpen-Amarie, "Hierarchical Clock Synchronization in MPI", IEEE Cluster
//! 2018): one rank of each host participates. Down a binomial tree, each learns its clock's line relative to the shared
//! time of the rank above it, which has learnt its own before. So the number of rounds grows with the logarithm of the
//! number of hosts, and the lines need not be merged. The other ranks of a host use the line of the participating one.
//!
//! A point of a line is the best of several ping-pongs. In the fastest one, half of its round trip may have been on
//! either side, so the offset is known to within that half. Once the line is known, further ping-pongs check it.

use contract::{Rank, Result, Source, Tag, TagSelector};

use super::line::Line;
use super::{Correction, LocalClock, Uncertainty};

/// Number of points of a line, the pause between them, and the ping-pongs for each: half a second in all.
const POINTS: usize = 100;
const PAUSE_NS: i64 = 4_000_000;
const PING_PONGS: usize = 12;
/// Number of points that check a line after it is known.
const CHECKS: usize = 10;
/// Number of standard errors that bound a slope: fewer than one in 10,000 lies beyond.
const SLOPE_ERRORS: f64 = 4.0;

const TAG: Tag = Tag::new(1);

/// The result of a rank's synchronisation, which it passes to those after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SynchronisedClock {
    correction: Correction,
    /// Error of the corrected clock.
    error_ns: f64,
    /// Growth of the error for each nanosecond.
    growth: f64,
}

/// An estimate of the offset of the reference from the local clock, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Offset {
    local_ns: i64,
    offset_ns: f64,
    /// Half of the round trip of the measurement.
    half_round_trip_ns: f64,
}

/// Determines this rank's correction and the remaining uncertainty between any two ranks. All ranks must call it.
/// `domains` identifies the clock that each rank reads.
pub(crate) fn synchronise(
    rank: &mut dyn Rank,
    local: &LocalClock,
    domains: &[u64],
) -> Result<(Correction, Uncertainty)> {
    let me = rank.rank();
    let leaders = leaders(domains);
    let leader = leader_of(domains, me);
    let clock = if leader == me {
        let place = leaders.iter().position(|&other| other == me).expect("a leader leads");
        let clock = down_the_tree(rank, local, &leaders, place)?;
        for member in (0..domains.len()).filter(|&other| other != me) {
            if domains[member] == domains[me] {
                rank.send(member, TAG, &clock.to_bytes())?;
            }
        }
        clock
    } else {
        let mut bytes = [0; SynchronisedClock::BYTES];
        rank.receive(Source::Rank(leader), TagSelector::Is(TAG), &mut bytes)?;
        SynchronisedClock::from_bytes(&bytes)
    };
    let uncertainty = between_any_two(rank, &leaders, &clock)?;
    Ok((clock.correction, uncertainty))
}

/// Returns the first rank of each domain, in the order of the ranks.
fn leaders(domains: &[u64]) -> Vec<usize> {
    (0..domains.len()).filter(|&rank| leader_of(domains, rank) == rank).collect()
}

fn leader_of(domains: &[u64], rank: usize) -> usize {
    domains.iter().position(|&other| other == domains[rank]).expect("the rank's own is among them")
}

/// Learns from the leader above, then teaches those below, the farthest first. Place 0 is the reference of all.
fn down_the_tree(
    rank: &mut dyn Rank,
    local: &LocalClock,
    leaders: &[usize],
    place: usize,
) -> Result<SynchronisedClock> {
    let mut clock = SynchronisedClock::default();
    let mut gap = leaders.len().next_power_of_two() / 2;
    while gap > 0 {
        match place % (2 * gap) {
            0 if place + gap < leaders.len() => {
                teach(rank, local, leaders[place + gap], &clock)?;
            }
            over if over == gap => clock = learn(rank, local, leaders[place - gap])?,
            _ => {}
        }
        gap /= 2;
    }
    Ok(clock)
}

/// Answers each ping with the shared time, and reports its accuracy at the end.
fn teach(
    rank: &mut dyn Rank,
    local: &LocalClock,
    pupil: usize,
    clock: &SynchronisedClock,
) -> Result<()> {
    for _ in 0..(POINTS + CHECKS) * PING_PONGS {
        rank.receive(Source::Rank(pupil), TagSelector::Is(TAG), &mut [])?;
        let shared_ns = clock.correction.shared_ns(local.ns());
        rank.send(pupil, TAG, &shared_ns.to_le_bytes())?;
    }
    rank.send(pupil, TAG, &clock.to_bytes())
}

/// Learns this clock's line, and checks it.
fn learn(rank: &mut dyn Rank, local: &LocalClock, teacher: usize) -> Result<SynchronisedClock> {
    let begin_ns = local.ns();
    let mut points = Vec::with_capacity(POINTS);
    for _ in 0..POINTS {
        let offset = offset(rank, local, teacher)?;
        points.push(((offset.local_ns - begin_ns) as f64, offset.offset_ns));
        pause(local);
    }
    let line = Line::through(&points);
    let correction = Correction { begin_ns, offset_ns: line.at(0.0), slope: line.slope };
    let mut error_ns: f64 = 0.0;
    for _ in 0..CHECKS {
        let check = offset(rank, local, teacher)?;
        let shared_ns = check.local_ns as f64 + check.offset_ns;
        let off_ns = correction.shared_ns(check.local_ns) as f64 - shared_ns;
        error_ns = error_ns.max(off_ns.abs() + check.half_round_trip_ns);
        pause(local);
    }
    let mut bytes = [0; SynchronisedClock::BYTES];
    rank.receive(Source::Rank(teacher), TagSelector::Is(TAG), &mut bytes)?;
    let above = SynchronisedClock::from_bytes(&bytes);
    Ok(SynchronisedClock {
        correction,
        error_ns: above.error_ns + error_ns + line.scatter,
        growth: above.growth + SLOPE_ERRORS * line.slope_error,
    })
}

/// Asks the teacher for the time several times, and uses the fastest answer.
fn offset(rank: &mut dyn Rank, local: &LocalClock, teacher: usize) -> Result<Offset> {
    let mut best: Option<Offset> = None;
    for _ in 0..PING_PONGS {
        let mut answer = [0; 8];
        let before_ns = local.ns();
        rank.send(teacher, TAG, &[])?;
        rank.receive(Source::Rank(teacher), TagSelector::Is(TAG), &mut answer)?;
        let after_ns = local.ns();
        let half_round_trip_ns = (after_ns - before_ns) as f64 / 2.0;
        if best.is_none_or(|best| half_round_trip_ns < best.half_round_trip_ns) {
            let local_ns = before_ns + (after_ns - before_ns) / 2;
            let offset_ns = (i64::from_le_bytes(answer) - local_ns) as f64;
            best = Some(Offset { local_ns, offset_ns, half_round_trip_ns });
        }
    }
    Ok(best.expect("there is at least one ping-pong"))
}

fn pause(local: &LocalClock) {
    let until_ns = local.ns() + PAUSE_NS;
    while local.ns() < until_ns {
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
}

/// The difference of two clocks is at most the sum of their errors: that of the two largest. Rank 0 collects them.
fn between_any_two(
    rank: &mut dyn Rank,
    leaders: &[usize],
    clock: &SynchronisedClock,
) -> Result<Uncertainty> {
    let mut all =
        vec![0; SynchronisedClock::BYTES * if rank.rank() == 0 { rank.size() } else { 0 }];
    rank.gather(0, &clock.to_bytes(), &mut all)?;
    let (chunks, _) = all.as_chunks::<{ SynchronisedClock::BYTES }>();
    let of_leaders =
        leaders.iter().filter_map(|&leader| chunks.get(leader)).map(SynchronisedClock::from_bytes);
    let mut errors: Vec<(f64, f64)> = of_leaders.map(|one| (one.error_ns, one.growth)).collect();
    errors.sort_by(|a, b| b.0.total_cmp(&a.0));
    let at_ns: f64 = errors.iter().take(2).map(|(error, _)| error).sum();
    errors.sort_by(|a, b| b.1.total_cmp(&a.1));
    let growth: f64 = errors.iter().take(2).map(|(_, growth)| growth).sum();
    let mut bytes = [at_ns.to_le_bytes(), growth.to_le_bytes()].concat();
    rank.broadcast(0, &mut bytes)?;
    let word = |index: usize| f64::from_le_bytes(bytes.as_chunks::<8>().0[index]);
    Ok(Uncertainty { at_ns: word(0), growth: word(1) })
}

impl SynchronisedClock {
    const BYTES: usize = 40;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let Correction { begin_ns, offset_ns, slope } = self.correction;
        let words = [offset_ns, slope, self.error_ns, self.growth].map(f64::to_bits);
        let mut bytes = [0; Self::BYTES];
        let (chunks, _) = bytes.as_chunks_mut::<8>();
        chunks[0] = begin_ns.to_le_bytes();
        chunks[1..].iter_mut().zip(words).for_each(|(chunk, word)| *chunk = word.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; Self::BYTES]) -> SynchronisedClock {
        let (chunks, _) = bytes.as_chunks::<8>();
        let number = |index: usize| f64::from_le_bytes(chunks[index]);
        SynchronisedClock {
            correction: Correction {
                begin_ns: i64::from_le_bytes(chunks[0]),
                offset_ns: number(1),
                slope: number(2),
            },
            error_ns: number(3),
            growth: number(4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rank_of_each_host_leads_it() {
        let domains = [7, 7, 9, 7, 9, 8];
        assert_eq!(leaders(&domains), [0, 2, 5]);
        assert_eq!(leader_of(&domains, 3), 0);
        assert_eq!(leader_of(&domains, 4), 2);
    }

    #[test]
    fn clock_parameters_are_decoded_unchanged() {
        let correction = Correction { begin_ns: -5, offset_ns: 1.5, slope: -2e-6 };
        let clock = SynchronisedClock { correction, error_ns: 77.0, growth: 1e-9 };
        assert_eq!(SynchronisedClock::from_bytes(&clock.to_bytes()), clock);
    }
}
