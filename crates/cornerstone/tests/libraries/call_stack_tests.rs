//! The active calls of this thread.

use call_stack::{file_of, walk};

#[inline(never)]
fn here(most: usize) -> Vec<usize> {
    let mut found = Vec::new();
    walk(|address| {
        found.push(address);
        found.len() < most
    });
    found
}

#[test]
fn the_stack_has_the_active_calls_and_ends() {
    let found = here(usize::MAX);
    assert!((3..=200).contains(&found.len()), "{}", found.len());
    let own = file_of(here as *const () as usize + 1).unwrap().base;
    assert_eq!(file_of(found[0]).unwrap().base, own);
    assert!(file_of(1).is_none());
}

#[test]
fn a_walk_ends_when_its_visitor_has_seen_enough() {
    assert_eq!(here(2).len(), 2);
}
