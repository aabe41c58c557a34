//! Collectives by messages in which the members' calls differ. A fabric that compares calls must detect the mistake,
//! and must not report one if a rank is only late. A fabric without comparison returns the number 0, and passes.

use super::check::{ensure, expect};
use collectives::Collective;
use contract::{
    AgreedCall, CallId, ContextPlace, Destination, Endpoint, Error, Result, Selector, TimeSpan,
};

const TAG: u32 = 9;
/// Minimum number of polls, far more than any fabric needs after all members have announced their calls. Polls alone do
/// not suffice: a fast fabric makes them all before it compares.
const POLLS_MIN: u32 = 100_000;
const WAIT_MIN: TimeSpan = TimeSpan::from_us(1_000_000);
/// Number of checks for a mismatch in a call with a late member.
const CHECKS: u32 = 3;

/// Waits until every rank has arrived here, by a message from each to each.
fn meet_all<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let (rank, size) = (endpoint.rank(), endpoint.size());
    for other in (0..size).filter(|&other| other != rank) {
        endpoint.send(Destination { rank: other, context: 1, tag: TAG }, &[])?;
    }
    for other in (0..size).filter(|&other| other != rank) {
        let from_it = Selector { context: 1, source: Some(other as u32), tag: Some(TAG) };
        endpoint.receive(from_it, &mut [])?;
    }
    Ok(())
}

/// A broadcast from this root.
fn broadcast(root: usize) -> AgreedCall {
    AgreedCall { id: CallId::rooted(Collective::Broadcast, root), bytes: 8 }
}

/// Returns 0 if the fabric compares nothing.
fn announce<E: Endpoint>(endpoint: &mut E, call: AgreedCall) -> u32 {
    let collectives = endpoint.context_collectives(ContextPlace::WORLD);
    collectives.map_or(0, |all| all.announce_by_messages(ContextPlace::WORLD, call))
}

fn find_mismatch<E: Endpoint>(endpoint: &mut E, number: u32) -> Option<Error> {
    endpoint.context_collectives(ContextPlace::WORLD)?.find_mismatch(ContextPlace::WORLD, number)
}

fn is_check_due<E: Endpoint>(endpoint: &mut E, polls: u32) -> bool {
    endpoint.long_waits().is_some_and(|waits| waits.is_check_due(polls))
}

/// Checks for a mismatch of a call whenever a liveness check is due in a wait, until there were `enough` checks or one
/// was found.
fn wait_for_mismatch<E: Endpoint>(
    endpoint: &mut E,
    number: u32,
    mut enough: impl FnMut(&mut E, u32) -> bool,
) -> Result<Option<Error>> {
    let (mut polls, mut found) = (0, None);
    endpoint.wait_until(&mut |endpoint| {
        polls += 1;
        if is_check_due(endpoint, polls) {
            found = find_mismatch(endpoint, number);
        }
        found.is_some() || enough(endpoint, polls)
    })?;
    Ok(found)
}

/// Rank 0 makes the same call as the others, but only after they have checked for a mismatch several times.
pub(super) fn late<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let (rank, size) = (endpoint.rank(), endpoint.size());
    if rank == 0 {
        for other in 1..size {
            let from_it = Selector { context: 1, source: Some(other as u32), tag: Some(TAG) };
            endpoint.receive(from_it, &mut [])?;
        }
    }
    let number = announce(endpoint, broadcast(0));
    if rank != 0 {
        if number != 0 {
            let mut checks = 0;
            let has_looked = |endpoint: &mut E, polls| {
                checks += u32::from(is_check_due(endpoint, polls));
                checks == CHECKS
            };
            let found = wait_for_mismatch(endpoint, number, has_looked)?;
            expect("the mismatch of a call that all members make alike", None, found)?;
        }
        endpoint.send(Destination { rank: 0, context: 1, tag: TAG }, &[])?;
    }
    if number == 0 { Ok(()) } else { meet_all(endpoint) }
}

/// Rank 0 makes another call than the others. All must detect it, also for the call before, which was correct.
pub(super) fn different<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let equal = announce(endpoint, broadcast(0));
    if equal == 0 {
        return Ok(());
    }
    meet_all(endpoint)?;
    let before = find_mismatch(endpoint, equal);
    expect("the mismatch of a call that all members make alike", None, before)?;
    let root = if endpoint.rank() == 0 { 6 } else { 7 };
    let number = announce(endpoint, broadcast(root));
    expect("the number of the next call", equal.wrapping_add(1), number)?;
    meet_all(endpoint)?;
    let end = endpoint.now() + WAIT_MIN;
    let enough = |endpoint: &mut E, polls| polls >= POLLS_MIN && endpoint.now() >= end;
    let found = wait_for_mismatch(endpoint, number, enough)?;
    let is_named = |words: &str| {
        ["in broadcast with root 6", "in broadcast with root 7"]
            .iter()
            .all(|one| words.contains(one))
    };
    let is_named = matches!(
        &found,
        Some(Error::MismatchedCollective { explanation }) if endpoint.size() == 1 || is_named(explanation)
    );
    ensure(is_named, || format!("a call that rank 0 makes differently ended with {found:?}"))?;
    // No member ends before all have detected it.
    meet_all(endpoint)
}
