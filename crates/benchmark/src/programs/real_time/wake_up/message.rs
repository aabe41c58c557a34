//! Waiting for another rank.
//!
//! For each wait rank 0 sends rank 1 the moment of the wake-up, and waits. Rank 1 waits until that moment, reads the
//! clock, wakes rank 0, and sends it the reading.

use std::sync::atomic::Ordering;

use contract::{Error, OperatingSystem, Rank, Result, SleepCall, Source, Time, TimeSpan};

use super::Plan;
use super::method::Method;
use crate::core_to_core::{put, put_and_wake, sleep_until, wait_for};
use crate::programs::common::{ITS_TAG, TAG};

/// The greatest permitted uncertainty of the common clock: small compared with a wake-up.
const UNCERTAINTY_MAX: TimeSpan = TimeSpan::from_us(1);
/// The moment that ends the measurement.
const OVER: u64 = 0;
/// Time between two liveness checks of a rank that sleeps.
const LONGEST_SLEEP: TimeSpan = TimeSpan::from_us(100_000);
/// Number of polls between two liveness checks of a rank that yields.
const YIELDS: usize = 1 << 12;
const ADDRESS_BYTES: usize = 108;

/// Returns an error with the reason if rank 0 cannot wait for rank 1 by this method.
pub(super) fn check(rank: &dyn Rank, method: Method) -> std::result::Result<(), String> {
    if method.needs_shared_line() && rank.shared_line().is_none() {
        return Err("the ranks of this fabric share no memory".into());
    }
    let uncertainty = rank.clock().uncertainty;
    if uncertainty > UNCERTAINTY_MAX {
        let us = uncertainty.as_us();
        return Err(format!(
            "the uncertainty of the ranks' common clock is {us:.1} us, too much to time a wake-up"
        ));
    }
    Ok(())
}

/// Wakes rank 0 repeatedly. Returns the latencies at rank 0: from rank 1's reading of the clock to rank 0's.
pub(super) fn measure(
    rank: &mut dyn Rank,
    system: &mut dyn OperatingSystem,
    method: Method,
    plan: &Plan,
) -> Result<Vec<TimeSpan>> {
    let address = exchange_address(rank, system, method)?;
    let mut pair = Pair { rank, system, method, address, woken: 0 };
    if pair.rank.rank() == 0 { pair.sleep(plan) } else { pair.wake() }
}

/// Sends the address at which rank 0 can be woken to rank 1, if the method needs one.
fn exchange_address(
    rank: &mut dyn Rank,
    system: &mut dyn OperatingSystem,
    method: Method,
) -> Result<Vec<u8>> {
    if method != Method::Sleep(SleepCall::Epoll) {
        return Ok(Vec::new());
    }
    if rank.rank() == 0 {
        let address = system.open_wake_up().map_err(Error::Program)?;
        rank.send(1, TAG, &address)?;
        return Ok(address);
    }
    let mut address = vec![0; ADDRESS_BYTES];
    let status = rank.receive(Source::Rank(0), ITS_TAG, &mut address)?;
    address.truncate(status.bytes);
    Ok(address)
}

/// One rank of the two.
struct Pair<'a> {
    rank: &'a mut dyn Rank,
    system: &'a mut dyn OperatingSystem,
    method: Method,
    address: Vec<u8>,
    /// Number of wake-ups, which is the value of the shared word.
    woken: u64,
}

impl Pair<'_> {
    fn sleep(&mut self, plan: &Plan) -> Result<Vec<TimeSpan>> {
        let mut late = Vec::with_capacity(plan.waits_max);
        let end = self.rank.now() + plan.duration;
        for length in plan.lengths().take(plan.waits_max) {
            let now = self.rank.now();
            if now >= end {
                break;
            }
            self.send_time(1, now + length)?;
            self.woken += 1;
            let (woken_at, sent_at) = match self.method {
                Method::Receive => {
                    let sent_at = self.hear(1)?;
                    (self.rank.now(), sent_at)
                }
                _ => {
                    self.wait()?;
                    let woken_at = self.rank.now();
                    (woken_at, self.hear(1)?)
                }
            };
            late.push(woken_at.since(sent_at));
        }
        self.send_time(1, Time::from_ps(OVER))?;
        Ok(late)
    }

    fn wake(&mut self) -> Result<Vec<TimeSpan>> {
        loop {
            let moment = self.hear(0)?;
            if moment.as_ps() == OVER {
                return Ok(Vec::new());
            }
            self.rank.wait_until(moment);
            self.woken += 1;
            let sent_at = self.rank.now();
            match self.method {
                Method::Spin | Method::Yield => put(self.rank, self.woken),
                Method::Sleep(SleepCall::Epoll) => {
                    self.system.wake(&self.address).map_err(Error::Program)?;
                }
                Method::Sleep(_) => put_and_wake(self.rank, self.woken),
                Method::Receive => {}
            }
            self.send_time(0, sent_at)?;
        }
    }

    /// Waits for rank 1 by another method than a receive.
    fn wait(&mut self) -> Result<()> {
        match self.method {
            Method::Yield => self.yield_until_woken(),
            Method::Sleep(SleepCall::Epoll) => {
                while !self.system.sleep_until_woken(LONGEST_SLEEP).map_err(Error::Program)? {
                    self.check_other()?;
                }
                Ok(())
            }
            Method::Sleep(_) => sleep_until(self.rank, self.woken),
            Method::Spin | Method::Receive => wait_for(self.rank, self.woken),
        }
    }

    fn yield_until_woken(&mut self) -> Result<()> {
        while let Some(line) = self.rank.shared_line() {
            let word = line.word(0);
            for _ in 0..YIELDS {
                // Acquire, with the Release of the other's put.
                if word.load(Ordering::Acquire) == self.woken {
                    return Ok(());
                }
                self.system.yield_processor();
            }
            self.check_other()?;
        }
        Ok(())
    }

    /// Checks liveness: a probe fails if the other rank is dead.
    fn check_other(&mut self) -> Result<()> {
        self.rank.probe(Source::Any, ITS_TAG).map(drop)
    }

    fn send_time(&mut self, to: usize, time: Time) -> Result<()> {
        self.rank.send(to, TAG, &time.as_ps().to_le_bytes())
    }

    fn hear(&mut self, from: usize) -> Result<Time> {
        let mut word = [0; 8];
        self.rank.receive(Source::Rank(from), ITS_TAG, &mut word)?;
        Ok(Time::from_ps(u64::from_le_bytes(word)))
    }
}
