//! The primitives of the lock-free parts, in one place so that loom can replace them (`RUSTFLAGS="--cfg loom"`).

#[cfg(not(loom))]
mod chosen {
    pub use std::hint::spin_loop;
    pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

    pub use crate::system::{futex_wait, futex_wake, yield_processor};
}

#[cfg(loom)]
mod chosen {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::time::Duration;

    pub use loom::hint::spin_loop;
    use loom::sync::Notify;
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    pub use loom::thread::yield_now as yield_processor;

    thread_local! {
        /// The sleepers, by the addresses of their words. All threads of a model run on one thread of the system.
        static SLEEPERS: RefCell<BTreeMap<usize, Arc<Notify>>> = RefCell::default();
    }

    fn sleeper(word: &AtomicU32) -> Arc<Notify> {
        let at = std::ptr::from_ref(word).addr();
        SLEEPERS
            .with_borrow_mut(|all| all.entry(at).or_insert_with(|| Notify::new().into()).clone())
    }

    /// Sleeps until the word has changed. A sleep never runs out, so loom reports a lost wake-up.
    pub fn futex_wait(word: &AtomicU32, value: u32, _: Duration) -> bool {
        while word.load(Ordering::Relaxed) == value {
            sleeper(word).wait();
        }
        false
    }

    /// Wakes the sleepers on a word.
    pub fn futex_wake(word: &AtomicU32, _: i32) {
        sleeper(word).notify();
    }

    /// Begins an execution of a model.
    pub fn begin_execution() {
        SLEEPERS.with_borrow_mut(BTreeMap::clear);
    }
}

pub use chosen::*;
#[cfg(loom)]
pub use fresh::Fresh;
#[cfg(loom)]
pub(crate) use fresh::fresh;

/// Values of fresh memory in a model. Elsewhere these are zeros, but loom's atomics must be created.
#[cfg(loom)]
mod fresh {
    use std::convert::identity;
    use std::sync::atomic::AtomicU8;

    use loom::cell::UnsafeCell;

    use super::{AtomicU32, AtomicU64};

    /// A value like one of zeros.
    pub trait Fresh {
        /// Returns it.
        fn fresh() -> Self;
    }

    /// Implements [`Fresh`] for values that are made of a zero.
    macro_rules! from_zero {
        ($($type:ty: $new:expr),*) => {
            $(impl Fresh for $type {
                fn fresh() -> Self {
                    $new(0)
                }
            })*
        };
    }

    from_zero! {
        u8: identity, u16: identity, u32: identity,
        AtomicU8: AtomicU8::new, AtomicU32: AtomicU32::new, AtomicU64: AtomicU64::new
    }

    impl<T: Fresh, const N: usize> Fresh for [T; N] {
        fn fresh() -> Self {
            std::array::from_fn(|_| T::fresh())
        }
    }

    impl<T: Fresh> Fresh for UnsafeCell<T> {
        fn fresh() -> Self {
            UnsafeCell::new(T::fresh())
        }
    }

    impl<T: Fresh> Fresh for std::cell::UnsafeCell<T> {
        fn fresh() -> Self {
            std::cell::UnsafeCell::new(T::fresh())
        }
    }

    /// Implements [`Fresh`] for structures with these fields.
    #[macro_export]
    macro_rules! fresh {
        ($($type:ident { $($field:tt),* })*) => {
            $(impl $crate::primitive::Fresh for $type {
                fn fresh() -> Self {
                    $type { $($field: $crate::primitive::Fresh::fresh()),* }
                }
            })*
        };
    }

    pub(crate) use fresh;
}
