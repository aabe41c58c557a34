//! Wildcards: any source, any tag, both; and never a message of a collective.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{contents, ensure, expect, expect_contents, expect_status, mix};
use super::order::neighbours;
use contract::{Buffer, Rank, Reduction, Result, Source, Tag, TagSelector};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("wildcards/any-source-takes-each-message-once", TWO_OR_MORE, any_source),
        Case::new("wildcards/any-source-with-a-tag", TWO_OR_MORE, any_source_with_tag),
        Case::new("wildcards/any-tag-from-one-rank", TWO_OR_MORE, any_tag),
        Case::new("wildcards/the-receive-posted-first-matches-first", TWO_OR_MORE, first_posted),
        Case::new("wildcards/never-take-a-collectives-message", TWO_OR_MORE, against_collectives),
        Case::new("wildcards/collectives-pass-waiting-messages", TWO_OR_MORE, collectives_pass),
        Case::new("wildcards/reserved-tags-have-their-own", ANY, reserved),
    ]
}

const EACH: u64 = 20;

/// All ranks send to rank 0 with the serial number as tag. The messages of each sender must arrive in order.
fn any_source(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    if rank > 0 {
        for serial in 0..EACH {
            let key = mix(&[rank as u64, serial]);
            machine.send(0, Tag::new(serial as u32), &contents(key, 30))?;
        }
        return Ok(());
    }
    let mut next = vec![0; size];
    for _ in 0..EACH * (size as u64 - 1) {
        let mut buffer = [0; 30];
        let status = machine.receive(Source::Any, TagSelector::Any, &mut buffer)?;
        let from = status.source;
        ensure((1..size).contains(&from), || format!("a message from rank {from}"))?;
        let serial = next[from];
        next[from] += 1;
        expect_status("the next message", (from, Tag::new(serial as u32), 30), status)?;
        expect_contents("a message from any rank", mix(&[from as u64, serial]), &buffer)?;
    }
    Ok(())
}

/// Messages with two tags wait at once. Those with the second are received first, from any rank.
fn any_source_with_tag(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let (first, second) = (Tag::new(1), Tag::new(2));
    if rank > 0 {
        machine.send(0, first, &[rank as u8])?;
        return machine.send(0, second, &[rank as u8, 2]);
    }
    for (tag, bytes) in [(second, 2), (first, 1)] {
        let mut seen = vec![false; size];
        for _ in 1..size {
            let mut buffer = [0; 2];
            let status = machine.receive(Source::Any, tag.into(), &mut buffer)?;
            let from = status.source;
            expect_status("a message with a given tag", (from, tag, bytes), status)?;
            expect("its contents", from as u8, buffer[0])?;
            ensure(!seen[from], || format!("two messages with {tag} from rank {from}"))?;
            seen[from] = true;
        }
    }
    Ok(())
}

fn any_tag(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let tags = [5, 3, 0, Tag::MAX, 4].map(Tag::new);
    for tag in tags {
        machine.send(to, tag, &tag.value().to_le_bytes())?;
    }
    for tag in tags {
        let mut buffer = [0; 4];
        let status = machine.receive(from.into(), TagSelector::Any, &mut buffer)?;
        expect_status("the next message of one rank", (from, tag, 4), status)?;
        expect("its contents", tag.value(), u32::from_le_bytes(buffer))?;
    }
    Ok(())
}

/// A wildcard posted before a given tag must get the message. If the given tag was posted first, other messages must
/// pass to the wildcard.
fn first_posted(machine: &mut dyn Rank) -> Result<()> {
    let (receiver, sender) = (0, machine.size() - 1);
    let [go, a, b] = [1, 2, 3].map(Tag::new);
    if machine.rank() == sender {
        for tags in [[a, a], [b, a]] {
            machine.receive(receiver.into(), go.into(), &mut [])?;
            machine.send(receiver, tags[0], &[1])?;
            machine.send(receiver, tags[1], &[2])?;
        }
    } else if machine.rank() == receiver {
        let any = TagSelector::Any;
        for (selectors, contents, tags) in
            [([any, a.into()], [1, 2], [a, a]), ([a.into(), any], [2, 1], [a, b])]
        {
            let mut posted = Vec::new();
            for selector in selectors {
                posted.push(machine.post_receive(Source::Any, selector, Buffer::zeroed(1))?);
            }
            machine.send(sender, go, &[])?;
            for (index, posted) in posted.into_iter().enumerate() {
                let completed = machine.wait(posted)?;
                let what = format!("receive {index}, posted for {}", selectors[index]);
                expect_status(&what, (sender, tags[index], 1), completed.status)?;
                expect(&what, contents[index], completed.buffer[0])?;
            }
        }
    }
    Ok(())
}

/// Rank 0 waits with a wildcard for any rank while all ranks call collectives.
fn against_collectives(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let anything = if rank == 0 {
        let room = Buffer::zeroed(100_000);
        Some(machine.post_receive(Source::Any, TagSelector::Any, room)?)
    } else {
        None
    };
    collectives(machine)?;
    if rank == size - 1 {
        machine.send(0, Tag::new(77), &[7; 77])?;
    }
    if let Some(anything) = anything {
        let completed = machine.wait(anything)?;
        expect_status("the user's message", (size - 1, Tag::new(77), 77), completed.status)?;
    }
    Ok(())
}

fn collectives(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    machine.barrier()?;
    for bytes in [8, if size <= 16 { 40_000 } else { 800 }] {
        let own = contents(rank as u64, bytes);
        let mut sum = vec![0; bytes];
        machine.allreduce(
            Reduction::new(contract::Element::U64, contract::Operation::Sum),
            &own,
            &mut sum,
        )?;
        let mut all = vec![0; size * bytes];
        machine.allgather(&own, &mut all)?;
        for (from, block) in all.chunks(bytes).enumerate() {
            expect_contents("a block of an allgather", from as u64, block)?;
        }
        let mut data = own;
        machine.broadcast(size - 1, &mut data)?;
        expect_contents("a broadcast", size as u64 - 1, &data)?;
    }
    machine.barrier()
}

/// Messages with the extreme tags remain unreceived during collectives.
fn collectives_pass(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for tag in [0, Tag::MAX] {
        machine.send(to, Tag::new(tag), &contents(u64::from(tag), 8))?;
    }
    collectives(machine)?;
    for tag in [0, Tag::MAX] {
        let mut buffer = [0; 8];
        let status = machine.receive(from.into(), TagSelector::Any, &mut buffer)?;
        expect_status("a message that lay there", (from, Tag::new(tag), 8), status)?;
        expect_contents("a message that lay there", u64::from(tag), &buffer)?;
    }
    Ok(())
}

/// The basis of collectives: a reserved tag can be received by itself, or by the wildcard for reserved tags.
fn reserved(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let reserved = |value: u32| Tag::from_wire(value | (Tag::MAX + 1));
    let tags = [reserved(0), Tag::new(0), reserved((1 << 20) - 1), reserved(1)];
    for (index, tag) in tags.into_iter().enumerate() {
        machine.send(to, tag, &[index as u8])?;
    }
    let any = TagSelector::AnyReserved;
    let last = TagSelector::Is(tags[3]);
    for (selector, index) in [(any, 0), (last, 3), (any, 2), (TagSelector::Any, 1)] {
        let mut buffer = [0];
        let status = machine.receive(from.into(), selector, &mut buffer)?;
        expect_status(&format!("a message for {selector}"), (from, tags[index], 1), status)?;
        expect("its contents", index as u8, buffer[0])?;
    }
    Ok(())
}
