//! Threads of OpenMP beside several ranks.

use std::ffi::{OsStr, OsString};

/// How threads of OpenMP wait: they spin (active) or sleep (passive).
const WAIT_POLICY: &str = "OMP_WAIT_POLICY";
/// Variables by which users decide that themselves: the standard's, and those of GCC's and LLVM's libraries.
const DECIDING: [&str; 3] = [WAIT_POLICY, "GOMP_SPINCOUNT", "KMP_BLOCKTIME"];

/// Adds to the `environment` of the ranks of this host what follows from their number; what it says and what this
/// process has in its own decide first.
pub(crate) fn settle(
    environment: &mut Vec<(OsString, OsString)>,
    ranks: usize,
    is_bound_to_one: bool,
) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let value = |name: &str| {
        let given = environment.iter().rfind(|(own, _)| own == name);
        given.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name))
    };
    let policy = wait_policy(ranks, processors, is_bound_to_one, value);
    environment.extend(policy);
}

/// The variable that each of `ranks` gets if threads of OpenMP would be more than this host's `processors`. These
/// libraries spin at a barrier unless one process alone has too many threads, and see no other process: a thread that
/// has arrived then takes the processor from one that has not. `value` looks up a variable of the ranks.
fn wait_policy(
    ranks: usize,
    processors: usize,
    is_bound_to_one: bool,
    value: impl Fn(&str) -> Option<OsString>,
) -> Option<(OsString, OsString)> {
    if DECIDING.iter().any(|name| value(name).is_some()) {
        return None;
    }
    // Of a list for nested teams the first number is that of the outer one.
    let asked = value("OMP_NUM_THREADS");
    let first = asked.as_deref().and_then(OsStr::to_str).and_then(|list| list.split(',').next());
    let asked: Option<usize> = first.and_then(|number| number.trim().parse().ok());
    let threads = asked.unwrap_or(if is_bound_to_one { 1 } else { processors });
    let is_crowded = threads > 1 && ranks.saturating_mul(threads) > processors;
    is_crowded.then(|| (WAIT_POLICY.into(), "passive".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ranks on four processors get whose environment has these variables.
    fn on_four(ranks: usize, is_bound: bool, variables: &[(&str, &str)]) -> Option<String> {
        let value = |name: &str| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value))
        };
        let set = wait_policy(ranks, 4, is_bound, value);
        set.map(|(name, value)| format!("{}={}", name.display(), value.display()))
    }

    #[test]
    fn threads_sleep_where_ranks_have_more_of_them_than_processors() {
        let passive = Some("OMP_WAIT_POLICY=passive".to_owned());
        // Each rank has as many threads as processors unless it is told otherwise.
        assert_eq!(on_four(2, false, &[]), passive);
        assert_eq!(on_four(2, false, &[("OMP_NUM_THREADS", "3")]), passive);
        assert_eq!(on_four(2, false, &[("OMP_NUM_THREADS", " 3,2")]), passive);
        assert_eq!(on_four(2, false, &[("OMP_NUM_THREADS", "no number")]), passive);
    }

    #[test]
    fn nothing_is_set_where_there_is_room_or_one_thread_or_the_user_has_decided() {
        assert_eq!(on_four(1, false, &[]), None);
        assert_eq!(on_four(2, false, &[("OMP_NUM_THREADS", "2")]), None);
        assert_eq!(on_four(9, false, &[("OMP_NUM_THREADS", "1")]), None);
        assert_eq!(on_four(9, true, &[]), None);
        for (name, value) in
            [("OMP_WAIT_POLICY", "active"), ("GOMP_SPINCOUNT", "9"), ("KMP_BLOCKTIME", "0")]
        {
            assert_eq!(on_four(9, false, &[(name, value)]), None, "{name}");
        }
    }
}
