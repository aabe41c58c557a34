//! The slow, obvious fabric: ranks as threads, one lock, one queue.
