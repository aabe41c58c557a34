//! Random programs: every rank draws the same schedule from the same seed, runs its part, and compares its results with
//! the schedule.

use super::case::{ANY, Case};
use super::check::{contents, expect, expect_contents, expect_status, fail, mix};
use contract::{Buffer, Error, Posted, Rank, Reduction, Result, Source, Tag, TagSelector};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("random/programs-of-blocking-calls", ANY, |m| programs(m, &[Round::Blocking])),
        Case::new("random/programs-of-posted-calls", ANY, |m| programs(m, &[Round::Posted])),
        Case::new("random/programs-with-wildcards", ANY, |m| programs(m, &[Round::Wildcards])),
        Case::new("random/programs-of-collectives", ANY, |m| programs(m, &[Round::Collective])),
        Case::new("random/programs-of-everything", ANY, |m| {
            programs(m, &[Round::Blocking, Round::Posted, Round::Wildcards, Round::Collective])
        }),
    ]
}

#[derive(Clone, Copy)]
enum Round {
    /// Messages one after the other, in an order that cannot deadlock, buffered or not.
    Blocking,
    /// All messages at once, completed in any order.
    Posted,
    /// All messages at once, received by wildcards as they arrive.
    Wildcards,
    Collective,
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    from: usize,
    to: usize,
    tag: Tag,
    bytes: usize,
    key: u64,
}

/// A generator with the same numbers for the same seed on every machine.
struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.drawn += 1;
        (mix(&[self.seed, self.drawn]) % limit as u64) as usize
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

fn programs(machine: &mut dyn Rank, rounds: &[Round]) -> Result<()> {
    for seed in 1..=4 {
        program(machine, rounds, seed).map_err(|error| match error {
            Error::Program(words) => Error::Program(format!("seed {seed}, {words}")),
            other => other,
        })?;
    }
    Ok(())
}

fn program(machine: &mut dyn Rank, rounds: &[Round], seed: u64) -> Result<()> {
    let mut random = Random { seed: mix(&[seed, machine.size() as u64]), drawn: 0 };
    for number in 0..12 {
        // All ranks draw the same values here; later draws from `own` differ between ranks.
        let round = random.pick(rounds);
        let plan = plan(&mut random, machine.size());
        let mut own = Random { seed: mix(&[seed, number, machine.rank() as u64]), drawn: 0 };
        let done = match round {
            Round::Blocking => blocking(machine, &plan),
            Round::Posted => posted(machine, &plan, &mut own),
            Round::Wildcards => wildcards(machine, &plan, &mut own),
            Round::Collective => collective(machine, &mut random),
        };
        done.map_err(|error| match error {
            Error::Program(words) => Error::Program(format!("round {number}: {words}")),
            other => other,
        })?;
    }
    Ok(())
}

fn plan(random: &mut Random, size: usize) -> Vec<Planned> {
    let count = random.below(4 * size.min(16)) + 1;
    let message = |_| Planned {
        from: random.below(size),
        to: random.below(size),
        tag: Tag::new(random.pick(&[0, 1, 2, Tag::MAX])),
        bytes: match random.below(10) {
            0 => 0,
            1..=5 => random.below(100),
            6..=7 => random.below(5000),
            8 => random.below(70_000),
            _ => random.below(200_000),
        },
        key: random.below(usize::MAX) as u64,
    };
    (0..count).map(message).collect()
}

/// Executes the messages in the same order at all ranks, so that a sender never waits for a rank that waits for it.
fn blocking(machine: &mut dyn Rank, plan: &[Planned]) -> Result<()> {
    let rank = machine.rank();
    for message in plan.iter().filter(|message| message.from != message.to) {
        if rank == message.from {
            machine.send(message.to, message.tag, &contents(message.key, message.bytes))?;
        } else if rank == message.to {
            let mut buffer = vec![0; message.bytes];
            let status = machine.receive(message.from.into(), message.tag.into(), &mut buffer)?;
            check(message, status, &buffer)?;
        }
    }
    Ok(())
}

fn check(message: &Planned, status: contract::Status, buffer: &[u8]) -> Result<()> {
    let what = format!("{message:?}");
    expect_status(&what, (message.from, message.tag, message.bytes), status)?;
    expect_contents(&what, message.key, &buffer[..message.bytes])
}

fn post_sends(machine: &mut dyn Rank, plan: &[Planned]) -> Result<Vec<Posted>> {
    let rank = machine.rank();
    let own = plan.iter().filter(|message| message.from == rank);
    own.map(|message| {
        let data = Buffer::from_bytes(&contents(message.key, message.bytes));
        machine.post_send(message.to, message.tag, data)
    })
    .collect()
}

/// Posts receives before or after the sends, and completes them in any order, by waiting or testing.
fn posted(machine: &mut dyn Rank, plan: &[Planned], own: &mut Random) -> Result<()> {
    let rank = machine.rank();
    let sends_first = own.below(2) == 0;
    let mut sends = if sends_first { post_sends(machine, plan)? } else { Vec::new() };
    let mut receives = Vec::new();
    for message in plan.iter().filter(|message| message.to == rank) {
        let room = Buffer::zeroed(message.bytes + own.below(2) * 50);
        let posted = machine.post_receive(message.from.into(), message.tag.into(), room)?;
        receives.push((message, posted));
    }
    if !sends_first {
        sends = post_sends(machine, plan)?;
    }
    own.shuffle(&mut receives);
    for (message, posted) in receives {
        let completed = if own.below(3) == 0 {
            super::check::test_until_done(machine, posted)?
        } else {
            machine.wait(posted)?
        };
        check(message, completed.status, &completed.buffer)?;
    }
    own.shuffle(&mut sends);
    for posted in sends {
        machine.wait(posted)?;
    }
    Ok(())
}

/// Receives with wildcards. Each message must be the first outstanding one of its source that the selector accepts.
fn wildcards(machine: &mut dyn Rank, plan: &[Planned], own: &mut Random) -> Result<()> {
    let rank = machine.rank();
    // Wildcards must match no messages of other rounds: hence this barrier and the one at the end.
    machine.barrier()?;
    let sends = post_sends(machine, plan)?;
    let mut outstanding: Vec<&Planned> = plan.iter().filter(|m| m.to == rank).collect();
    while let Some(&any_of_them) = outstanding.get(own.below(outstanding.len().max(1))) {
        let (from, tag) = match own.below(3) {
            0 => (Source::Any, TagSelector::Any),
            1 => (Source::Any, any_of_them.tag.into()),
            _ => (Source::Rank(any_of_them.from), TagSelector::Any),
        };
        let mut buffer = vec![0; 200_000];
        let status = machine.receive(from, tag, &mut buffer)?;
        let matches = |m: &&Planned| m.from == status.source && tag.accepts(m.tag);
        let Some(place) = outstanding.iter().position(matches) else {
            return fail(format!("received {status:?} by {from} and {tag}, which nobody sent"));
        };
        check(outstanding.remove(place), status, &buffer)?;
    }
    for posted in sends {
        machine.wait(posted)?;
    }
    machine.barrier()
}

/// Calls a collective with the same random root and length at all ranks.
fn collective(machine: &mut dyn Rank, random: &mut Random) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let (root, key) = (random.below(size), random.below(usize::MAX) as u64);
    let limit = random.pick(&[20, 300, 5000, 40_000]);
    let bytes = random.below(if size <= 16 { limit } else { 300 });
    let block = |rank: usize| contents(mix(&[key, rank as u64]), bytes);
    let all = || (0..size).flat_map(block).collect::<Vec<u8>>();
    match random.below(6) {
        0 => machine.barrier(),
        1 => {
            let mut data = if rank == root { block(root) } else { vec![0; bytes] };
            machine.broadcast(root, &mut data)?;
            expect_contents("broadcast", mix(&[key, root as u64]), &data)
        }
        2 => {
            let mut data = vec![0; bytes];
            machine.scatter(root, &if rank == root { all() } else { vec![] }, &mut data)?;
            expect_contents("scatter", mix(&[key, rank as u64]), &data)
        }
        3 => {
            let mut data = vec![0; if rank == root { size * bytes } else { 0 }];
            machine.gather(root, &block(rank), &mut data)?;
            expect("gather", true, rank != root || data == all())
        }
        4 => {
            let mut data = vec![0; size * bytes];
            machine.allgather(&block(rank), &mut data)?;
            expect("allgather", true, data == all())
        }
        _ => {
            let mut least = vec![0; 8];
            let own = (key % 1000) as f64 + ((rank + root) % size) as f64;
            machine.allreduce(Reduction::MAXIMUM_F64, &own.to_ne_bytes(), &mut least)?;
            let expected = (key % 1000) as f64 + (size - 1) as f64;
            expect("maximum", expected.to_ne_bytes().to_vec(), least)
        }
    }
}
