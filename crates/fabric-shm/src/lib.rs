//! The `local` fabric: ranks as processes that pass messages through one shared memory segment.
