//! The limit of open files. A launcher needs two or more files for each rank, and shells often allow 1024.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit to the most that the system grants, and returns the limit before. Programs that are not part of
/// this project are started with the limit before, because some rely on small descriptors, as `select` does. If the
/// system refuses, nothing changes.
pub(crate) fn raise_limit() -> Option<u64> {
    let before = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before });
    before.current
}
