//! The atomics and cells that the lock-free parts are built from, in one place so that loom can replace them.

pub(crate) use std::cell::UnsafeCell;
pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
