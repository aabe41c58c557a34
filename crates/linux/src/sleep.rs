//! The calls that sleep for a given time.

use std::sync::atomic::AtomicU32;

use contract::{SleepCall, TimeSpan};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::thread::{ClockId, clock_nanosleep_absolute, futex};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_gettime, timerfd_create,
    timerfd_settime,
};

const PS_PER_NS: u64 = 1_000;
const NS_PER_S: u64 = 1_000_000_000;

/// Sleeps for `span` from now on, or until a signal comes.
pub(crate) fn sleep(call: SleepCall, span: TimeSpan) -> Result<(), String> {
    let span = timespec(span);
    match call {
        SleepCall::Futex => {
            let word = AtomicU32::new(0);
            done(futex::wait(&word, futex::Flags::PRIVATE, 0, Some(&span)), "futex")
        }
        SleepCall::ClockNanosleep => {
            let until = plus(clock_gettime(rustix::time::ClockId::Monotonic), span);
            done(clock_nanosleep_absolute(ClockId::Monotonic, &until), "clock_nanosleep")
        }
        SleepCall::Epoll => done(sleep_by_timer(span), "epoll_wait for a timer"),
    }
}

/// Sleeps in `epoll_wait` until a timer's descriptor is readable.
fn sleep_by_timer(span: Timespec) -> rustix::io::Result<()> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&poll, &timer, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    let once = Itimerspec { it_interval: timespec(TimeSpan::ZERO), it_value: span };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
    wait(&poll, None).map(drop)
}

/// Waits for an event of `poll`. Returns whether there was one.
pub(crate) fn wait(
    poll: &rustix::fd::OwnedFd,
    longest: Option<&Timespec>,
) -> rustix::io::Result<bool> {
    let mut events =
        [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }];
    Ok(epoll::wait(poll, &mut events[..], longest)? > 0)
}

/// A wait that timed out or was interrupted by a signal is no error.
fn done(outcome: rustix::io::Result<()>, call: &str) -> Result<(), String> {
    match outcome {
        Ok(()) | Err(Errno::TIMEDOUT | Errno::INTR) => Ok(()),
        Err(error) => Err(format!("{call}: {error}")),
    }
}

/// Converts a span; a span above zero becomes at least a nanosecond, because a timer that is set to zero never expires.
pub(crate) fn timespec(span: TimeSpan) -> Timespec {
    let ns = (span.as_ps() / PS_PER_NS).max(u64::from(span > TimeSpan::ZERO));
    Timespec { tv_sec: (ns / NS_PER_S) as i64, tv_nsec: (ns % NS_PER_S) as i64 }
}

fn plus(time: Timespec, span: Timespec) -> Timespec {
    let ns = time.tv_nsec + span.tv_nsec;
    let carry = ns / NS_PER_S as i64;
    Timespec { tv_sec: time.tv_sec + span.tv_sec + carry, tv_nsec: ns % NS_PER_S as i64 }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn every_call_sleeps_for_at_least_the_requested_time() {
        for call in [SleepCall::Futex, SleepCall::ClockNanosleep, SleepCall::Epoll] {
            let begin = Instant::now();
            sleep(call, TimeSpan::from_us(3000)).unwrap();
            assert!(begin.elapsed() >= Duration::from_millis(3), "{call:?}");
        }
    }

    #[test]
    fn times_carry_into_seconds_and_no_span_is_rounded_to_zero() {
        let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
        assert_eq!(plus(time(1, 999_999_999), time(2, 2)), time(4, 1));
        assert_eq!(timespec(TimeSpan::from_ps(1)), time(0, 1));
        assert_eq!(timespec(TimeSpan::from_us(1_500_000)), time(1, 500_000_000));
    }
}
