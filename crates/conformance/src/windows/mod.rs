//! Windows, on every path to the members' memory: those of the fabric, and messages.

mod lab;
mod random;

use super::check::{ensure, expect, expect_error};
use super::endpoint_case::EndpointCase;
use contract::{
    Action, Arithmetic, Element, Endpoint, Error, Operation, Reduction, Result, WindowCall,
};
use lab::{Lab, Manner};

/// Returns all cases.
pub(super) fn cases<E: Endpoint>() -> [EndpointCase<E>; 5] {
    let case = |name, program| EndpointCase { name, program };
    [
        case("windows/random-programs-do-what-the-model-does", random::programs),
        case("windows/updates-lose-nothing", updates),
        case("windows/a-lock-keeps-others-out", locks),
        case("windows/a-notice-follows-what-was-put", notices),
        case("windows/mistakes-are-named", mistakes),
    ]
}

fn sum(element: Element) -> Action {
    Action::Combine(Arithmetic::code(Reduction::new(element, Operation::Sum)))
}

/// All members add to the same places at once: by atomics, under a lock, and at a place with unaligned words.
fn updates<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    const ROUNDS: u64 = 40;
    /// Number of bytes of words that are updated at once.
    const MANY: usize = 4096;
    for manner in Manner::ALL {
        let mut lab = Lab::new(endpoint, 64 + MANY, manner)?;
        let (me, size) = (lab.me(), lab.size());
        let ones = 1_u64.to_ne_bytes().repeat(MANY / 8);
        let mut fetched_of_own = Vec::new();
        for round in 0..ROUNDS {
            let target = (me + round as usize) % size;
            lab.update(endpoint, target, sum(Element::U64), 0, &1_u64.to_ne_bytes())?;
            lab.update(endpoint, target, sum(Element::F64), 8, &0.5_f64.to_ne_bytes())?;
            lab.update(endpoint, target, sum(Element::I32), 17, &(-1_i32).to_ne_bytes())?;
            lab.update(endpoint, target, sum(Element::U64), 64, &1_u64.to_ne_bytes())?;
            if round % 4 != 1 {
                lab.update(endpoint, target, sum(Element::U64), 64, &ones)?;
            }
            let all = lab.fetch(endpoint, 0, sum(Element::U64), 24, &1_u64.to_ne_bytes())?;
            fetched_of_own.push(u64::from_ne_bytes(all.try_into().expect("a word")));
        }
        ensure(fetched_of_own.is_sorted_by(|one, next| one < next), || {
            format!("what a member fetched does not rise: {fetched_of_own:?}")
        })?;
        lab.fence(endpoint)?;
        // Each member was the target of every other as often as of itself, except for a last part of a round.
        let shares = (0..size).map(|other| {
            (0..ROUNDS).filter(|&round| (other + round as usize) % size == me).count() as u64
        });
        let hits: u64 = shares.sum();
        let own = lab.own();
        let word = |at: usize| u64::from_ne_bytes(own[at..at + 8].try_into().expect("a word"));
        expect("the sum by atomics", hits, word(0))?;
        expect("the sum under a lock", hits as f64 * 0.5, f64::from_bits(word(8)))?;
        let unaligned = i32::from_ne_bytes(own[17..21].try_into().expect("a word"));
        expect("the sum of words that are not aligned", -(hits as i32), unaligned)?;
        let long_ones = (0..size).map(|other| {
            let long = (0..ROUNDS).filter(|round| round % 4 != 1);
            long.filter(|&round| (other + round as usize) % size == me).count() as u64
        });
        let long: u64 = long_ones.sum();
        expect("a word of few and of many", hits + long, word(64))?;
        expect("the last of many words", long, word(64 + MANY - 8))?;
        let all = if me == 0 { ROUNDS * size as u64 } else { 0 };
        expect("the sum of all members", all, word(24))?;
        lab.close(endpoint)?;
    }
    Ok(())
}

/// Under an exclusive lock a member reads a number and puts the next one.
fn locks<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    const ROUNDS: u64 = 15;
    for manner in Manner::ALL {
        let mut lab = Lab::new(endpoint, 16, manner)?;
        let last = lab.size() - 1;
        for round in 0..ROUNDS {
            lab.call(endpoint, WindowCall::Lock(last, true))?;
            let found = lab.get(endpoint, last, 0, 8)?;
            let next = u64::from_ne_bytes(found.try_into().expect("a word")) + 1;
            lab.put(endpoint, last, 0, &next.to_ne_bytes())?;
            lab.call(endpoint, WindowCall::Unlock(last, true))?;
            if round % 3 == 0 {
                lab.call(endpoint, WindowCall::Lock(last, false))?;
                let found = lab.get(endpoint, last, 0, 8)?;
                let seen = u64::from_ne_bytes(found.try_into().expect("a word"));
                ensure(seen >= next, || format!("{seen} was seen after {next}"))?;
                lab.call(endpoint, WindowCall::Unlock(last, false))?;
            }
        }
        lab.fence(endpoint)?;
        if lab.me() == last {
            let all = ROUNDS * lab.size() as u64;
            expect(
                "how often the lock was held",
                all.to_ne_bytes().to_vec(),
                lab.own()[..8].to_vec(),
            )?;
        }
        lab.close(endpoint)?;
    }
    Ok(())
}

/// In a ring, each member waits for the put of the previous one.
fn notices<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    for manner in Manner::ALL {
        let mut lab = Lab::new(endpoint, 4096, manner)?;
        let (me, size) = (lab.me(), lab.size());
        for round in 1..=6_u64 {
            // Both halves in turn: the next member has read the other half before it continued.
            let at = round % 2 * 2048;
            let before = if me == 0 { round - 1 } else { round };
            lab.call(endpoint, WindowCall::AwaitNotice(3, before))?;
            let found = lab.own()[at as usize..][..2000].to_vec();
            if me > 0 {
                expect("what came before the notice", vec![round as u8; 2000], found)?;
            }
            lab.put(endpoint, (me + 1) % size, at, &[round as u8; 2000])?;
            lab.call(endpoint, WindowCall::Notify((me + 1) % size, 3))?;
        }
        lab.fence(endpoint)?;
        lab.close(endpoint)?;
    }
    Ok(())
}

fn mistakes<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    for manner in Manner::ALL {
        let mut lab = Lab::new(endpoint, 100, manner)?;
        let (other, size) = ((lab.me() + 1) % lab.size(), lab.size());
        for (offset, bytes) in [(96, 5), (101, 0), (u64::MAX, 2), (0, 101)] {
            let put = lab.put(endpoint, other, offset, &vec![1; bytes]);
            expect_error("a put outside of the window", put, |error| {
                matches!(error, Error::OutOfWindow { window_bytes: 100, .. })
            })?;
        }
        let put = lab.put(endpoint, size, 0, &[1]);
        let is_right = |error: &Error| matches!(error, Error::InvalidRank { .. });
        expect_error("a put to a rank that is not there", put, is_right)?;
        lab.fence(endpoint)?;
        expect("memory that nothing was put to", vec![0; 100], lab.own().to_vec())?;
        lab.close(endpoint)?;
    }
    Ok(())
}
