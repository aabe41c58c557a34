//! Signals, blocks and shared memory of a cluster of 1996, beside the fabric's own messages.

use ::services::hcs::{
    Cluster, ClusterError, ClusterOptions, ClusterResult, Node, Segment, cluster_init,
};
use analysis::limits::{BoundRule, Traffic};
use contract::{Rank, Result, TimeSpan};

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::contents::{check_block, fill};
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, round_trip};
use crate::shape::Role;

pub(in crate::programs) const HCS: Benchmark = Benchmark {
    name: "hcs",
    group: Group::Services,
    summary: "one way between nodes of a cluster of 1996, by message, block, signal, memory",
    explains: "Half of a round trip between ranks 0 and 1, with four methods. `message`: the fabric's own \
        messages, as in ping-pong. `block`: send_block and get_block of HCS_LIB. `signal`: send_signal_and_wait, \
        which a handler at rank 1 answers, always of 8 bytes. `memory`: rank 0 writes into a segment of rank 1, \
        which reads it and writes it back into one of rank 0; up to 8 bytes are one word, longer data are followed \
        by a word. The rate is size / time. The paper aims at signals in single-digit microseconds, and has some 4 \
        us for few bytes over SCI.",
    source: paper::SCALE.part("section 4"),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    headlines: &[Headline {
        words: "a cluster of 1996, 8 bytes",
        metric: "rate",
        size_bytes: Some(8),
    }],
    cases,
    repeatable: false,
    measure,
    program: Program { parts: |_| 2, ..BETWEEN_TWO },
    ..BENCHMARK
};

/// Parameter of the method, and its values.
const WAY: &str = "way";
const MESSAGE: &str = "message";
const BLOCK: &str = "block";
const SIGNAL: &str = "signal";
const MEMORY: &str = "memory";

const WORD: usize = size_of::<u64>();
const SIGNAL_BYTES: u64 = WORD as u64;
/// Number of the signal that is sent, and key of the segment.
const NUMBER: u32 = 1;

fn cases(scope: &Scope) -> Vec<Case> {
    let of = |access: &'static str| {
        let named =
            move |case: Case| Case { parameters: [(WAY.into(), access.into())].into(), ..case };
        sized(scope, &[8, 64, 1 << 10, 64 << 10]).into_iter().map(named)
    };
    let signals = of(SIGNAL).take(1).map(|case| Case { size_bytes: SIGNAL_BYTES, ..case });
    of(MESSAGE).chain(of(BLOCK)).chain(signals).chain(of(MEMORY)).collect()
}

/// The open objects of a rank.
struct Open {
    cluster: Cluster,
    /// Memory of this rank, and of the other.
    own: Option<Segment>,
    other: Option<Segment>,
    /// Number of events so far.
    events: u64,
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let program = bench.definition.program;
    let access = bench.step.parameters.get(WAY).map(ToString::to_string).unwrap_or_default();
    if access == MESSAGE {
        let program = Program { event: round_trip, ..program };
        let outcome = bench.sampled(program)?;
        return bench.report(program, outcome, Default::default());
    }
    let event = match &access[..] {
        BLOCK => block,
        SIGNAL => signal,
        MEMORY => memory,
        _ => return Err(bench.unknown(WAY)),
    };
    let mut open = begin(bench).map_err(ClusterError::into_contract)?;
    let unused = Program { blocks: |_| Blocks::NONE, received: Received::Nothing, ..program };
    let (size, seed, me, peer) =
        (bench.shape.size, bench.settings.seed, bench.shape.me, bench.shape.peer());
    let (mut sent, mut room) = (vec![0; size], vec![0; size]);
    // The first word of memory is the number of the event.
    let first = if access == MEMORY { WORD.min(size) } else { 0 };
    fill(&mut sent[first..], seed, me, 0);
    let outcome = bench.sampled_as(unused, |rank, data| {
        open.events += 1;
        let parts = (&sent[..], &mut room[..]);
        event(&mut open, rank, data, parts).map_err(ClusterError::into_contract)
    })?;
    if bench.shape.role() != Role::Other && access == BLOCK {
        check_block(&room, seed, (peer, 0), "the block", me)?;
    }
    if bench.shape.role() != Role::Other && access == MEMORY {
        check_block(&room[first..], seed, (peer, 0), "the memory", me)?;
    }
    open.cluster.safe_exit(bench.rank).map_err(ClusterError::into_contract)?;
    bench.report(program, outcome, Default::default())
}

/// Creates the cluster, and a segment at each rank of the pair, which the other maps.
fn begin(bench: &mut Bench<'_>) -> ClusterResult<Open> {
    let (bytes, peer) = (bench.shape.size.max(WORD) + WORD, bench.shape.peer());
    let timeout = TimeSpan::from_us(1_000_000_000);
    let options = ClusterOptions { timeout, shared_bytes: bytes.next_multiple_of(WORD * 8) };
    let cluster = cluster_init(bench.rank, options)?;
    let mut open = Open { cluster, own: None, other: None, events: 0 };
    let mut node = open.cluster.enter(bench.rank);
    if bench.shape.role() != Role::Other {
        open.own = Some(node.safe_shared_memory_make(NUMBER, bytes)?);
        open.other = Some(node.safe_shared_memory_map(peer, NUMBER, timeout)?);
    }
    node.barrier_sync()?;
    drop(node);
    Ok(open)
}

/// The data to send, and a buffer for the received data.
type Parts<'a> = (&'a [u8], &'a mut [u8]);

fn block(
    open: &mut Open,
    rank: &mut dyn Rank,
    data: &mut Data,
    (sent, room): Parts<'_>,
) -> ClusterResult<()> {
    let mut node = open.cluster.enter(rank);
    match data.role {
        Role::First => {
            node.send_block(data.peer, sent)?;
            node.get_block(data.peer, room).map(drop)
        }
        Role::Second => {
            node.get_block(data.peer, room)?;
            node.send_block(data.peer, sent)
        }
        Role::Other => Ok(()),
    }
}

fn signal(
    open: &mut Open,
    rank: &mut dyn Rank,
    data: &mut Data,
    _: Parts<'_>,
) -> ClusterResult<()> {
    let mut node = open.cluster.enter(rank);
    match data.role {
        Role::First => node.send_signal_and_wait(data.peer, NUMBER).map(drop),
        Role::Second => {
            while node.service_signals(TimeSpan::from_us(1_000_000))? == 0 {}
            // Otherwise they would accumulate until there is no more room.
            node.take_signal();
            Ok(())
        }
        Role::Other => Ok(()),
    }
}

fn memory(
    open: &mut Open,
    rank: &mut dyn Rank,
    data: &mut Data,
    parts: Parts<'_>,
) -> ClusterResult<()> {
    let Open { cluster, own: Some(own), other: Some(other), events } = open else { return Ok(()) };
    let mut node = cluster.enter(rank);
    let (sent, room) = parts;
    if data.role == Role::First {
        put(&mut node, other, *events, sent)?;
        return take(&mut node, own, *events, room);
    }
    take(&mut node, own, *events, room)?;
    put(&mut node, other, *events, sent)
}

/// Writes the other data, and then the first word, which is the number of the event.
fn put(node: &mut Node<'_>, segment: &Segment, event: u64, sent: &[u8]) -> ClusterResult<()> {
    if sent.len() > WORD {
        node.sci().write_shm(segment, WORD, &sent[WORD..])?;
    }
    node.sci().write_shm(segment, 0, &event.to_ne_bytes())
}

/// Waits for the number of the event, and reads the rest.
fn take(node: &mut Node<'_>, segment: &Segment, event: u64, room: &mut [u8]) -> ClusterResult<()> {
    let mut word = [0; WORD];
    while u64::from_ne_bytes(word) != event {
        node.sci().serve()?;
        node.sci().read_shm(segment, 0, &mut word)?;
    }
    match room.get_mut(WORD..) {
        Some(rest) => node.sci().read_shm(segment, WORD, rest),
        None => Ok(()),
    }
}
