//! An operating system of threads that sleep and wake each other, with one fault in it.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::Fault;
use contract::{OperatingSystem, SleepCall, TimeSpan, TracedNoise};

/// True once its rank was woken.
type Wakened = Arc<(Mutex<bool>, Condvar)>;

/// The address of a rank is the index of its entry.
static ENTRIES: Mutex<Vec<Wakened>> = Mutex::new(Vec::new());

pub(super) struct BrokenSystem {
    fault: Fault,
    entry: Wakened,
}

impl BrokenSystem {
    pub(super) fn new(fault: Fault) -> Self {
        BrokenSystem { fault, entry: Wakened::default() }
    }
}

fn in_std(span: TimeSpan) -> Duration {
    Duration::from_nanos(span.as_ps() / 1000)
}

fn wake(entry: &Wakened) {
    *entry.0.lock().unwrap() = true;
    entry.1.notify_all();
}

impl OperatingSystem for BrokenSystem {
    fn counts(&mut self) -> Vec<(String, u64)> {
        Vec::new()
    }

    fn begin_trace(&mut self) -> Result<(), String> {
        Err("threads have no tracer".into())
    }

    fn traced(&mut self) -> Vec<TracedNoise> {
        Vec::new()
    }

    fn sleep(&mut self, _: SleepCall, span: TimeSpan) -> Result<(), String> {
        // A sleep of half the time would not do: on a busy machine it may take as long as the whole.
        if self.fault != Fault::SleepsTooShort {
            std::thread::sleep(in_std(span));
        }
        Ok(())
    }

    fn yield_processor(&self) {
        std::thread::yield_now();
    }

    fn open_wake_up(&mut self) -> Result<Vec<u8>, String> {
        let mut entries = ENTRIES.lock().unwrap();
        entries.push(self.entry.clone());
        Ok((entries.len() - 1).to_le_bytes().to_vec())
    }

    fn sleep_until_woken(&mut self, longest: TimeSpan) -> Result<bool, String> {
        let asleep = self.entry.0.lock().unwrap();
        let waiting =
            self.entry.1.wait_timeout_while(asleep, in_std(longest), |is_woken| !*is_woken);
        Ok(std::mem::take(&mut *waiting.unwrap().0))
    }

    fn wake(&mut self, address: &[u8]) -> Result<(), String> {
        let index = usize::from_le_bytes(address.try_into().map_err(|_| "no address".to_string())?);
        match self.fault {
            Fault::WakesItself => wake(&self.entry),
            Fault::WakesNobody => {}
            _ => wake(&ENTRIES.lock().unwrap()[index]),
        }
        Ok(())
    }

    fn hold_off_idle_states(&mut self, _: bool) -> Result<(), String> {
        Err("threads have no idle states".into())
    }

    fn load_processor(&mut self, _: bool) -> Result<(), String> {
        Err("threads load no processor".into())
    }
}
