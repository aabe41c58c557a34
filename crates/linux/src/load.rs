//! Threads that compute on the processors of a rank.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, available_parallelism};

/// One thread that computes for each processor on which the rank may run: one thread, if the rank is bound. Threads
/// inherit the binding of the rank. They end when this is dropped.
pub(crate) struct Load {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn begin() -> Result<Load, String> {
        let processors = available_parallelism().map_or(1, usize::from);
        let is_over = Arc::new(AtomicBool::new(false));
        let mut load = Load { is_over, threads: Vec::new() };
        for _ in 0..processors {
            let is_over = Arc::clone(&load.is_over);
            let thread = Builder::new().name("load".into()).spawn(move || {
                // Relaxed, with the store in `drop`: no other data depend on it.
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let explain =
                |error| format!("starting a thread that computes: {error}; see `ulimit -u`");
            load.threads.push(thread.map_err(explain)?);
        }
        Ok(load)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // Relaxed, with the load in the threads.
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The thread cannot panic, and a drop can report no error.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_has_a_thread_for_each_processor_and_ends() {
        let load = Load::begin().unwrap();
        assert_eq!(load.threads.len(), available_parallelism().unwrap().get());
        let is_over = Arc::clone(&load.is_over);
        drop(load);
        // Every thread has dropped its reference.
        assert!(is_over.load(Ordering::Relaxed) && Arc::strong_count(&is_over) == 1);
    }
}
