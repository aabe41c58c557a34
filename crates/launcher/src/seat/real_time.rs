//! Requests to Linux that keep other programs away from a rank and its deadlines.

use std::io;

use contract::{Isolation, Priority, PriorityGranted};

use super::Seat;
use crate::system;

impl Seat {
    /// Requests a priority. Waiting ranks sleep soon if ranks are oversubscribed, so a fixed priority starves nobody for
    /// long.
    pub fn set_priority(&self, priority: Priority) -> PriorityGranted {
        set_priority(priority)
    }

    /// Switches an isolation on or off.
    ///
    /// # Errors
    /// Why it is not possible, and what to do.
    pub fn isolate(&self, isolation: Isolation, on: bool) -> Result<(), String> {
        isolate(isolation, on, self.processor)
    }
}

fn set_priority(priority: Priority) -> PriorityGranted {
    let fixed = match priority {
        Priority::TimeShared => None,
        Priority::Fixed(number) => Some(number),
    };
    match system::set_priority(fixed) {
        Ok(()) => PriorityGranted::Granted,
        Err(error) => PriorityGranted::Refused {
            why: explain("SCHED_FIFO", &error, "see `ulimit -r`, or give CAP_SYS_NICE"),
        },
    }
}

/// `processor` is the one on which the rank was started.
fn isolate(isolation: Isolation, on: bool, processor: Option<usize>) -> Result<(), String> {
    match (isolation, processor) {
        (Isolation::LockedMemory, _) => system::lock_memory(on)
            .map_err(|error| explain("mlockall", &error, "see `ulimit -l`, or give CAP_IPC_LOCK")),
        (Isolation::Pinned, None) => Err("the rank was started on no processor of its own".into()),
        (Isolation::Pinned, Some(processor)) => {
            let moved = if on { system::bind_to_processor(processor) } else { system::unbind() };
            moved.map_err(|error| explain("sched_setaffinity", &error, "see the cgroup's cpuset"))
        }
    }
}

fn explain(call: &str, error: &io::Error, help: &str) -> String {
    format!("{call}: {error}; {help}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_without_a_processor_cannot_be_pinned() {
        let refused = isolate(Isolation::Pinned, true, None);
        assert!(refused.unwrap_err().contains("no processor of its own"));
    }

    #[test]
    fn locked_memory_can_be_unlocked_or_the_refusal_names_a_remedy() {
        match isolate(Isolation::LockedMemory, true, None) {
            Ok(()) => assert_eq!(isolate(Isolation::LockedMemory, false, None), Ok(())),
            Err(why) => assert!(why.contains("ulimit -l"), "{why}"),
        }
    }

    #[test]
    fn a_fixed_priority_can_be_returned_or_the_refusal_names_a_remedy() {
        // In a thread of its own, because the scheduling class belongs to the thread.
        std::thread::spawn(|| match set_priority(Priority::Fixed(1)) {
            PriorityGranted::Granted => assert!(set_priority(Priority::TimeShared).is_granted()),
            PriorityGranted::Refused { why } => assert!(why.contains("ulimit -r"), "{why}"),
        })
        .join()
        .unwrap();
    }
}
