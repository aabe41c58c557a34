//! The suite of the [`Endpoint`] itself: requirements of libraries over an endpoint that [`Rank`](contract::Rank) cannot
//! test.
//!
//! A case is a function generic over the endpoint. A fabric runs cases by name, as it does those of the suite for
//! ranks.

use super::check::{contents, ensure, expect, expect_contents};
use super::endpoint_case::EndpointCase;
use super::{mismatch, started, windows};
use contract::{
    BETWEEN_RUNS, Claim, Completion, Destination, Endpoint, Envelope, LongWaits, Readable, Request,
    Result, Selector, Writable,
};

/// Returns all cases.
pub fn endpoint_cases<E: Endpoint>() -> Vec<EndpointCase<E>> {
    let case = |name, program| EndpointCase { name, program };
    let mut cases = vec![
        case("endpoint/a-receive-is-done-once-its-message-came", done_once_it_came),
        case("endpoint/a-cancelled-receive-takes-nothing", cancelled),
        case("endpoint/a-claimed-message-is-out-of-sight", claimed),
        case("endpoint/a-synchronous-send-waits-for-its-receive", synchronous),
        case("endpoint/wait-until-sees-every-end", wait_until),
        case("endpoint/a-send-at-once-is-whole-or-nothing", at_once),
        case("endpoint/collectives-have-a-context-of-their-own", contexts),
        case("endpoint/a-rank-that-has-left-is-known", left),
        case("endpoint/a-late-collective-is-no-mismatch", mismatch::late),
        case("endpoint/a-mismatched-collective-is-found", mismatch::different),
        case("endpoint/started-collectives-do-what-others-do", started::many),
        case("endpoint/a-started-barrier-waits-for-all", started::barrier),
    ];
    cases.extend(windows::cases());
    cases
}

const TAG: u32 = 9;
const GO: u32 = 10;

fn to_rank(rank: usize, tag: u32) -> Destination {
    Destination { rank, context: 0, tag }
}

fn selector(source: Option<usize>, tag: Option<u32>) -> Selector {
    Selector { context: 0, source: source.map(|one| one as u32), tag }
}

/// Lends memory of a case, which outlives all requests because a case waits for all that it has started.
fn readable(data: &[u8]) -> Readable {
    // SAFETY: as said above.
    #[allow(unsafe_code)]
    unsafe {
        Readable::new(data.as_ptr(), data.len())
    }
}

fn writable(room: &mut [u8]) -> Writable {
    // SAFETY: as said above.
    #[allow(unsafe_code)]
    unsafe {
        Writable::new(room.as_mut_ptr(), room.len())
    }
}

/// Waits for a request and ends it.
fn finish<E: Endpoint>(endpoint: &mut E, request: Request) -> Result<Envelope> {
    expect("the request that is done", 0, endpoint.wait_any(&[request])?)?;
    ensure(endpoint.is_done(request), || "a request that was waited for is not done".into())?;
    let envelope = endpoint.envelope(request);
    expect("what the end says of the message", envelope, endpoint.end(request))?;
    Ok(envelope)
}

/// Makes progress for a request, and returns whether it is done.
fn test<E: Endpoint>(endpoint: &mut E, request: Request) -> Result<bool> {
    endpoint.progress(Some(request))?;
    Ok(endpoint.is_done(request))
}

/// Waits until the other rank of a pair has arrived here, by two messages.
fn meet<E: Endpoint>(endpoint: &mut E, other: usize) -> Result<()> {
    let mut nothing = [0; 1];
    endpoint
        .exchange((to_rank(other, GO), &[0]), (selector(Some(other), Some(GO)), &mut nothing))?;
    Ok(())
}

/// Returns the other rank of the pair of ranks 0 and 1, or `None` for all others, which do nothing.
fn partner<E: Endpoint>(endpoint: &E) -> Option<usize> {
    (endpoint.rank() < 2).then(|| 1 - endpoint.rank())
}

fn done_once_it_came<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let Some(other) = partner(endpoint) else { return Ok(()) };
    for bytes in [0, 1, 64, 5000, 300_000] {
        let (data, mut room) = (contents(bytes as u64, bytes), vec![0; bytes + 3]);
        if endpoint.rank() == 0 {
            let request = endpoint.post_receive(selector(None, None), writable(&mut room))?;
            ensure(!test(endpoint, request)?, || "a receive is done before its message".into())?;
            endpoint.send(Destination { rank: other, context: 1, tag: GO }, &[])?;
            let envelope = finish(endpoint, request)?;
            let source = other as u32;
            let expected = Envelope { context: 0, source, tag: TAG, bytes, room: bytes + 3 };
            expect("the message", expected, envelope)?;
            expect_contents("the message", bytes as u64, &room[..bytes])?;
        } else {
            let go = Selector { context: 1, source: Some(0), tag: Some(GO) };
            endpoint.receive(go, &mut [])?;
            let request =
                endpoint.post_send(to_rank(other, TAG), readable(&data), Completion::Local)?;
            finish(endpoint, request)?;
        }
    }
    Ok(())
}

fn cancelled<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let Some(other) = partner(endpoint) else { return Ok(()) };
    if endpoint.rank() == 1 {
        meet(endpoint, other)?;
        endpoint.send(to_rank(other, TAG), &[1, 2])?;
        return meet(endpoint, other);
    }
    let (mut never, mut room) = ([7; 2], [0; 2]);
    let request = endpoint.post_receive(selector(None, Some(TAG)), writable(&mut never))?;
    expect("whether a waiting receive is cancelled", true, endpoint.cancel_receive(request))?;
    meet(endpoint, other)?;
    let request = endpoint.post_receive(selector(None, Some(TAG)), writable(&mut room))?;
    endpoint.wait_any(&[request])?;
    expect(
        "whether a receive with a message is cancelled",
        false,
        endpoint.cancel_receive(request),
    )?;
    finish(endpoint, request)?;
    expect("what the cancelled and the other receive hold", ([7, 7], [1, 2]), (never, room))?;
    meet(endpoint, other)
}

fn claimed<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let Some(other) = partner(endpoint) else { return Ok(()) };
    let lengths = [3_usize, 100_000];
    if endpoint.rank() == 1 {
        for bytes in lengths {
            let first = contents(1, bytes);
            let sent =
                endpoint.post_send(to_rank(other, TAG), readable(&first), Completion::Local)?;
            endpoint.send(to_rank(other, TAG), &[5])?;
            finish(endpoint, sent)?;
            meet(endpoint, other)?;
        }
        return Ok(());
    }
    for (number, bytes) in lengths.into_iter().enumerate() {
        let all = selector(None, Some(TAG));
        // The context of MPI's claimed messages, which is the largest of those of a run, and a tag that nothing else
        // uses.
        let (context, tag) = (2 * BETWEEN_RUNS - 1, 1_000_000 + number as u32);
        let claimed = loop {
            if let Some(found) = endpoint.probe(all, Some(Claim { context, tag }))? {
                break found;
            }
        };
        let (source, room) = (other as u32, bytes);
        expect(
            "the message claimed",
            Envelope { context: 0, source, tag: TAG, bytes, room },
            claimed,
        )?;
        let mut second = [0; 1];
        let envelope = endpoint.receive(all, &mut second)?;
        expect("the next message's length and data", (1, [5]), (envelope.bytes, second))?;
        let mut first = vec![0; bytes];
        let place = Selector { context, source: Some(source), tag: Some(tag) };
        let request = endpoint.post_receive(place, writable(&mut first))?;
        finish(endpoint, request)?;
        expect_contents("the claimed message", 1, &first)?;
        meet(endpoint, other)?;
    }
    Ok(())
}

fn synchronous<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let Some(other) = partner(endpoint) else { return Ok(()) };
    for bytes in [0, 1, 200, 20_000] {
        let (data, mut room) = (contents(3, bytes), vec![0; bytes]);
        if endpoint.rank() == 0 {
            let completion = Completion::Synchronous;
            let request = endpoint.post_send(to_rank(other, TAG), readable(&data), completion)?;
            for _ in 0..20 {
                let done = test(endpoint, request)?;
                ensure(!done, || format!("a synchronous send of {bytes} bytes ended by itself"))?;
            }
            endpoint.send(to_rank(other, GO), &[])?;
            finish(endpoint, request)?;
        } else {
            endpoint.receive(selector(Some(0), Some(GO)), &mut [])?;
            endpoint.receive(selector(Some(0), Some(TAG)), &mut room)?;
            expect_contents("a synchronous message", 3, &room)?;
        }
    }
    Ok(())
}

fn wait_until<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let Some(other) = partner(endpoint) else { return Ok(()) };
    let count = 30;
    let data: Vec<Vec<u8>> = (0..count).map(|one| contents(one as u64, 700 * one)).collect();
    let mut rooms: Vec<Vec<u8>> = (0..count).map(|one| vec![0; 700 * one]).collect();
    let mut requests = Vec::new();
    for (tag, room) in rooms.iter_mut().enumerate() {
        let wanted = selector(Some(other), Some(tag as u32));
        requests.push(endpoint.post_receive(wanted, writable(room))?);
    }
    for (tag, one) in data.iter().enumerate().rev() {
        let sent =
            endpoint.post_send(to_rank(other, tag as u32), readable(one), Completion::Local)?;
        requests.push(sent);
    }
    let mut requested = 0;
    endpoint.wait_until(&mut |endpoint| {
        requested += 1;
        requests.iter().all(|&one| endpoint.is_done(one))
    })?;
    ensure(requested > 0, || "nobody asked whether it was done".into())?;
    for request in requests {
        endpoint.end(request);
    }
    for (one, room) in rooms.iter().enumerate() {
        expect_contents("one of many messages", one as u64, room)?;
    }
    Ok(())
}

fn at_once<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let Some(other) = partner(endpoint) else { return Ok(()) };
    for bytes in [0_usize, 8, 100, 4000, 200_000] {
        let (data, mut room) = (contents(bytes as u64, bytes), vec![0; bytes]);
        for _ in 0..20 {
            if endpoint.rank() == 1 {
                endpoint.receive(selector(None, None), &mut room)?;
                expect_contents("a message sent at once, or not", bytes as u64, &room)?;
            } else if !endpoint.send_at_once(to_rank(other, TAG), readable(&data))? {
                endpoint.send(to_rank(other, TAG), &data)?;
            }
        }
    }
    meet(endpoint, other)
}

fn contexts<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    let Some(other) = partner(endpoint) else { return Ok(()) };
    let all = [0, 1];
    for context in all {
        endpoint.send(
            Destination { rank: other, context, tag: TAG },
            &contents(u64::from(context), 6),
        )?;
    }
    for context in all.into_iter().rev() {
        let mut room = [0; 6];
        let envelope =
            endpoint.receive(Selector { context, source: None, tag: None }, &mut room)?;
        expect("the context of a message", context, envelope.context)?;
        expect_contents("a message of a context", u64::from(context), &room)?;
    }
    Ok(())
}

fn leave<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    endpoint.long_waits().map_or(Ok(()), |waits| waits.leave())
}

/// All ranks but 0 leave, and rank 0 must see it: receives that can no longer match cannot complete, and earlier
/// messages still arrive. After rank 0 has left too, joint work continues: a message to each rank that left before.
fn left<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    if endpoint.rank() > 0 {
        endpoint.send(to_rank(0, TAG), &[endpoint.rank() as u8])?;
        leave(endpoint)?;
        let mut room = [0; 1];
        endpoint.receive(selector(Some(0), Some(TAG)), &mut room)?;
        return expect("what was sent after all had left", [0xed], room);
    }
    let mut never = [0; 1];
    let waits = endpoint.post_receive(selector(Some(1), Some(GO)), writable(&mut never))?;
    for rank in 1..endpoint.size() {
        let mut room = [0; 1];
        endpoint.receive(selector(Some(rank), Some(TAG)), &mut room)?;
        expect("what a rank sent before it left", [rank as u8], room)?;
    }
    let has_ended = |endpoint: &mut E| {
        let of_all = |one: &mut dyn LongWaits| {
            one.none_will_send(selector(None, None)) && one.cannot_complete(waits)
        };
        endpoint.long_waits().is_some_and(of_all)
    };
    while !has_ended(endpoint) {
        endpoint.progress(None)?;
    }
    let any_has_left = endpoint.long_waits().is_some_and(|one| one.any_has_left());
    ensure(any_has_left, || "all others have left, and nobody has".into())?;
    expect(
        "whether a receive that cannot complete is cancelled",
        true,
        endpoint.cancel_receive(waits),
    )?;
    leave(endpoint)?;
    for rank in 1..endpoint.size() {
        let waits = endpoint.long_waits();
        let is_gone = waits.is_some_and(|one| one.none_will_send(selector(Some(rank), None)));
        ensure(!is_gone, || {
            format!("rank {rank} takes part in what all do together, and is called gone")
        })?;
        endpoint.send(to_rank(rank, TAG), &[0xed])?;
    }
    Ok(())
}
