//! Many senders, one receiver.

use std::mem::take;

use analysis::limits::{BoundRule, Traffic};
use contract::{Buffer, Rank, Result, Source};

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::contents::check_block;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE, ITS_TAG, TAG};
use crate::ranks::RankRule;

pub(in crate::programs) const INCAST: Benchmark = Benchmark {
    name: "incast",
    group: Group::Congestion,
    summary: "1, 2, 4 ... ranks send to rank 0 at once",
    explains: "Rank 0 has posted its receives when ranks 1 to k start together, and each sends it a message. \
        The time is that of the slowest rank; the rate is the total, k size / time. If the rate falls with k, the \
        network does not handle more senders well than its last link can serve.",
    source: paper::GPCNET.part("incast"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    headlines: &[Headline {
        words: "fastest incast, all senders",
        metric: "rate",
        size_bytes: None,
    }],
    cases,
    measure,
    program: Program {
        blocks: |shape| Blocks { send: usize::from(shape.me > 0), ..Blocks::NONE },
        received: Received::Nothing,
        moved: |_| 0,
        ..COLLECTIVE
    },
    repeatable: false,
    ..BENCHMARK
};

const SENDERS: &str = "senders";

fn cases(scope: &Scope) -> Vec<Case> {
    let of = |senders: usize| {
        let senders = senders as u64;
        let named =
            move |case| Case { parameters: [(SENDERS.into(), senders.into())].into(), ..case };
        sized(scope, &[1 << 10, 128 << 10]).into_iter().map(named)
    };
    senders(scope.ranks).into_iter().flat_map(of).collect()
}

/// Returns the numbers of senders of `ranks` ranks: powers of two, and all.
fn senders(ranks: usize) -> Vec<usize> {
    let last = ranks - 1;
    let powers = (0..usize::BITS).map(|power| 1 << power).take_while(|&count| count < last);
    powers.chain([last]).collect()
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let (program, senders) = (bench.definition.program, bench.number(SENDERS)?);
    let (size, me, seed) = (bench.shape.size, bench.shape.me, bench.settings.seed);
    let room = |_| Buffer::try_zeroed(if me == 0 { size } else { 0 });
    let mut rooms: Vec<Buffer> = (0..senders).map(room).collect::<Result<_>>()?;
    let outcome = bench.sampled_as(program, |rank, data| match me {
        0 => receive_all(rank, &mut rooms),
        _ if me <= senders => rank.send(0, TAG, &data.send),
        _ => Ok(()),
    })?;
    for (found, from) in rooms.iter().zip(1..).filter(|_| me == 0) {
        check_block(found, seed, (from, 0), "a block", me)?;
    }
    let Some(outcome) = outcome else { return Ok(()) };
    let subject = bench.subject(Default::default());
    let time = subject.time(1, &outcome)?;
    let bytes = (senders * size) as f64;
    let rate = subject.derived(&time, "rate", "MB/s", |us| bytes / us)?;
    bench.emit(crate::event::Event::Measured(vec![time, rate]))
}

fn receive_all(rank: &mut dyn Rank, rooms: &mut [Buffer]) -> Result<()> {
    let mut posted = Vec::with_capacity(rooms.len());
    for (room, from) in rooms.iter_mut().zip(1..) {
        let buffer = std::mem::replace(room, Buffer::zeroed(0));
        posted.push(rank.post_receive(Source::Rank(from), ITS_TAG, buffer)?);
    }
    for (room, one) in rooms.iter_mut().zip(take(&mut posted)) {
        *room = rank.wait(one)?.buffer;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_double_up_to_all() {
        assert_eq!(senders(2), [1]);
        assert_eq!(senders(5), [1, 2, 4]);
        assert_eq!(senders(8), [1, 2, 4, 7]);
    }
}
