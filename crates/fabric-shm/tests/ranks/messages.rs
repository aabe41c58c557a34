//! Properties of this fabric beyond the conformance suite of the contract.

use contract::{Buffer, Error, Progress, Rank, Result, Source, Tag, TagSelector};
use fabric_shm::launch_options;

use crate::harness::{Test, check, launch_and_gather};

const TAG: Tag = Tag::new(5);

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match name {
        "deep" => deep_queue(rank),
        "lengths" => every_length_around_a_threshold(rank),
        "self" => lonely_send(rank),
        "dropped" => dropped_send(rank),
        "plain" => plain_memory(rank),
        other => Err(Error::Program(format!("no case {other}"))),
    }
}

pub(crate) fn tests() -> Vec<Test> {
    let test = |name: &'static str, ranks: usize, case: &'static str| {
        Test::new(format!("messages/{name}"), move || {
            [true, false].into_iter().try_for_each(|attach| {
                let mut options = launch_options(ranks, format!("messages {case}").into());
                options.cross_memory_attach = attach;
                launch_and_gather(&options).0.map_err(|error| format!("attach {attach}: {error}"))
            })
        })
    };
    vec![
        test("a-deep-queue-of-unexpected-messages-loses-nothing", 3, "deep"),
        test("every-length-around-a-threshold-arrives", 2, "lengths"),
        Test::new("messages/a-long-send-to-itself-without-a-receive-is-refused", || {
            let (ended, _) = launch_and_gather(&launch_options(1, b"messages self".to_vec()));
            let refused =
                ended.as_ref().is_err_and(|error| error.to_string().contains("posted no receive"));
            check(refused, || format!("{ended:?}"))
        }),
        test("memory-outside-the-arenas-arrives-from-its-own-processor", 2, "plain"),
        test("memory-outside-the-arenas-arrives-on-shared-processors", 3, "plain"),
        test("a-send-whose-handle-was-dropped-arrives", 2, "dropped"),
    ]
}

fn wrong(what: String) -> Result<()> {
    Err(Error::Program(what))
}

/// Returns zeros from the system's allocator, which no other rank maps. Never freed, because a test ends soon.
fn system_memory(bytes: usize) -> &'static mut [u8] {
    let layout = std::alloc::Layout::from_size_align(bytes, 64).expect("a small alignment");
    // SAFETY: the layout is not empty, the memory is zero and nobody else's.
    unsafe {
        let memory = std::alloc::GlobalAlloc::alloc_zeroed(&std::alloc::System, layout);
        assert!(!memory.is_null());
        std::slice::from_raw_parts_mut(memory, bytes)
    }
}

/// Sends long messages around a ring from and into every kind of memory: attached, helped, or in fragments.
fn plain_memory(rank: &mut dyn Rank) -> Result<()> {
    let (me, size) = (rank.rank(), rank.size());
    let (next, before) = ((me + 1) % size, (me + size - 1) % size);
    for bytes in [70_000, (1 << 20) + 3, 5 << 20] {
        let pattern = |rank: usize, at: usize| (at * 31 + (at >> 9) + rank) as u8;
        for kinds in 0..4 {
            let (mut paged_out, mut paged_in) = (Buffer::zeroed(bytes), Buffer::zeroed(bytes));
            let send = if kinds & 1 == 0 { system_memory(bytes) } else { &mut paged_out[..] };
            let room = if kinds & 2 == 0 { system_memory(bytes) } else { &mut paged_in[..] };
            send.iter_mut().enumerate().for_each(|(at, byte)| *byte = pattern(me, at));
            rank.send_receive((next, TAG, send), (Source::Rank(before), TAG.into(), room))?;
            if let Some(at) = (0..bytes).find(|&at| room[at] != pattern(before, at)) {
                return wrong(format!("kinds {kinds}: byte {at} of {bytes} is {}", room[at]));
            }
        }
    }
    Ok(())
}

/// Rank 0 receives the last of many thousand messages first, then the others in order.
fn deep_queue(rank: &mut dyn Rank) -> Result<()> {
    const MESSAGES: u32 = 20_000;
    if rank.rank() != 0 {
        for number in 0..MESSAGES {
            let data = vec![number as u8; (number % 700) as usize];
            rank.send(0, Tag::new(number), &data)?;
        }
        return Ok(());
    }
    let mut room = [0; 700];
    for source in 1..rank.size() {
        let last = Tag::new(MESSAGES - 1);
        rank.receive(Source::Rank(source), last.into(), &mut room)?;
        for number in 0..MESSAGES - 1 {
            let status = rank.receive(Source::Rank(source), TagSelector::Any, &mut room)?;
            let right = status.tag.value() == number
                && status.bytes == (number % 700) as usize
                && room[..status.bytes].iter().all(|&byte| byte == number as u8);
            if !right {
                return wrong(format!("message {number} came as {status:?}"));
            }
        }
    }
    Ok(())
}

fn every_length_around_a_threshold(rank: &mut dyn Rank) -> Result<()> {
    let around = [0, 48, 64, 1024, 4096, 8192, 16384, 65536, 131_072, 262_144, 1 << 20, 3 << 20];
    for length in around.into_iter().flat_map(|at: usize| at.saturating_sub(3)..at + 4) {
        let pattern = |at: usize| (at.wrapping_mul(2_654_435_761) >> 7) as u8 ^ length as u8;
        if rank.rank() == 0 {
            let data: Vec<u8> = (0..length).map(pattern).collect();
            rank.send(1, TAG, &data)?;
            let data = Buffer::from_bytes(&data);
            rank.send(1, TAG, &data)?;
            let posted = rank.post_send(1, TAG, data)?;
            rank.wait(posted)?;
        } else {
            let mut plain = vec![0xff; length + 2];
            let mut paged = Buffer::zeroed(length + 2);
            rank.receive(Source::Any, TAG.into(), &mut plain)?;
            rank.receive(Source::Rank(0), TAG.into(), &mut paged)?;
            let posted =
                rank.post_receive(Source::Rank(0), TAG.into(), Buffer::zeroed(length + 1))?;
            let third = rank.wait(posted)?.buffer;
            for (name, room) in [("plain", &plain[..]), ("paged", &paged), ("posted", &third)] {
                let bad = (0..length).find(|&at| room[at] != pattern(at));
                if let Some(at) = bad {
                    return wrong(format!("{name}: byte {at} of {length} is {}", room[at]));
                }
            }
            if plain[length..] != [0xff, 0xff] || paged[length..] != [0, 0] {
                return wrong(format!("written beyond {length}"));
            }
        }
    }
    Ok(())
}

fn lonely_send(rank: &mut dyn Rank) -> Result<()> {
    rank.send(0, TAG, &vec![0; 10 << 20])
}

fn dropped_send(rank: &mut dyn Rank) -> Result<()> {
    const BYTES: usize = 5 << 20;
    if rank.rank() == 0 {
        let posted = rank.post_send(1, TAG, Buffer::from_bytes(&vec![9; BYTES]))?;
        let Progress::Pending(posted) = rank.test(posted)? else { return Ok(()) };
        drop(posted);
        return Ok(());
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    let mut room = vec![0; BYTES];
    rank.receive(Source::Rank(0), TAG.into(), &mut room)?;
    if room.iter().all(|&byte| byte == 9) { Ok(()) } else { wrong("wrong bytes".into()) }
}
