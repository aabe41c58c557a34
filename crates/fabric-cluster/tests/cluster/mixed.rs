//! Cases that involve both fabrics: receives from any rank while both bring messages, and waits on one side that need
//! the other to make progress.

use contract::{Buffer, Error, Rank, Result, Source, Tag, TagSelector};

use crate::harness::Test;
use crate::job::start_and_gather;

const TAG: Tag = Tag::new(5);
const OTHER: Tag = Tag::new(6);
const LONG_BYTES: usize = 3 << 20;

pub(crate) fn tests(group: &str, provider: Option<&'static str>) -> Vec<Test> {
    [("any-rank-in-any-order", 9), ("a-wait-in-a-host-serves-the-other-hosts", 6)]
        .map(|(name, ranks)| {
            Test::new(format!("{group}mixed/{name}"), move || {
                let (ended, _) = start_and_gather(provider, ranks, &format!("mixed {name}"));
                ended.map_err(|error| error.to_string())
            })
        })
        .into()
}

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match name {
        "any-rank-in-any-order" => any_rank(rank),
        "a-wait-in-a-host-serves-the-other-hosts" => serves(rank),
        _ => Err(Error::Program(format!("no case {name}"))),
    }
}

/// Every other rank sends rank 0 its numbered messages, of short and long lengths by a seed. Rank 0 receives all from
/// any rank, with several receives posted: it gets each once, and those of a rank in order.
fn any_rank(rank: &mut dyn Rank) -> Result<()> {
    const EACH: u32 = 200;
    const POSTED: usize = 7;
    let size = rank.size();
    if rank.rank() != 0 {
        let mut state = rank.rank() as u64;
        for number in 0..EACH {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bytes = [8, 100, 5000, 300_000][(state >> 33) as usize % 4];
            let mut data = vec![number as u8; bytes];
            data[..4].copy_from_slice(&number.to_le_bytes());
            rank.send(0, TAG, &data)?;
        }
        return Ok(());
    }
    let mut next = vec![0; size];
    let mut posted = Vec::new();
    let all = (size - 1) * EACH as usize;
    for received in 0..all {
        while posted.len() < POSTED && received + posted.len() < all {
            posted.push(rank.post_receive(Source::Any, TAG.into(), Buffer::zeroed(300_000))?);
        }
        let done = rank.wait(posted.remove(0))?;
        let number = u32::from_le_bytes(done.buffer[..4].try_into().expect("four bytes"));
        let source = done.status.source;
        let right = number == next[source]
            && done.buffer[4] == if done.status.bytes > 4 { number as u8 } else { 0 };
        if !right {
            let why = format!("message {number} of rank {source}, not {}", next[source]);
            return Err(Error::Program(why));
        }
        next[source] += 1;
    }
    match next[1..].iter().all(|&count| count == EACH) {
        true => Ok(()),
        false => Err(Error::Program(format!("{next:?}"))),
    }
}

/// Rank 1 has begun to send a long message to rank 0 on another host, and waits in its own host for rank 2. Rank 2
/// sends only after rank 0 has confirmed the message to it. That requires rank 1 to continue sending while it waits.
fn serves(rank: &mut dyn Rank) -> Result<()> {
    let mut room = [0; 1];
    match rank.rank() {
        0 => {
            let mut long = vec![0; LONG_BYTES];
            rank.receive(Source::Rank(1), TAG.into(), &mut long)?;
            rank.send(2, TAG, &[1])
        }
        1 => {
            let send = rank.post_send(0, TAG, Buffer::zeroed(LONG_BYTES))?;
            rank.receive(Source::Rank(2), OTHER.into(), &mut room)?;
            rank.wait(send).map(drop)
        }
        2 => {
            rank.receive(Source::Any, TagSelector::Is(TAG), &mut room)?;
            rank.send(1, OTHER, &[2])
        }
        _ => Ok(()),
    }
}
