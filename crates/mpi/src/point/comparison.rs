//! The comparison of all messages at the end of a run: those that were received as another type than they were sent, or
//! never, are found there at the latest (decision 0150).

use std::collections::BTreeMap;
use std::rc::Rc;

use contract::{Endpoint, Envelope, Selector, TimeSpan, WaitTerms};

use crate::collective::{exchange, exchange_places, half, word};
use crate::datatype::Signature;
use crate::engine::{Context, Noted};
use crate::error::{Error, ErrorClass, Result};

/// Polls for messages that were sent and have not arrived, and the time between them.
const LATE_POLLS: usize = 10;
const BETWEEN_POLLS: TimeSpan = TimeSpan::from_us(2_000);

/// Sender, receiver, context and tag.
type Stream = (u32, u32, u32, u32);

/// The messages of a stream, as its two sides have noted them: in the order of the sends, and in that in which receives
/// have ended, which may be another.
#[derive(Default)]
struct Sides {
    sent: Vec<Signature>,
    received: Vec<Signature>,
}

/// A message that was received as another type than it was sent: one of the sends and one of the receives of a stream that
/// have no partner.
#[derive(Debug, PartialEq, Eq)]
struct Mistaken {
    stream: Stream,
    /// Their places in the stream.
    numbers: [usize; 2],
    sent: Signature,
    received: Signature,
}

const NOTED_BYTES: usize = 20;

fn to_bytes(message: &Noted) -> [u8; NOTED_BYTES] {
    let mut all = [0; NOTED_BYTES];
    let halves = [message.context, message.tag, message.other];
    for (place, half) in all.chunks_mut(4).zip(halves) {
        place.copy_from_slice(&half.to_ne_bytes());
    }
    all[12..].copy_from_slice(&message.signature.bits().to_ne_bytes());
    all
}

/// Reads a context, a tag and a rank.
fn three(bytes: &[u8]) -> [u32; 3] {
    [0, 4, 8].map(|place| half(&bytes[place..]))
}

/// Reads the messages of a rank: the number of those that it has sent, these, and those that it has received. A rank that
/// has not noted all of its messages says nothing.
fn add(streams: &mut BTreeMap<Stream, Sides>, rank: u32, bytes: &[u8]) {
    let Some((sent, messages)) = bytes.split_first_chunk() else { return };
    let sent = u32::from_ne_bytes(*sent) as usize;
    for (number, message) in messages.chunks_exact(NOTED_BYTES).enumerate() {
        let [context, tag, other] = three(message);
        let signature = Signature::from_bits(word(&message[12..]));
        match number < sent {
            true => streams.entry((rank, other, context, tag)).or_default().sent.push(signature),
            false => {
                streams.entry((other, rank, context, tag)).or_default().received.push(signature);
            }
        }
    }
}

impl Sides {
    /// Returns the places of a send and of a receive that have no partner, if the sends and the receives cannot all be
    /// paired. Bytes are a partner of everything.
    fn unpaired(&self) -> Option<[usize; 2]> {
        let Sides { sent, received } = self;
        if sent.len() != received.len() {
            return None;
        }
        let [alone_there, alone_here] = [surplus(sent, received), surplus(received, sent)];
        let any = received.iter().filter(|one| one.is_any()).count();
        let is_mistaken = alone_there.len() > any;
        is_mistaken.then(|| Some([*alone_there.first()?, *alone_here.first()?]))?
    }
}

/// Returns the places of those in `one` of which `other` has fewer.
fn surplus(one: &[Signature], other: &[Signature]) -> Vec<usize> {
    let mut left = BTreeMap::<u64, usize>::new();
    other.iter().for_each(|signature| *left.entry(signature.bits()).or_default() += 1);
    let is_alone = |&(_, signature): &(usize, &Signature)| match left.get_mut(&signature.bits()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => !signature.is_any(),
    };
    one.iter().enumerate().filter(is_alone).map(|(place, _)| place).collect()
}

fn first_mistaken(streams: &BTreeMap<Stream, Sides>) -> Option<Mistaken> {
    streams.iter().find_map(|(&stream, sides)| {
        let numbers = sides.unpaired()?;
        let (sent, received) = (sides.sent[numbers[0]], sides.received[numbers[1]]);
        Some(Mistaken { stream, numbers, sent, received })
    })
}

/// Returns the place of the call for message `number` of a stream.
fn place_of(messages: &[Noted], (other, context, tag): (u32, u32, u32), number: usize) -> String {
    let of_stream = |one: &&Noted| (one.other, one.context, one.tag) == (other, context, tag);
    messages
        .iter()
        .filter(of_stream)
        .nth(number)
        .map(|one| one.site.to_string())
        .unwrap_or_default()
}

/// Waits a little for messages that are still under way, and returns one that no receive has matched.
fn left_over<E: Endpoint>(world: &Rc<Context<E>>) -> Result<Option<Envelope>> {
    let engine = world.engine();
    let contexts = engine.identities().contexts_of_programs();
    for _ in 0..LATE_POLLS {
        engine.progress()?;
        for &context in &contexts {
            let selector = Selector { context, source: None, tag: None };
            let found = engine.endpoint()?.probe(selector, None)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let mut endpoint = engine.endpoint()?;
        let next = endpoint.now() + BETWEEN_POLLS;
        contract::wait_until_time(&mut *endpoint, next);
    }
    Ok(None)
}

/// Finds a message that was received as another type than it was sent, or never, once it is known that there may be one.
/// All processes make this call. Returns the error at the receiver, and `None` elsewhere, or if there is none.
///
/// # Errors
/// Errors that end the run.
pub(crate) fn explain_messages<E: Endpoint + 'static>(
    world: &Rc<Context<E>>,
    all_are_received: bool,
) -> Result<Option<Error>> {
    let engine = world.engine();
    let [sent, received] = engine.messages().all_noted().unwrap_or_default();
    let mut own = (sent.len() as u32).to_ne_bytes().to_vec();
    own.extend(sent.iter().chain(&received).flat_map(to_bytes));
    let mut streams = BTreeMap::new();
    for (rank, bytes) in exchange(world, &own)?.iter().enumerate() {
        add(&mut streams, rank as u32, bytes);
    }
    let me = world.rank() as u32;
    if let Some(Mistaken { stream, numbers, sent: as_sent, received: as_received }) =
        first_mistaken(&streams)
    {
        let (from, to, context, tag) = stream;
        let own = match me {
            _ if me == from => place_of(&sent, (to, context, tag), numbers[0]),
            _ if me == to => place_of(&received, (from, context, tag), numbers[1]),
            _ => String::new(),
        };
        let places = exchange_places(world, &own)?;
        let place = |rank: u32| &places[rank as usize];
        let here = if from == to { "" } else { place(to) };
        let (sent, received) = (as_sent.in_words(), as_received.in_words());
        let where_ = engine.identities().place(context).unwrap_or_default();
        let words = format!(
            "datatypes do not match: rank {from} sends {sent} with tag {tag}{}, which rank {to} receives as {received}{here}{where_}",
            place(from)
        );
        return Ok((me == to).then(|| Error::new(ErrorClass::Other, words)));
    }
    if all_are_received {
        return Ok(None);
    }
    explain_left_over(world, &sent)
}

fn explain_left_over<E: Endpoint + 'static>(
    world: &Rc<Context<E>>,
    sent: &[Noted],
) -> Result<Option<Error>> {
    let left = left_over(world)?;
    let own = left.map_or_else(Vec::new, |Envelope { context, source, tag, .. }| {
        [context, tag, source].iter().flat_map(|half| half.to_ne_bytes()).collect()
    });
    let all = exchange(world, &own)?;
    let Some(to) = all.iter().position(|one| !one.is_empty()) else { return Ok(None) };
    let [context, tag, from] = three(&all[to]);
    // Those before it in its stream were received; it need not be the next, so the place is that of the last that is known.
    let own = match world.rank() as u32 == from {
        true => {
            let of_stream =
                |one: &&Noted| (one.other, one.context, one.tag) == (to as u32, context, tag);
            sent.iter().rfind(of_stream).map(|one| one.site.to_string())
        }
        false => None,
    };
    let place = &exchange_places(world, &own.unwrap_or_default())?[from as usize];
    let bytes = left.map_or(0, |message| message.bytes);
    let where_ = world.engine().identities().place(context).unwrap_or_default();
    let words = format!(
        "a message of {bytes} bytes with tag {tag} of rank {from}{place} was never received by rank {to}{where_}"
    );
    Ok((world.rank() == to).then(|| Error::new(ErrorClass::Other, words)))
}

#[cfg(test)]
mod tests {
    use call_stack::CallSite;

    use super::*;
    use crate::datatype::{Datatype, Kind};

    #[test]
    fn the_messages_of_a_stream_are_compared_in_any_order_and_bytes_match_all() {
        let of = |kind, count| Datatype::basic(kind).signature(count);
        let (ints, floats) = (of(Kind::Signed(4), 6), of(Kind::Float(4), 6));
        let noted = |other, tag, signature| {
            to_bytes(&Noted { context: 8, tag, other, signature, site: CallSite::default() })
        };
        let side = |sent: &[[u8; NOTED_BYTES]], received: &[[u8; NOTED_BYTES]]| {
            let mut all = (sent.len() as u32).to_ne_bytes().to_vec();
            all.extend(sent.iter().chain(received).flatten());
            all
        };
        let mistaken = |sent: [Signature; 2], received: &[Signature]| {
            let mut streams = BTreeMap::new();
            let sent = [noted(1, 4, sent[0]), noted(1, 4, sent[1]), noted(1, 5, floats)];
            add(&mut streams, 0, &side(&sent, &[]));
            let received: Vec<_> = received.iter().map(|&one| noted(0, 4, one)).collect();
            add(&mut streams, 1, &side(&[], &received));
            first_mistaken(&streams)
        };
        let any = Signature::ANY;
        for received in [&[ints, floats][..], &[floats, ints], &[any, any], &[any, ints], &[ints]] {
            assert_eq!(mistaken([ints, floats], received), None, "{received:?}");
        }
        assert_eq!(mistaken([ints, any], &[floats, ints]), None);
        let of = |numbers, sent, received| {
            Some(Mistaken { stream: (0, 1, 8, 4), numbers, sent, received })
        };
        assert_eq!(mistaken([ints, floats], &[ints, ints]), of([1, 1], floats, ints));
        assert_eq!(mistaken([ints, any], &[floats, floats]), of([0, 0], ints, floats));
        assert_eq!(mistaken([ints, ints], &[any, floats]), of([0, 1], ints, floats));
    }
}
