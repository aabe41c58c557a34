//! The ring protocol of MPI-SHARC as a service: three variants of a broadcast, and an allgather.

use ::services::{Error, RING_NODES_MAX, RingNode, SharcRing};
use analysis::limits::{BoundRule, Traffic};
use contract::Result;

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::contents::{check_block, fill};
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const RING_PROTOCOL: Benchmark = Benchmark {
    name: "ring-protocol",
    group: Group::Services,
    summary: "broadcast and allgather around a one-way ring, with and without headers",
    explains: "Ranks are nodes of a one-way ring (the protocol of MPI-SHARC). `unicasts`: rank 0 sends to each other rank, one \
        after the other, each of which has said that it is ready; a barrier follows, in which nodes pass packets on. `multicast`: \
        the same with one message to all. `broadcast`: one barrier, and data without headers. `allgather`: one barrier, and each \
        rank's block goes to all. All start together; the time is that of the slowest; the rate is size (P - 1) / time, that of \
        the bytes that each rank has of others in an allgather. The paper's broadcast takes 45 % of its unicasts on four nodes.",
    source: paper::MPI_SHARC.part("section 3, figure 8b"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: p - 1, blocks: p - 1 }),
    headlines: &[Headline {
        words: "a broadcast of 8 bytes around a ring",
        metric: "time",
        size_bytes: Some(8),
    }],
    cases,
    repeatable: false,
    measure,
    program: Program {
        blocks: |_| Blocks::NONE,
        received: Received::Nothing,
        moved: Shape::bytes_to_others,
        in_a_row: false,
        ..COLLECTIVE
    },
    ..BENCHMARK
};

/// Parameter of the variant, and its values.
const WAY: &str = "way";
const UNICASTS: &str = "unicasts";
const MULTICAST: &str = "multicast";
const BROADCAST: &str = "broadcast";
const ALLGATHER: &str = "allgather";

const ROOT: usize = 0;
const MESSAGE_TAG: u32 = 0;

fn cases(scope: &Scope) -> Vec<Case> {
    let of = |call: &'static str| {
        let named =
            move |case: Case| Case { parameters: [(WAY.into(), call.into())].into(), ..case };
        sized(scope, &[8, 1 << 10, 8 << 10, 64 << 10]).into_iter().map(named)
    };
    [UNICASTS, MULTICAST, BROADCAST, ALLGATHER].into_iter().flat_map(of).collect()
}

/// One event, with a node's block, and room for those of all.
type Event = fn(&mut RingNode<'_>, &mut [u8], &mut [u8]) -> ::services::Result<()>;

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let (size, me, ranks) = (bench.shape.size, bench.shape.me, bench.rank.size());
    if ranks > RING_NODES_MAX {
        return bench.skip(format!("a ring has at most {RING_NODES_MAX} nodes"));
    }
    let call = bench.step.parameters.get(WAY).map(ToString::to_string).unwrap_or_default();
    let event: Event = match &call[..] {
        UNICASTS => unicasts,
        MULTICAST => multicast,
        BROADCAST => |node, block, _| node.broadcast(ROOT, block),
        ALLGATHER => |node, block, all| node.allgather(block, all),
        _ => return Err(bench.unknown(WAY)),
    };
    let (program, seed) = (bench.definition.program, bench.settings.seed);
    let gathers = call == ALLGATHER;
    let mut block = vec![0; size];
    if gathers || me == ROOT {
        fill(&mut block, seed, me, 0);
    }
    let mut all = vec![0; if gathers { size * ranks } else { 0 }];
    let mut ring = SharcRing::open(bench.rank).map_err(Error::into_contract)?;
    let outcome = bench.sampled_as(program, |rank, _| {
        event(&mut ring.enter(rank), &mut block, &mut all).map_err(Error::into_contract)
    })?;
    ring.close(bench.rank).map_err(Error::into_contract)?;
    if gathers && size > 0 {
        for (from, found) in all.chunks(size).enumerate() {
            check_block(found, seed, (from, 0), "the allgather", me)?;
        }
    } else {
        check_block(&block, seed, (ROOT, 0), "the broadcast", me)?;
    }
    bench.report(program, outcome, Default::default())
}

fn unicasts(node: &mut RingNode<'_>, block: &mut [u8], _: &mut [u8]) -> ::services::Result<()> {
    if node.me() == ROOT {
        (1..node.nodes()).try_for_each(|to| node.send(to, MESSAGE_TAG, block))?;
    } else {
        node.receive(ROOT, MESSAGE_TAG, block)?;
    }
    node.barrier()
}

fn multicast(node: &mut RingNode<'_>, block: &mut [u8], _: &mut [u8]) -> ::services::Result<()> {
    if node.me() == ROOT {
        let others = (1..node.nodes()).map(|to| 1_u32 << to).sum();
        node.send_to_many(others, MESSAGE_TAG, block)?;
    } else {
        node.receive(ROOT, MESSAGE_TAG, block)?;
    }
    node.barrier()
}
