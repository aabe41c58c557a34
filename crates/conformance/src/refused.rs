//! Calls that must be refused at once, without harm.

use super::case::{ANY, Case};
use super::check::{expect, expect_error};
use contract::{Buffer, Error, Posted, Rank, Reduction, Result, Source, Tag, TagSelector};

const TAG: Tag = Tag::new(1);

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("refused/ranks-beyond-the-last", ANY, invalid_ranks),
        Case::new("refused/roots-beyond-the-last", ANY, invalid_roots),
        Case::new("refused/tags-beyond-the-largest", ANY, invalid_tags),
        Case::new("refused/a-handle-used-twice", ANY, handle_used_twice),
        Case::new("refused/lengths-that-contradict-each-other", ANY, unequal_counts),
    ]
}

fn is_invalid_rank(error: &Error) -> bool {
    matches!(error, Error::InvalidRank { .. })
}

fn is_unequal(error: &Error) -> bool {
    matches!(error, Error::UnequalCounts { .. })
}

fn invalid_ranks(machine: &mut dyn Rank) -> Result<()> {
    let size = machine.size();
    for rank in [size, size + 1, usize::MAX] {
        let from = Source::Rank(rank);
        let any = TagSelector::Any;
        let right = is_invalid_rank;
        expect_error("send", machine.send(rank, TAG, &[1]), right)?;
        expect_error("receive", machine.receive(from, any, &mut []), right)?;
        expect_error("post_send", machine.post_send(rank, TAG, Buffer::zeroed(1)), right)?;
        expect_error("post_receive", machine.post_receive(from, any, Buffer::zeroed(1)), right)?;
        expect_error("probe", machine.probe(from, any), right)?;
        expect_error("send_window", machine.send_window(rank, TAG, &[1], 2), right)?;
        expect_error("receive_window", machine.receive_window(from, any, &mut [], 2), right)?;
        let own = Source::Rank(machine.rank());
        let to_nobody = machine.send_receive((rank, TAG, &[1]), (own, any, &mut []));
        expect_error("send_receive to", to_nobody, right)?;
    }
    // The refused calls must have no effect on later ones.
    check_usable(machine)
}

fn check_usable(machine: &mut dyn Rank) -> Result<()> {
    let rank = machine.rank();
    let mut buffer = [0];
    machine.send_receive((rank, TAG, &[7]), (Source::Any, TagSelector::Any, &mut buffer))?;
    expect("a message after refused ones", [7], buffer)?;
    machine.barrier()
}

fn invalid_roots(machine: &mut dyn Rank) -> Result<()> {
    let (root, sum, right) = (machine.size(), Reduction::SUM_F64, is_invalid_rank);
    expect_error("broadcast", machine.broadcast(root, &mut [0; 8]), right)?;
    expect_error("scatter", machine.scatter(root, &[], &mut [0; 8]), right)?;
    expect_error("gather", machine.gather(root, &[0; 8], &mut []), right)?;
    expect_error("reduce", machine.reduce(root, sum, &[0; 8], &mut []), right)?;
    check_usable(machine)
}

fn invalid_tags(_machine: &mut dyn Rank) -> Result<()> {
    for tag in [Tag::MAX + 1, u32::MAX] {
        expect("a tag beyond the largest", Err(Error::InvalidTag { tag }), Tag::checked(tag))?;
    }
    expect("the largest tag", Ok(Tag::new(Tag::MAX)), Tag::checked(Tag::MAX))
}

fn handle_used_twice(machine: &mut dyn Rank) -> Result<()> {
    let rank = machine.rank();
    let receive = machine.post_receive(rank.into(), TAG.into(), Buffer::zeroed(4))?;
    let send = machine.post_send(rank, TAG, Buffer::zeroed(4))?;
    let numbers = [receive.number(), send.number()];
    machine.wait(receive)?;
    machine.wait(send)?;
    let is_unknown = |error: &Error| matches!(error, Error::UnknownRequest);
    for number in numbers {
        expect_error("wait", machine.wait(Posted::new(number)), is_unknown)?;
        expect_error("test", machine.test(Posted::new(number)), is_unknown)?;
    }
    let never_posted = Posted::new(u64::MAX - 1);
    expect_error("a handle out of the blue", machine.wait(never_posted), is_unknown)?;
    check_usable(machine)
}

/// Every rank makes the same mistakes, one after the other. Each is refused before a message is sent, so that the ranks
/// remain in step.
fn unequal_counts(machine: &mut dyn Rank) -> Result<()> {
    let (size, root, sum, right) = (machine.size(), machine.rank(), Reduction::SUM_F64, is_unequal);
    let blocks = vec![0; 8 * size];
    let mut room = vec![0; 8 * size + 1];
    let scatter = machine.scatter(root, &blocks, &mut room[..9]);
    expect_error("scatter of blocks of 8 into 9", scatter, right)?;
    let gather = machine.gather(root, &blocks[..8], &mut room);
    expect_error("gather with a byte too much", gather, right)?;
    let allgather = machine.allgather(&blocks[..8], &mut room);
    expect_error("allgather with a byte too much", allgather, right)?;
    let all_to_all = machine.all_to_all(&blocks, &mut room);
    expect_error("all_to_all with a byte too much", all_to_all, right)?;
    let reduce = machine.reduce(root, sum, &blocks, &mut room);
    expect_error("reduce with a byte too much", reduce, right)?;
    let allreduce = machine.allreduce(sum, &blocks, &mut room);
    expect_error("allreduce with a byte too much", allreduce, right)?;
    let broken = machine.allreduce(sum, &blocks[..7], &mut room[..7]);
    expect_error("allreduce of 7 bytes of 8-byte numbers", broken, right)?;
    if size > 1 {
        let in_place = machine.allgather_in_place(&mut room);
        expect_error("allgather_in_place of broken blocks", in_place, right)?;
        let broken = machine.all_to_all(&blocks[1..], &mut room[2..]);
        expect_error("all_to_all of broken blocks", broken, right)?;
    }
    check_usable(machine)
}
