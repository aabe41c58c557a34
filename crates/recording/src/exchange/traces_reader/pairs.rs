//! The messages of `sendRecv`, which have no tags in the traces.
//!
//! Other messages between the same two ranks have tags. Sends and receives with the same tag are paired in their order.
//! The remaining ones are paired in their order, too.

use std::collections::{BTreeMap, VecDeque};

use super::{Rank, Wrong};
use crate::RankEvent;

/// Tag of messages between two of them.
const TAG: u32 = i32::MAX as u32;

/// The place of a send or a receive: its rank and its index among the rank's events.
#[derive(Clone, Copy)]
struct Place {
    rank: usize,
    at: usize,
    /// `None` in a `sendRecv`, and for a receive of any tag.
    tag: Option<u32>,
}

/// The messages from one rank to another.
#[derive(Default)]
struct Pair {
    sends: Vec<Place>,
    receives: Vec<Place>,
}

/// A receive of a rank that several messages match: its source, if it is not any rank.
type Open = (Option<usize>, Place);

/// Sets the tags of the messages of each `sendRecv` to those of their partners.
///
/// # Errors
/// If one has no partner.
pub(super) fn assign_tags(ranks: &mut [Rank]) -> Result<(), Wrong> {
    if ranks.iter().all(|rank| rank.tagless.is_empty()) {
        return Ok(());
    }
    let mut pairs: BTreeMap<(usize, usize), Pair> = BTreeMap::new();
    let mut open: BTreeMap<usize, Vec<Open>> = BTreeMap::new();
    for (rank, own) in ranks.iter().enumerate() {
        for (at, event) in own.events.iter().enumerate() {
            if event.context() != Some(0) {
                continue;
            }
            let is_tagless = own.tagless.contains_key(&at);
            let place = |tag| Place { rank, at, tag };
            match event {
                RankEvent::Send(message) | RankEvent::PostSend { message, .. } => {
                    let tag = (!is_tagless).then_some(message.tag);
                    pairs.entry((rank, message.to)).or_default().sends.push(place(tag));
                }
                RankEvent::Receive(room) | RankEvent::PostReceive(room) => {
                    let (from, tag) =
                        (room.selector.source.map(|from| from as usize), room.selector.tag);
                    match from.filter(|_| is_tagless || tag.is_some()) {
                        Some(from) => {
                            pairs.entry((from, rank)).or_default().receives.push(place(tag));
                        }
                        None => open.entry(rank).or_default().push((from, place(tag))),
                    }
                }
                _ => {}
            }
        }
    }
    for ((from, to), pair) in pairs {
        let of_pair = open.get(&to).into_iter().flatten();
        let of_pair = of_pair.filter(|(source, _)| source.is_none_or(|source| source == from));
        match_wildcards(ranks, of_pair.map(|&(_, place)| place), &pair)?;
    }
    Ok(())
}

fn match_wildcards(
    ranks: &mut [Rank],
    open: impl Iterator<Item = Place>,
    pair: &Pair,
) -> Result<(), Wrong> {
    if pair.sends.iter().chain(&pair.receives).all(|place| place.tag.is_some()) {
        return Ok(());
    }
    let mut by_tag: BTreeMap<u32, VecDeque<Place>> = BTreeMap::new();
    for receive in &pair.receives {
        receive.tag.into_iter().for_each(|tag| by_tag.entry(tag).or_default().push_back(*receive));
    }
    let mut sends = pair.sends.clone();
    sends.retain(|send| {
        let partner = send.tag.and_then(|tag| by_tag.get_mut(&tag)).and_then(VecDeque::pop_front);
        partner.is_none()
    });
    let mut receives: Vec<Place> = by_tag.into_values().flatten().collect();
    receives.extend(pair.receives.iter().filter(|place| place.tag.is_none()));
    // Sends without a receive of their own belong to receives of any rank or any tag.
    let more = sends.len().saturating_sub(receives.len());
    receives.extend(open.take(more));
    receives.sort_by_key(|place| place.at);
    for index in 0..sends.len().max(receives.len()) {
        match (sends.get(index), receives.get(index)) {
            (Some(send), Some(receive)) => {
                let tag = send.tag.or(receive.tag).unwrap_or(TAG);
                set_tag(ranks, send, tag);
                set_tag(ranks, receive, tag);
            }
            (Some(alone), None) | (None, Some(alone)) if alone.tag.is_none() => {
                let (text, line) = ranks[alone.rank].tagless[&alone.at];
                let why = "this 'sendRecv' has no partner in the other rank's trace: SimGrid leaves out those with \
                           MPI_PROC_NULL";
                return Err((text, (line, why.into())));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Sets the tag of a message of a `sendRecv`. Another message has its own, or accepts any.
fn set_tag(ranks: &mut [Rank], place: &Place, tag: u32) {
    let rank = &mut ranks[place.rank];
    if !rank.tagless.contains_key(&place.at) {
        return;
    }
    match &mut rank.events[place.at] {
        RankEvent::Send(message) | RankEvent::PostSend { message, .. } => message.tag = tag,
        RankEvent::Receive(room) | RankEvent::PostReceive(room) => room.selector.tag = Some(tag),
        _ => {}
    }
}
