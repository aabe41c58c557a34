//! Probe: finds arrived messages without receiving them.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{contents, expect, expect_contents, expect_status};
use super::order::neighbours;
use contract::{Buffer, Rank, Result, Source, Status, Tag, TagSelector};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("probe/finds-a-message-and-leaves-it", ANY, finds_and_leaves),
        Case::new("probe/selects-as-a-receive-does", TWO_OR_MORE, selects),
        Case::new("probe/is-blind-for-collectives", TWO_OR_MORE, blind_for_collectives),
    ]
}

fn probe_until_found(machine: &mut dyn Rank, from: Source, tag: TagSelector) -> Result<Status> {
    loop {
        if let Some(status) = machine.probe(from, tag)? {
            return Ok(status);
        }
    }
}

/// A probe returns the length before a buffer exists for the message, for short messages and for long ones.
fn finds_and_leaves(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    for bytes in [0, 8, 1000, 3000, 100_000] {
        let tag = Tag::new(bytes as u32);
        let data = Buffer::from_bytes(&contents(bytes as u64, bytes));
        let send = machine.post_send(to, tag, data)?;
        for _ in 0..2 {
            let status = probe_until_found(machine, from.into(), tag.into())?;
            expect_status("what a probe found", (from, tag, bytes), status)?;
        }
        let mut buffer = vec![0; bytes];
        machine.receive(from.into(), tag.into(), &mut buffer)?;
        expect_contents("a message probed before", bytes as u64, &buffer)?;
        expect("a probe after the receive", None, machine.probe(from.into(), tag.into())?)?;
        machine.wait(send)?;
    }
    Ok(())
}

fn selects(machine: &mut dyn Rank) -> Result<()> {
    let (to, from) = neighbours(machine);
    let [first, second, absent] = [1, 2, 3].map(Tag::new);
    machine.send(to, first, &[1])?;
    machine.send(to, second, &[1, 2])?;
    // The second has arrived, so the first has too.
    probe_until_found(machine, from.into(), second.into())?;
    let any = machine.probe(Source::Any, TagSelector::Any)?;
    let expected = Status { source: from, tag: first, bytes: 1 };
    expect("the first message for any", Some(expected), any)?;
    expect("a tag that nobody sent", None, machine.probe(Source::Any, absent.into())?)?;
    let nobody = machine.rank();
    expect("a rank that sent nothing", None, machine.probe(nobody.into(), TagSelector::Any)?)?;
    machine.receive(from.into(), second.into(), &mut [0; 2])?;
    machine.receive(from.into(), first.into(), &mut [0; 1])?;
    Ok(())
}

/// All others are already in the barrier when rank 0 probes.
fn blind_for_collectives(machine: &mut dyn Rank) -> Result<()> {
    let go = Tag::new(1);
    if machine.rank() == 0 {
        for _ in 1..machine.size() {
            machine.receive(Source::Any, go.into(), &mut [])?;
        }
        for _ in 0..500 {
            expect("a probe in vain", None, machine.probe(Source::Any, TagSelector::Any)?)?;
        }
    } else {
        machine.send(0, go, &[])?;
    }
    machine.barrier()
}
