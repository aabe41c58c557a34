//! How many files a launcher may have open: two or more for each rank, where shells often allow 1024.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes what the system grants at most, and returns what was set before, for programs that are none of ours: some of
/// them rely on small numbers of descriptors, as `select` does. Where the system refuses, all stays as it was.
pub(crate) fn raise_limit() -> Option<u64> {
    let before = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before });
    before.current
}
