//! Tests windows whose accesses the provider carries out: the target is in no call of the window meanwhile.

use contract::{
    Element, Error, Operation, Rank, RankWindow, Reduction, Result, Source, Tag, TagSelector,
};

use crate::harness::{Test, launch_and_gather};
use crate::job::options;

const CASES: [(&str, usize); 2] = [("the-target-takes-no-part", 2), ("notices-follow-puts", 3)];
const TAG: Tag = Tag::new(7);
/// Length in bytes beyond that of one atomic operation of the provider.
const LONG_BYTES: usize = 100_000;
const BYTES: usize = 400_000;
const WORDS: Reduction = Reduction::new(Element::U64, Operation::Sum);

pub(crate) fn tests(provider: &'static str) -> Vec<Test> {
    let test = |(name, ranks)| {
        Test::new(format!("{provider}/windows/{name}"), move || {
            let (ended, _) =
                launch_and_gather(&options(ranks, provider, &format!("windows {name}")));
            ended.map_err(|error| error.to_string())
        })
    };
    CASES.map(test).into()
}

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    let mut window = rank.open_window(BYTES)?;
    let routes: Vec<_> = window.window().routes().collect();
    ensure(routes.iter().all(|&route| route == "network"), || format!("{routes:?}"))?;
    window.fence(rank)?;
    match name {
        "the-target-takes-no-part" => accesses(rank, &mut window)?,
        "notices-follow-puts" => notices(rank, &mut window)?,
        _ => return Err(Error::Program(format!("no case {name}"))),
    }
    rank.close_window(window)
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Program(what())) }
}

/// Tests accesses. Rank 1 waits for a message, and rank 0 makes all accesses to its memory before it sends one.
fn accesses(rank: &mut dyn Rank, window: &mut RankWindow) -> Result<()> {
    if rank.rank() == 1 {
        rank.receive(Source::Rank(0), TagSelector::Is(TAG), &mut [])?;
        return window.fence(rank);
    }
    let put: Vec<u8> = (0..BYTES).map(|at| (at * 7 % 251) as u8).collect();
    window.put(rank, 1, 0, &put)?;
    window.flush(rank, Some(1))?;
    let mut got = vec![0; BYTES];
    window.get(rank, 1, 0, &mut got)?;
    ensure(got == put, || "a get found other bytes than those of the put".into())?;
    window.put(rank, 1, 0, &[0; LONG_BYTES + 16])?;
    window.flush(rank, None)?;
    let halves = 0.5_f64.to_ne_bytes().repeat(LONG_BYTES / 8);
    for _ in 0..2 {
        window.accumulate(rank, (1, 16), Reduction::SUM_F64, &halves, None)?;
    }
    window.flush(rank, Some(1))?;
    let mut sums = vec![0; LONG_BYTES];
    window.get(rank, 1, 16, &mut sums)?;
    ensure(sums == 1.0_f64.to_ne_bytes().repeat(LONG_BYTES / 8), || "wrong sums".into())?;
    for before in [0_u64, 3] {
        let mut fetched = [0; 8];
        window.accumulate(rank, (1, 8), WORDS, &3_u64.to_ne_bytes(), Some(&mut fetched))?;
        let fetched = u64::from_ne_bytes(fetched);
        ensure(fetched == before, || format!("fetched {fetched} instead of {before}"))?;
    }
    for (expected, found) in [(5, 6), (6, 6), (6, 77)] {
        let old = window.compare_and_swap(rank, (1, 8), expected, 77)?;
        ensure(old == found, || format!("a swap found {old} instead of {found}"))?;
    }
    // Its own words, too, are updated in the network, where others may update them at the same time.
    window.accumulate(rank, (0, 0), WORDS, &1_u64.to_ne_bytes(), None)?;
    window.flush(rank, None)?;
    let mut own = [0; 8];
    window.get(rank, 0, 0, &mut own)?;
    ensure(u64::from_ne_bytes(own) == 1, || format!("an own word is {own:?}"))?;
    rank.send(1, TAG, &[])?;
    window.fence(rank)
}

/// Tests notices. Each rank puts long blocks to the next one with a notice after each, and starts the next put before
/// the previous one is complete. The blocks do not overlap, so each is there when its notice has arrived.
fn notices(rank: &mut dyn Rank, window: &mut RankWindow) -> Result<()> {
    const ROUNDS: u64 = 8;
    const BLOCK: usize = BYTES / ROUNDS as usize;
    let (me, size) = (rank.rank(), rank.size());
    let next = (me + 1) % size;
    for round in 0..ROUNDS {
        window.put(rank, next, round * BLOCK as u64, &[round as u8 + 1; BLOCK])?;
        window.notify(rank, next, 5)?;
    }
    for round in 0..ROUNDS {
        window.await_notice(rank, 5, round + 1)?;
        let mut block = [0; BLOCK];
        window.get(rank, me, round * BLOCK as u64, &mut block)?;
        ensure(block == [round as u8 + 1; BLOCK], || format!("block {round} is not there"))?;
    }
    window.fence(rank)
}
