//! The operating system of a rank on Linux: its counts and traces of events that take the processor away, and its calls
//! that sleep.
//!
//! Every fabric whose ranks are processes returns it from [`operating_system`](contract::Rank::operating_system).
#![forbid(unsafe_code)]

mod counts;
mod idle_states;
mod load;
mod osnoise;
mod sleep;
mod trace_line;
mod wake_up;

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use contract::{OperatingSystem, SleepCall, TimeSpan, TracedNoise};
use rustix::thread::set_current_timer_slack;

use load::Load;
use osnoise::Trace;
use wake_up::WakeUp;

/// Returns the system of the calling thread. `processor` is the one that it is bound to, if any.
pub fn operating_system(processor: Option<usize>) -> Box<dyn OperatingSystem> {
    Box::new(Linux { processor, ..Linux::default() })
}

#[derive(Default)]
struct Linux {
    processor: Option<usize>,
    trace: Option<Trace>,
    wake_up: Option<WakeUp>,
    /// The socket from which other ranks are woken.
    caller: Option<UnixDatagram>,
    /// While it is open, idle states are limited.
    no_idle: Option<File>,
    load: Option<Load>,
}

impl OperatingSystem for Linux {
    fn counts(&mut self) -> Vec<(String, u64)> {
        self.processor.map_or_else(Vec::new, counts::read)
    }

    fn begin_trace(&mut self) -> Result<(), String> {
        let Some(processor) = self.processor else {
            return Err("the rank is not bound to one processor, and a trace covers one".into());
        };
        self.trace = Some(Trace::begin(Path::new(osnoise::TRACEFS), processor)?);
        Ok(())
    }

    fn traced(&mut self) -> Vec<TracedNoise> {
        self.trace.as_mut().map_or_else(Vec::new, Trace::read)
    }

    fn sleep(&mut self, call: SleepCall, span: TimeSpan) -> Result<(), String> {
        sleep::sleep(call, span)
    }

    fn yield_processor(&self) {
        rustix::thread::sched_yield();
    }

    fn open_wake_up(&mut self) -> Result<Vec<u8>, String> {
        let wake_up = WakeUp::open()?;
        let address = wake_up.address();
        self.wake_up = Some(wake_up);
        Ok(address)
    }

    fn sleep_until_woken(&mut self, longest: TimeSpan) -> Result<bool, String> {
        let Some(wake_up) = &mut self.wake_up else {
            return Err("no descriptor is open through which this rank can be woken".into());
        };
        wake_up.sleep(longest)
    }

    fn wake(&mut self, address: &[u8]) -> Result<(), String> {
        let caller = match self.caller.take() {
            Some(caller) => caller,
            None => wake_up::caller()?,
        };
        wake_up::wake(self.caller.insert(caller), address)
    }

    fn set_timer_slack(&mut self, slack: Option<TimeSpan>) -> Result<(), String> {
        // Linux takes zero for its default.
        let slack_ns =
            slack.map(|slack| NonZeroU64::new(slack.as_ps() / 1000).unwrap_or(NonZeroU64::MIN));
        set_current_timer_slack(slack_ns).map_err(|error| format!("timer slack: {error}"))
    }

    fn hold_off_idle_states(&mut self, on: bool) -> Result<(), String> {
        self.no_idle =
            on.then(|| idle_states::hold_off(Path::new(idle_states::FILE))).transpose()?;
        Ok(())
    }

    fn load_processor(&mut self, on: bool) -> Result<(), String> {
        self.load = on.then(Load::begin).transpose()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::current_timer_slack;

    #[test]
    fn the_timer_slack_is_that_of_the_thread_until_it_is_reset() {
        let before = current_timer_slack().unwrap();
        let mut system = operating_system(None);
        system.set_timer_slack(Some(TimeSpan::from_us(3))).unwrap();
        assert_eq!(current_timer_slack().unwrap(), 3000);
        // No slack is the least that there is: a nanosecond.
        system.set_timer_slack(Some(TimeSpan::ZERO)).unwrap();
        assert_eq!(current_timer_slack().unwrap(), 1);
        system.set_timer_slack(None).unwrap();
        assert_eq!(current_timer_slack().unwrap(), before);
    }
}
