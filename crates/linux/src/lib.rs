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
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use contract::{OperatingSystem, SleepCall, TimeSpan, TracedNoise};

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
