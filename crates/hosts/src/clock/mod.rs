//! The clock that all ranks share.
//!
//! Ranks on one host read one clock, the system's, and need no correction. Ranks on several hosts have clocks with
//! different offsets and drifts. Each then corrects its own by a line that [`synchronise`] has found, so that all have
//! the time of the clock of rank 0.

mod line;
mod synchronise;

use contract::{ClockQuality, Rank, Result, Time, TimeSpan};
use rustix::time::{ClockId, clock_gettime};

use synchronise::synchronise;

const NS_PER_S: i64 = 1_000_000_000;
const PS_PER_NS: i64 = 1000;

/// The uncorrected clock of this process.
#[derive(Clone, Copy, Debug)]
pub struct LocalClock {
    id: ClockId,
    /// For tests: nanoseconds to add, and share of the elapsed time to add.
    skew_ns: i64,
    drift: f64,
    origin_ns: i64,
}

/// The conversion of a local clock to the shared one: shared = local + offset + slope (local - begin), in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Correction {
    pub(crate) begin_ns: i64,
    pub(crate) offset_ns: f64,
    pub(crate) slope: f64,
}

/// Maximum difference between the shared clock of this rank and that of any other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Uncertainty {
    /// Time of the synchronisation.
    pub(crate) at_ns: f64,
    /// Growth of the difference for each nanosecond since.
    pub(crate) growth: f64,
}

/// The clock that all ranks share, as this rank reads it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    local: LocalClock,
    correction: Option<Correction>,
    uncertainty: Uncertainty,
    synchronised_ns: i64,
    epoch_ns: i64,
    resolution: TimeSpan,
}

impl LocalClock {
    /// The clock for a single host: disciplined, so that its seconds are seconds.
    pub const ONE_HOST: LocalClock = LocalClock::of(ClockId::Monotonic);
    /// The clock for comparing several: undisciplined, so that its drift is a straight line.
    pub const SEVERAL_HOSTS: LocalClock = LocalClock::of(ClockId::MonotonicRaw);

    const fn of(id: ClockId) -> Self {
        LocalClock { id, skew_ns: 0, drift: 0.0, origin_ns: 0 }
    }

    /// Returns the same clock with an offset of `skew_ns` and a relative drift of `drift` from now on.
    pub(crate) fn skewed(self, skew_ns: i64, drift: f64) -> Self {
        LocalClock { skew_ns, drift, origin_ns: self.ns(), ..self }
    }

    /// Returns its reading in nanoseconds.
    #[inline]
    pub fn ns(&self) -> i64 {
        let time = clock_gettime(self.id);
        let ns = time.tv_sec * NS_PER_S + time.tv_nsec;
        if self.drift == 0.0 {
            ns + self.skew_ns
        } else {
            ns + self.skew_ns + ((ns - self.origin_ns) as f64 * self.drift) as i64
        }
    }
}

impl Correction {
    #[inline]
    pub(crate) fn shared_ns(&self, local_ns: i64) -> i64 {
        let passed = (local_ns - self.begin_ns) as f64;
        local_ns + (self.offset_ns + self.slope * passed).round() as i64
    }
}

impl Clock {
    /// Creates a clock that needs no correction. `epoch_ns` is the same on all ranks and lies in their past.
    pub fn common(local: LocalClock, epoch_ns: i64) -> Self {
        let mut clock = Clock {
            local,
            correction: None,
            uncertainty: Uncertainty::default(),
            synchronised_ns: 0,
            epoch_ns,
            resolution: TimeSpan::ZERO,
        };
        // A clock that did not advance over many readings has smaller steps than can be detected.
        let step = contract::smallest_step(|| clock.now());
        clock.resolution = step.unwrap_or(TimeSpan::from_ns(1));
        clock
    }

    /// Creates a clock that is corrected from now on.
    pub(crate) fn corrected(
        local: LocalClock,
        correction: Correction,
        uncertainty: Uncertainty,
        epoch_ns: i64,
    ) -> Self {
        let mut clock = Clock::common(local, epoch_ns);
        clock.correction = Some(correction);
        clock.uncertainty = uncertainty;
        clock.synchronised_ns = local.ns();
        clock
    }

    /// Returns its time.
    #[inline]
    pub fn now(&self) -> Time {
        let local_ns = self.local.ns();
        let ns = match &self.correction {
            None => local_ns,
            Some(correction) => correction.shared_ns(local_ns),
        };
        // Only a clock with an error larger than the epoch's margin could be before it.
        Time::from_ps((ns - self.epoch_ns).max(0) as u64 * PS_PER_NS as u64)
    }

    /// Returns its accuracy.
    pub fn quality(&self) -> ClockQuality {
        let mut uncertainty = self.uncertainty.at_ns;
        if self.correction.is_some() {
            let passed = (self.local.ns() - self.synchronised_ns) as f64;
            uncertainty += self.uncertainty.growth * passed;
        }
        ClockQuality {
            resolution: self.resolution,
            uncertainty: TimeSpan::from_ps((uncertainty * PS_PER_NS as f64).ceil() as u64),
            is_virtual: false,
        }
    }

    /// Describes the clock for the record of a run.
    pub fn describe(&self) -> String {
        if self.correction.is_none() {
            return "CLOCK_MONOTONIC, one host".into();
        }
        let Uncertainty { at_ns, growth } = self.uncertainty;
        format!(
            "CLOCK_MONOTONIC_RAW of each host, synchronised by message to {:.3} us, and {:.3} us more each second",
            at_ns / 1e3,
            growth * 1e6
        )
    }
}

/// Clocks that differ from rank to rank, for tests of their synchronisation: as if each rank were on a host of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skew {
    /// Rank r's clock is ahead by r times this many nanoseconds.
    pub offset_ns: i64,
    /// Rank r's clock is too fast by r times this share.
    pub drift: f64,
}

/// Time from the epoch of the shared clock to the meeting of the ranks, so that no clock is ever before it.
const EPOCH_MARGIN_NS: i64 = NS_PER_S;

/// Returns the clock that the ranks share, which they determine by messages. All ranks must call it. On several hosts
/// it takes half a second for each doubling of the number of hosts.
///
/// # Errors
/// Errors of messages.
pub fn shared_clock(rank: &mut dyn Rank, skew: Option<Skew>) -> Result<Clock> {
    let me = rank.rank();
    let domain = if skew.is_none() { domain() } else { me as u64 };
    let mut all = vec![0; rank.size() * size_of::<u64>()];
    rank.allgather(&domain.to_le_bytes(), &mut all)?;
    let domains: Vec<u64> =
        all.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    if domains.iter().all(|other| *other == domains[0]) {
        let local = LocalClock::ONE_HOST;
        return Ok(Clock::common(local, epoch(rank, local.ns())?));
    }
    let mut local = LocalClock::SEVERAL_HOSTS;
    if let Some(skew) = skew {
        local = local.skewed(skew.offset_ns * me as i64, skew.drift * me as f64);
    }
    let (correction, uncertainty) = synchronise(rank, &local, &domains)?;
    let epoch_ns = epoch(rank, correction.shared_ns(local.ns()))?;
    Ok(Clock::corrected(local, correction, uncertainty, epoch_ns))
}

/// Returns rank 0's time of the meeting, less a margin, at all ranks.
fn epoch(rank: &mut dyn Rank, now_ns: i64) -> Result<i64> {
    let mut bytes = (now_ns - EPOCH_MARGIN_NS).to_le_bytes();
    rank.broadcast(0, &mut bytes)?;
    Ok(i64::from_le_bytes(bytes))
}

/// Returns a number that identifies the running system and the name space of its clocks: the same in all processes that
/// share both.
pub fn domain() -> u64 {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    let words = format!("{}{}", boot.trim(), space.display());
    // FNV-1a: the same on every rank, in every build.
    words.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_clock_undoes_an_offset_and_a_drift() {
        // A clock that showed 5000 when the shared one showed 1000 and loses 1 in 1000: at 105000 by its own count,
        // 100000 have passed there, so 100100 shared ones, and it is 101100.
        let correction = Correction { begin_ns: 5000, offset_ns: -4000.0, slope: 1e-3 };
        assert_eq!(correction.shared_ns(5000), 1000);
        assert_eq!(correction.shared_ns(105_000), 101_100);
    }

    #[test]
    fn a_common_clock_goes_forward_from_its_epoch_and_is_exact() {
        let clock = Clock::common(LocalClock::ONE_HOST, LocalClock::ONE_HOST.ns());
        let (first, second) = (clock.now(), clock.now());
        assert!(second >= first);
        assert_eq!(clock.quality().uncertainty, TimeSpan::ZERO);
        assert!(clock.quality().resolution > TimeSpan::ZERO);
    }

    #[test]
    fn the_error_of_a_corrected_clock_grows() {
        let uncertainty = Uncertainty { at_ns: 500.0, growth: 1.0 };
        let local = LocalClock::SEVERAL_HOSTS;
        let clock = Clock::corrected(local, Correction::default(), uncertainty, local.ns());
        let early = clock.quality().uncertainty;
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(early >= TimeSpan::from_ns(500));
        assert!(clock.quality().uncertainty >= early + TimeSpan::from_us(2000));
    }

    #[test]
    fn processes_of_one_system_have_one_clock() {
        assert_eq!(domain(), domain());
    }
}
