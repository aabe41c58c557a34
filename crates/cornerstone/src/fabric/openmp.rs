//! OpenMP threads in runs of several ranks.

use std::ffi::{OsStr, OsString};

/// Variable for the waiting of OpenMP threads: they spin (active) or sleep (passive).
const WAIT_POLICY: &str = "OMP_WAIT_POLICY";
/// Variables by which users decide that themselves: of the standard, and of the libraries of GCC and LLVM.
const DECIDING: [&str; 3] = [WAIT_POLICY, "GOMP_SPINCOUNT", "KMP_BLOCKTIME"];

/// Adds the variables that follow from the number of ranks to the `environment` of the ranks of this host. Variables
/// that are in `environment` or in the environment of this process have precedence.
pub(crate) fn set_wait_policy(
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

/// Returns the variable that each of `ranks` ranks receives if there are more OpenMP threads than this host's
/// `processors`. OpenMP libraries spin at a barrier unless one process alone has too many threads, and do not count
/// other processes. A thread that has arrived then takes the processor from one that has not. `value` returns a
/// variable of the ranks.
fn wait_policy(
    ranks: usize,
    processors: usize,
    is_bound_to_one: bool,
    value: impl Fn(&str) -> Option<OsString>,
) -> Option<(OsString, OsString)> {
    if DECIDING.iter().any(|name| value(name).is_some()) {
        return None;
    }
    // In a list for nested teams the first number is that of the outer team.
    let requested = value("OMP_NUM_THREADS");
    let first =
        requested.as_deref().and_then(OsStr::to_str).and_then(|list| list.split(',').next());
    let requested: Option<usize> = first.and_then(|number| number.trim().parse().ok());
    let threads = requested.unwrap_or(if is_bound_to_one { 1 } else { processors });
    let is_crowded = threads > 1 && ranks.saturating_mul(threads) > processors;
    is_crowded.then(|| (WAIT_POLICY.into(), "passive".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the variable of ranks on four processors with these variables in their environment.
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
        // Each rank has as many threads as processors, unless a variable sets another number.
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
