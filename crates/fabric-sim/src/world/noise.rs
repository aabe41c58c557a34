//! The pauses of the operating system on a processor, replayed in virtual time.

use contract::{Time, TimeSpan};

use crate::machine::{Machine, Pause};
use crate::random::Random;

/// First of the random streams that determine when the pauses of each processor begin.
const STREAM: u64 = 1 << 40;
/// First of the random streams for the jitters of each kind of pause.
const STREAM_OF_KIND: u64 = 1 << 41;
const KINDS_MAX: u64 = 1 << 8;

/// The pauses of a processor, which delay the end of its work.
pub(super) struct Noise {
    kinds: Vec<Kind>,
}

/// Pauses of one kind on one processor; all times in picoseconds.
struct Kind {
    period: u64,
    length: u64,
    period_jitter: u64,
    length_jitter: u64,
    /// Beginning of the first pause, without its jitter; below the period.
    first: u64,
    /// Random numbers 2k and 2k + 1 are the jitters of pause k.
    random: Random,
}

impl Noise {
    pub(super) fn new(machine: &Machine, seed: u64, processor: u32) -> Self {
        let mut own = Random::new(seed, STREAM + u64::from(processor));
        let mut shared = Random::new(seed, STREAM - 1);
        let mut kinds = Vec::new();
        for (number, pause) in machine.pauses.iter().enumerate() {
            // Drawn for each kind, used or not, so that the numbers of one kind do not depend on the others.
            let (own, shared) =
                (own.below(pause.period.as_ps()), shared.below(pause.period.as_ps()));
            if pause.applies_to(processor as usize) {
                let first = if pause.at_once { shared } else { own };
                kinds.push(Kind::new(pause, first, random(seed, pause, processor, number as u64)));
            }
        }
        Noise { kinds }
    }

    /// Returns the end of work of `span` that is submitted at `start`. A pause in progress at that moment delays its
    /// beginning. Each pause that begins before its end delays the end, so that further pauses may begin before it.
    pub(super) fn end(&self, start: Time, span: TimeSpan) -> Time {
        if self.kinds.is_empty() {
            return start + span;
        }
        let start = start.as_ps();
        let waiting = self.kinds.iter().map(|kind| kind.left_at(start)).max().unwrap_or(0);
        let (mut counted, mut end) = (start, start + waiting + span.as_ps());
        loop {
            let delay: u64 = self.kinds.iter().map(|kind| kind.begun(counted, end)).sum();
            if delay == 0 {
                return Time::from_ps(end);
            }
            (counted, end) = (end, end + delay);
        }
    }

    /// Returns the longest time after `now` in which no pause begins. Zero in a pause; `None` if there is no pause at all.
    pub(super) fn quiet_after(&self, now: Time) -> Option<TimeSpan> {
        let now = now.as_ps();
        let next = self.kinds.iter().map(|kind| kind.next_after(now)).min()?;
        let is_paused = self.kinds.iter().any(|kind| kind.left_at(now) > 0);
        Some(TimeSpan::from_ps(if is_paused { 0 } else { next - now - 1 }))
    }

    /// Returns how much of a piece of work that began at `start` is done at `now`: the longest work that ends by then.
    pub(super) fn worked(&self, start: Time, now: Time) -> TimeSpan {
        let elapsed = now.since(start);
        if self.kinds.is_empty() {
            return elapsed;
        }
        let (mut done, mut too_much) = (0, elapsed.as_ps() + 1);
        while too_much - done > 1 {
            let middle = done + (too_much - done) / 2;
            if self.end(start, TimeSpan::from_ps(middle)) <= now {
                done = middle;
            } else {
                too_much = middle;
            }
        }
        TimeSpan::from_ps(done)
    }
}

/// Returns the jitters of a kind: the same on all processors if its pauses are.
fn random(seed: u64, pause: &Pause, processor: u32, number: u64) -> Random {
    let processor = if pause.at_once { u64::from(u32::MAX) } else { u64::from(processor) };
    Random::new(seed, STREAM_OF_KIND + processor * KINDS_MAX + number)
}

impl Kind {
    fn new(pause: &Pause, first: u64, random: Random) -> Self {
        Kind {
            period: pause.period.as_ps(),
            length: pause.length.as_ps(),
            period_jitter: pause.period_jitter.as_ps(),
            length_jitter: pause.length_jitter.as_ps(),
            first,
            random,
        }
    }

    fn begin_of(&self, pause: u64) -> u64 {
        let jitter = self.random.number_below(2 * pause, self.period_jitter + 1);
        self.first + pause * self.period + jitter
    }

    fn length_of(&self, pause: u64) -> u64 {
        let jitter = self.random.number_below(2 * pause + 1, 2 * self.length_jitter + 1);
        self.length - self.length_jitter + jitter
    }

    /// Returns the number of pauses that would have begun by `time` without jitter.
    fn count(&self, time: u64) -> u64 {
        (time + self.period - self.first) / self.period
    }

    /// Returns the total length of all pauses that begin after `after` and not after `until`.
    fn begun(&self, after: u64, until: u64) -> u64 {
        if self.period_jitter == 0 && self.length_jitter == 0 {
            return (self.count(until) - self.count(after)) * self.length;
        }
        // The last pause that is due by `after` may be late.
        (self.count(after).saturating_sub(1)..self.count(until))
            .filter(|&pause| (after + 1..=until).contains(&self.begin_of(pause)))
            .map(|pause| self.length_of(pause))
            .sum()
    }

    /// Returns the beginning of the first pause that begins after `time`. The last one that is due by then may be late.
    fn next_after(&self, time: u64) -> u64 {
        let due = self.count(time);
        let mut later = (due.saturating_sub(1)..=due).map(|pause| self.begin_of(pause));
        later.find(|begin| *begin > time).expect("the pause after those that are due is later")
    }

    /// Returns the remaining time at `time` of a pause that began before it.
    fn left_at(&self, time: u64) -> u64 {
        let count = self.count(time);
        (count.saturating_sub(2)..count)
            .filter(|&pause| self.begin_of(pause) < time)
            .map(|pause| (self.begin_of(pause) + self.length_of(pause)).saturating_sub(time))
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 9;

    fn us(us: u64) -> TimeSpan {
        TimeSpan::from_us(us)
    }

    fn at(time_us: u64) -> Time {
        Time::ZERO + us(time_us)
    }

    fn noise(pauses: &[(Pause, u64)]) -> Noise {
        let kind = |(pause, first): &(Pause, u64)| Kind::new(pause, *first, Random::new(SEED, 0));
        Noise { kinds: pauses.iter().map(kind).collect() }
    }

    fn pause(
        period_us: u64,
        length_us: u64,
        period_jitter_us: u64,
        length_jitter_us: u64,
    ) -> Pause {
        Pause {
            period: us(period_us),
            length: us(length_us),
            period_jitter: us(period_jitter_us),
            length_jitter: us(length_jitter_us),
            at_once: false,
            processors: None,
        }
    }

    #[test]
    fn pauses_that_begin_meanwhile_put_the_end_off() {
        // Pauses of 3 µs at 5, 15, 25 µs.
        let noise = noise(&[(pause(10, 3, 0, 0), us(5).as_ps())]);
        assert_eq!(noise.end(at(0), us(4)), at(4));
        // 0 to 5 work, 5 to 8 pause, 8 to 9 work.
        assert_eq!(noise.end(at(0), us(6)), at(9));
        // Without pauses it would end at 14; the pause at 5 delays it to 17, past that at 15: 20.
        assert_eq!(noise.end(at(0), us(14)), at(20));
        // It is submitted in the pause at 5, and begins at the end of the pause.
        assert_eq!(noise.end(at(6), us(2)), at(10));
        assert_eq!(noise.end(at(8), us(2)), at(10));
    }

    #[test]
    fn what_is_done_at_a_moment_leaves_pauses_out() {
        let noise = noise(&[(pause(10, 3, 0, 0), us(5).as_ps())]);
        // By 12: 0 to 5 and 8 to 12, nine in all; at 7 only the first five.
        assert_eq!(noise.worked(at(0), at(12)), us(9));
        assert_eq!(noise.worked(at(0), at(7)).as_ps(), us(5).as_ps() - 1, "at 5 it is put off");
        assert_eq!(noise.worked(at(6), at(7)), TimeSpan::ZERO);
    }

    #[test]
    fn no_pause_begins_in_the_quiet_time_and_one_begins_right_after_it() {
        // Pauses of 3 µs at 5, 15, 25 µs. Work that ends when a pause begins is delayed by it.
        let noise = noise(&[(pause(10, 3, 0, 0), us(5).as_ps())]);
        let quiet = |time_us| noise.quiet_after(at(time_us)).unwrap().as_ps();
        assert_eq!([0, 9, 14].map(quiet), [5, 6, 1].map(|left| us(left).as_ps() - 1));
        assert_eq!([6, 7].map(quiet), [0, 0], "a pause is in progress");
        assert_eq!((quiet(5), quiet(8)), (us(10).as_ps() - 1, us(7).as_ps() - 1));
        assert_eq!(Noise { kinds: Vec::new() }.quiet_after(at(3)), None);
    }

    /// Compares the ends of random pieces of work with those that follow from a list of all pauses.
    #[test]
    fn jittered_pauses_are_those_of_a_list() {
        let kinds =
            [(pause(100, 10, 80, 5), us(37).as_ps()), (pause(1000, 50, 0, 30), us(1).as_ps())];
        let noise = noise(&kinds);
        let list: Vec<(u64, u64)> = noise
            .kinds
            .iter()
            .flat_map(|kind| (0..400).map(|k| (kind.begin_of(k), kind.length_of(k))))
            .collect();
        let lengths: Vec<u64> = list[..400].iter().map(|pause| pause.1).collect();
        assert!(lengths.iter().all(|length| (us(5).as_ps()..=us(15).as_ps()).contains(length)));
        assert!(lengths.windows(2).any(|two| two[0] != two[1]), "they differ");
        let mut random = Random::new(SEED, 1);
        for _ in 0..500 {
            let (start, span) = (random.below(us(20_000).as_ps()), random.below(us(3000).as_ps()));
            let lasting =
                list.iter().filter(|(begin, length)| *begin < start && begin + length > start);
            let waiting = lasting.map(|(begin, length)| begin + length - start).max().unwrap_or(0);
            let mut end = start + waiting + span;
            loop {
                let inside = list.iter().filter(|(begin, _)| *begin > start && *begin <= end);
                let next = start + waiting + span + inside.map(|pause| pause.1).sum::<u64>();
                if next == end {
                    break;
                }
                end = next;
            }
            let next = list.iter().map(|(begin, _)| *begin).filter(|begin| *begin > start).min();
            let quiet = if waiting > 0 { 0 } else { next.unwrap() - start - 1 };
            assert_eq!(noise.quiet_after(Time::from_ps(start)).unwrap().as_ps(), quiet);
            let found = noise.end(Time::from_ps(start), TimeSpan::from_ps(span));
            assert_eq!(found.as_ps(), end, "seed {SEED}, from {start} for {span}");
        }
    }
}
