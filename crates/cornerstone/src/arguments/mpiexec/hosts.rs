//! The hosts that options of mpiexec name, and the ranks of each.

use std::ffi::OsString;
use std::path::Path;

use fabric_tcp::Host;

use crate::failure::Failure;

/// A host, and its slots if they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedHost {
    host: Host,
    has_slots: bool,
}

/// Reads the hosts of a list with commas.
pub(super) fn listed(list: &str) -> Result<Vec<NamedHost>, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("mpiexec: hosts '{list}': {why}"))
            .hint("write hosts as NAME or NAME:SLOTS, with commas between them")
    };
    Ok(Host::parse_list(list).map_err(wrong)?.into_iter().map(|host| named(host, list)).collect())
}

/// Reads the hosts of a file, one a line.
pub(super) fn of_file(path: &Path) -> Result<Vec<NamedHost>, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("mpiexec: '{}': {why}", path.display()))
            .hint("write a host a line, as NAME, NAME:SLOTS or NAME slots=SLOTS")
    };
    let text = definition_files::read_text(path).map_err(|error| wrong(error.to_string()))?;
    let hosts = Host::parse_all(&text).map_err(wrong)?;
    Ok(hosts.into_iter().map(|host| named(host, &text)).collect())
}

/// Returns a host of a text, with whether the text gives it slots.
fn named(host: Host, text: &str) -> NamedHost {
    let name = written(&host.name);
    let gives_slots = |entry: &str| {
        let rest = entry.trim().strip_prefix(&name).unwrap_or_default();
        rest.starts_with(':') || rest.trim_start().starts_with("slots=")
    };
    NamedHost { has_slots: text.split(['\n', ',']).any(gives_slots), host }
}

/// Returns the name of a host as lists have it.
fn written(name: &str) -> String {
    if name.contains(':') { format!("[{name}]") } else { name.to_owned() }
}

/// Returns whether all of them are this host.
pub(super) fn are_here(hosts: &[NamedHost]) -> bool {
    hosts.iter().all(|one| one.host.is_here())
}

/// Returns the option of `launch` for hosts that take so many ranks. Those without slots get `each`, or their share of
/// all. With `by_node` the ranks go to the hosts in turn.
pub(super) fn words(
    hosts: &[NamedHost],
    ranks: usize,
    each: Option<usize>,
    by_node: bool,
) -> Vec<OsString> {
    let share = each.unwrap_or(ranks.div_ceil(hosts.len().max(1)));
    let slots = |one: &NamedHost| if one.has_slots { one.host.slots } else { share };
    let entry = |one: &NamedHost, slots: usize| {
        let addresses: Vec<String> = one.host.addresses.iter().map(ToString::to_string).collect();
        let at = if addresses.is_empty() { "" } else { "@" };
        format!("{}:{slots}{at}{}", written(&one.host.name), addresses.join(","))
    };
    let list: Vec<String> = if by_node {
        let rounds = hosts.iter().map(slots).max().unwrap_or_default().min(ranks);
        let round = |turn: usize| hosts.iter().filter(move |one| slots(one) > turn);
        (0..rounds).flat_map(round).take(ranks).map(|one| entry(one, 1)).collect()
    } else {
        hosts.iter().map(|one| entry(one, slots(one))).collect()
    };
    vec!["--host".into(), list.join(",").into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(list: &str, ranks: usize, each: Option<usize>, by_node: bool) -> String {
        let words = words(&listed(list).unwrap(), ranks, each, by_node);
        words[1].to_str().unwrap().to_owned()
    }

    #[test]
    fn hosts_without_slots_share_the_ranks() {
        assert_eq!(placed("a,b", 5, None, false), "a:3,b:3");
        assert_eq!(placed("a,b", 5, Some(4), false), "a:4,b:4");
        assert_eq!(placed("a:1,b", 5, None, false), "a:1,b:3");
        assert_eq!(
            placed("a:2@10.0.0.1,10.1.0.1,[::2]", 2, None, false),
            "a:2@10.0.0.1,10.1.0.1,[::2]:1"
        );
    }

    #[test]
    fn ranks_go_to_the_hosts_in_turn_while_these_have_slots() {
        assert_eq!(placed("a:1,b:3", 4, None, true), "a:1,b:1,b:1,b:1");
        assert_eq!(placed("a,b", 3, None, true), "a:1,b:1,a:1");
    }
}
