//! Random programs with windows, and a model of them on plain vectors.

use super::lab::{Lab, Manner};
use crate::check::{ensure, expect, fill, mix};
use contract::{
    Action, Arithmetic, Element, Endpoint, Operation, Reduction, Result, Stretch, Update,
};

/// Layout of each member's memory: a part for the puts of each member, words to which all add, bytes that become the
/// maximum, and a word to swap.
const PART: usize = 120;
const SUMS: usize = 4;
const LARGEST: usize = 24;
const PHASES: u64 = 8;

/// The layout for a number of members.
#[derive(Clone, Copy)]
struct Layout(usize);

impl Layout {
    fn sums(self) -> usize {
        self.0 * PART
    }

    fn largest(self) -> usize {
        self.sums() + 8 * SUMS
    }

    fn swapped(self) -> usize {
        self.largest() + LARGEST
    }

    fn bytes(self) -> usize {
        self.swapped() + 8
    }
}

/// An operation of a member on another in a phase.
struct PlannedAccess {
    target: usize,
    stretches: [Stretch; 2],
    put: Vec<u8>,
    word: usize,
    addend: u64,
    large: Vec<u8>,
}

impl PlannedAccess {
    fn new(
        layout: Layout,
        (seed, phase): (u64, u64),
        (origin, target): (usize, usize),
    ) -> PlannedAccess {
        let random = |what: u64, below: usize| {
            mix(&[seed, phase, origin as u64, target as u64, what]) as usize % below
        };
        let (first, gap) = (random(0, 40), random(1, 20));
        let (start, bytes) = (origin * PART + random(2, 10), random(3, 50));
        let stretch =
            |start: usize, bytes: usize| Stretch { offset: start as u64, bytes: bytes as u64 };
        let stretches = [stretch(start, first), stretch(start + first + gap, bytes)];
        let mut put = vec![0; first + bytes];
        let mut large = vec![0; LARGEST];
        fill(&mut put, mix(&[seed, phase, origin as u64]));
        fill(&mut large, mix(&[seed, phase, target as u64, origin as u64]));
        let addend = random(5, 1 << 40) as u64;
        debug_assert!(layout.bytes() > start);
        PlannedAccess { target, stretches, put, word: random(4, SUMS), addend, large }
    }

    /// Applies it to the model.
    fn apply(&self, layout: Layout, memory: &mut [u8]) {
        let mut put = &self.put[..];
        for stretch in &self.stretches {
            let (here, rest) = put.split_at(stretch.bytes as usize);
            memory[stretch.offset as usize..][..here.len()].copy_from_slice(here);
            put = rest;
        }
        let word = &mut memory[layout.sums() + 8 * self.word..][..8];
        let before = u64::from_ne_bytes((&*word).try_into().expect("a word"));
        word.copy_from_slice(&before.wrapping_add(self.addend).to_ne_bytes());
        let largest = &mut memory[layout.largest()..][..LARGEST];
        largest.iter_mut().zip(&self.large).for_each(|(one, new)| *one = (*one).max(*new));
    }
}

fn combine(element: Element, operation: Operation) -> Action {
    Action::Combine(Arithmetic::code(Reduction::new(element, operation)))
}

/// Executes a phase in which all members operate on all.
fn act<E: Endpoint>(
    (endpoint, lab, layout): (&mut E, &mut Lab, Layout),
    accesses: &[PlannedAccess],
) -> Result<()> {
    for access in accesses {
        let (target, stretches, put) = (access.target, &access.stretches[..], &access.put[..]);
        let update = Update { action: Action::Replace, stretches, operand: put };
        lab.update_all(endpoint, target, &update)?;
        let sum = combine(Element::U64, Operation::Sum);
        let place = (layout.sums() + 8 * access.word) as u64;
        lab.update(endpoint, target, sum, place, &access.addend.to_ne_bytes())?;
        let largest = combine(Element::U8, Operation::Maximum);
        lab.update(endpoint, target, largest, layout.largest() as u64, &access.large)?;
    }
    Ok(())
}

/// Every member tries to swap the word of the same member, which `phase` determines. Returns whether this one
/// succeeded.
fn swap<E: Endpoint>(
    (endpoint, lab, layout): (&mut E, &mut Lab, Layout),
    phase: u64,
    model: &[Vec<u8>],
) -> Result<(usize, u64, bool)> {
    let target = phase as usize % lab.size();
    let before = &model[target][layout.swapped()..];
    let mine = phase << 32 | (lab.me() as u64 + 1);
    let operand = [before, &mine.to_ne_bytes()].concat();
    let code = Arithmetic::code(Reduction::new(Element::U64, Operation::Sum));
    let place = layout.swapped() as u64;
    let found = lab.fetch(endpoint, target, Action::CompareAndSwap(code), place, &operand)?;
    Ok((target, mine, found == before))
}

pub(super) fn programs<E: Endpoint>(endpoint: &mut E) -> Result<()> {
    for (number, manner) in Manner::ALL.into_iter().enumerate() {
        let seed = mix(&[0x5eed, number as u64]);
        let size = endpoint.size();
        let layout = Layout(size);
        let mut lab = Lab::new(endpoint, layout.bytes(), manner)?;
        let mut model = vec![vec![0; layout.bytes()]; size];
        for phase in 0..PHASES {
            let me = lab.me();
            let accesses = |origin: usize| {
                (0..size)
                    .map(move |target| PlannedAccess::new(layout, (seed, phase), (origin, target)))
            };
            act((endpoint, &mut lab, layout), &accesses(me).collect::<Vec<_>>())?;
            let (swapped, mine, is_mine) = swap((endpoint, &mut lab, layout), phase, &model)?;
            for access in (0..size).flat_map(accesses) {
                access.apply(layout, &mut model[access.target]);
            }
            lab.fence(endpoint)?;
            // The word itself shows which member has swapped it: it contains one member's value, and this one's only if
            // this one succeeded.
            let word = lab.get(endpoint, swapped, layout.swapped() as u64, 8)?;
            let found = u64::from_ne_bytes(word[..].try_into().expect("a word"));
            expect("the phase of a swapped word", phase, found >> 32)?;
            let is_member = (1..=size as u64).contains(&(found & 0xffff_ffff));
            ensure(is_member, || format!("nobody swaps in {found:#x}"))?;
            expect("whether this member has swapped", is_mine, found == mine)?;
            model[swapped][layout.swapped()..].copy_from_slice(&word);
            let what = format!("window with seed {seed:#x}, {manner:?}, after phase {phase}");
            expect(&what, &model[me][..], lab.own())?;
            let other = (me + 1 + phase as usize) % size;
            let all = lab.get(endpoint, other, 0, layout.bytes() as u64)?;
            expect(&what, &model[other], &all)?;
            lab.fence(endpoint)?;
        }
        lab.close(endpoint)?;
    }
    Ok(())
}
