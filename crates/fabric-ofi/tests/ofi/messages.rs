//! Tests messages in situations that are particular to libfabric: more receives than a provider accepts, long messages
//! whose data wait, and probes between receives.

use contract::{
    Completion, Destination, Endpoint, Error, Readable, Request, Result, Selector, Writable,
};
use fabric_ofi::OfiEndpoint;

use crate::harness::{Test, check, launch_and_gather};
use crate::job::options;

const CASES: [(&str, usize); 5] = [
    ("more-receives-than-the-provider-takes", 2),
    ("many-long-sends-before-their-receives", 2),
    ("probes-keep-the-order", 2),
    ("receives-that-are-too-short-hold-the-beginning", 2),
    ("a-rank-alone-talks-to-itself", 1),
];
/// Number of receives, more than any of the tested providers accepts.
const MANY: u32 = 2500;
/// Length in bytes of a message that is divided.
const LONG_BYTES: usize = 40_000;

fn to_rank(rank: usize, tag: u32) -> Destination {
    Destination { rank, context: 0, tag }
}

pub(crate) fn tests(provider: &'static str) -> Vec<Test> {
    let tests = CASES.map(|(name, ranks)| {
        Test::new(format!("{provider}/messages/{name}"), move || {
            let case = format!("messages {name}");
            let (ended, _) = launch_and_gather(&options(ranks, provider, &case));
            if ranks > 1 {
                return ended.map_err(|error| error.to_string());
            }
            let said = ended.err().map(|error| error.to_string()).unwrap_or_default();
            let why = "deadlock: rank 0 waits for a message of its own";
            check(said.contains(why), || format!("it said {said:?}"))
        })
    });
    tests.into()
}

pub(crate) fn program(endpoint: &mut OfiEndpoint, name: &str) -> Result<()> {
    match name {
        "more-receives-than-the-provider-takes" => many_receives(endpoint),
        "many-long-sends-before-their-receives" => many_long(endpoint),
        "probes-keep-the-order" => probes(endpoint),
        "receives-that-are-too-short-hold-the-beginning" => {
            [false, true].into_iter().try_for_each(|is_probed| too_short(endpoint, is_probed))
        }
        "a-rank-alone-talks-to-itself" => alone(endpoint),
        _ => Err(Error::Program(format!("no case {name}"))),
    }
}

fn from(source: u32, tag: Option<u32>) -> Selector {
    Selector { context: 0, source: Some(source), tag }
}

/// Lends memory of a case. Each case waits for all operations that it has started.
fn readable(data: &[u8]) -> Readable {
    // SAFETY: the memory outlives the operations, as stated above.
    unsafe { Readable::new(data.as_ptr(), data.len()) }
}

fn writable(room: &mut [u8]) -> Writable {
    // SAFETY: as in `readable`.
    unsafe { Writable::new(room.as_mut_ptr(), room.len()) }
}

fn finish(endpoint: &mut OfiEndpoint, request: Request) -> Result<()> {
    endpoint.wait_any(&[request])?;
    endpoint.end(request);
    Ok(())
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Program(what())) }
}

/// Tests many receives. Rank 0 posts a receive for each tag from 0 up. Rank 1 sends them from the last down, so the
/// first messages are for receives for which the provider has no room.
fn many_receives(endpoint: &mut OfiEndpoint) -> Result<()> {
    if endpoint.rank() == 1 {
        endpoint.receive(from(0, Some(MANY)), &mut [])?;
        return (0..MANY)
            .rev()
            .try_for_each(|tag| endpoint.send(to_rank(0, tag), &tag.to_le_bytes()));
    }
    let mut rooms = vec![[0_u8; 4]; MANY as usize];
    let mut requests = Vec::new();
    for (tag, room) in rooms.iter_mut().enumerate() {
        requests.push(endpoint.post_receive(from(1, Some(tag as u32)), writable(room))?);
    }
    endpoint.send(to_rank(1, MANY), &[])?;
    for request in requests.into_iter().rev() {
        finish(endpoint, request)?;
    }
    let right = (0..MANY).zip(&rooms).all(|(tag, room)| *room == tag.to_le_bytes());
    ensure(right, || "a receive has another's message".into())
}

/// Tests many long messages. Rank 1 starts many long sends, and then sends an empty message that rank 0 receives before
/// them all.
fn many_long(endpoint: &mut OfiEndpoint) -> Result<()> {
    const LONG: u32 = 200;
    if endpoint.rank() == 1 {
        let data: Vec<Vec<u8>> = (0..LONG).map(|tag| vec![tag as u8; LONG_BYTES]).collect();
        let mut requests = Vec::new();
        for (tag, data) in (0..LONG).zip(&data) {
            let sent = endpoint.post_send(to_rank(0, tag), readable(data), Completion::Local)?;
            requests.push(sent);
        }
        endpoint.send(to_rank(0, LONG), &[])?;
        return requests.into_iter().try_for_each(|request| finish(endpoint, request));
    }
    endpoint.receive(from(1, Some(LONG)), &mut [])?;
    let mut room = vec![0; LONG_BYTES];
    for tag in (0..LONG).rev() {
        let envelope = endpoint.receive(from(1, Some(tag)), &mut room)?;
        let right = envelope.bytes == LONG_BYTES && room.iter().all(|&byte| byte == tag as u8);
        ensure(right, || format!("message {tag} has come as {envelope:?}"))?;
    }
    Ok(())
}

/// Tests probes between receives. Rank 1 sends tags 1, 2, 1, 2, and so on. Rank 0 waits until a probe finds tag 2, and
/// then receives any tag in order, with probes in between.
fn probes(endpoint: &mut OfiEndpoint) -> Result<()> {
    const ALL: u8 = 20;
    if endpoint.rank() == 1 {
        return (0..ALL).try_for_each(|number| {
            let bytes = if number % 5 == 4 { LONG_BYTES } else { 3 };
            endpoint.send(to_rank(0, 1 + u32::from(number % 2)), &vec![number; bytes])
        });
    }
    while endpoint.probe(from(1, Some(2)), None)?.is_none() {}
    let mut room = vec![0; LONG_BYTES];
    for number in 0..ALL {
        let envelope = endpoint.receive(from(1, None), &mut room)?;
        let right = envelope.tag == 1 + u32::from(number % 2) && room[0] == number;
        ensure(right, || format!("instead of message {number} came {envelope:?} ({})", room[0]))?;
        if number % 3 == 0 && number + 1 < ALL {
            while endpoint.probe(from(1, None), None)?.is_none() {}
        }
    }
    Ok(())
}

/// Tests buffers that are too short. Rank 1 sends messages of several lengths to receives of several lengths, which
/// rank 0 has posted before or posts after a probe has found the last message. Each receive reports the length of its
/// message, and writes nothing beyond its buffer.
fn too_short(endpoint: &mut OfiEndpoint, is_probed: bool) -> Result<()> {
    const LENGTHS: [usize; 4] = [100, 4096, 4097, LONG_BYTES];
    const ROOMS: [usize; 4] = [0, 10, 4095, 4096];
    const UNTOUCHED: u8 = 255;
    const BEGIN: u32 = 99;
    let pairs = || LENGTHS.into_iter().flat_map(|bytes| ROOMS.map(|room| (bytes, room)));
    let content = |tag: usize, bytes| vec![tag as u8; bytes];
    let mut requests = Vec::new();
    if endpoint.rank() == 1 {
        endpoint.receive(from(0, Some(BEGIN)), &mut [])?;
        let data: Vec<_> = pairs().enumerate().map(|(tag, one)| content(tag, one.0)).collect();
        for (tag, data) in (0..).zip(&data) {
            requests.push(endpoint.post_send(
                to_rank(0, tag),
                readable(data),
                Completion::Local,
            )?);
        }
        return requests.into_iter().try_for_each(|request| finish(endpoint, request));
    }
    if is_probed {
        endpoint.send(to_rank(1, BEGIN), &[])?;
        let last = pairs().count() as u32 - 1;
        while endpoint.probe(from(1, Some(last)), None)?.is_none() {}
    }
    let mut rooms: Vec<Vec<u8>> = pairs().map(|(_, room)| vec![UNTOUCHED; room + 1]).collect();
    for (tag, ((_, room), memory)) in (0..).zip(pairs().zip(&mut rooms)) {
        let request = endpoint.post_receive(from(1, Some(tag)), writable(&mut memory[..room]))?;
        requests.push(request);
    }
    if !is_probed {
        endpoint.send(to_rank(1, BEGIN), &[])?;
    }
    for (tag, ((bytes, room), request)) in pairs().zip(requests).enumerate() {
        endpoint.wait_any(&[request])?;
        let envelope = endpoint.end(request);
        let kept = bytes.min(room);
        let expected = [content(tag, kept), vec![UNTOUCHED; room + 1 - kept]].concat();
        let right = (envelope.bytes, envelope.room) == (bytes, room) && rooms[tag] == expected;
        ensure(right, || format!("{bytes} bytes for {room} have come as {envelope:?}"))?;
    }
    Ok(())
}

/// Tests messages of a rank to itself. The send does not wait, at any length. A receive without a message is a
/// deadlock.
fn alone(endpoint: &mut OfiEndpoint) -> Result<()> {
    for bytes in [0, 100, LONG_BYTES] {
        let (data, mut room) = (vec![7; bytes], vec![0; bytes]);
        endpoint.send(to_rank(0, 5), &data)?;
        ensure(endpoint.receive(from(0, Some(5)), &mut room)?.bytes == bytes, || "length".into())?;
        ensure(room == data, || format!("another message of {bytes} bytes"))?;
    }
    // This error ends the run for this rank, and the launcher reports it.
    endpoint.receive(from(0, Some(6)), &mut []).map(drop)
}
