//! The members of a collective, and how algorithms order them.

use std::ops::Range;

/// A group as seen by one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Number of this member.
    pub me: usize,
    /// Number of members.
    pub size: usize,
}

impl Membership {
    /// Returns the member `distance` after this one, around the ring.
    pub fn after(self, distance: usize) -> usize {
        (self.me + distance) % self.size
    }

    /// Returns the member `distance` before this one, around the ring; `distance` is at most the number of members.
    pub fn before(self, distance: usize) -> usize {
        (self.me + self.size - distance) % self.size
    }

    /// Returns the parent of this member in the binomial tree from `root`, which broadcasts follow; `None` at the root.
    pub fn parent_from(self, root: usize) -> Option<usize> {
        let tree = self.place_from(root);
        tree.parent().map(|place| tree.member(place))
    }

    /// Returns the children of this member in that tree, those with the largest subtrees first.
    pub fn children_from(self, root: usize) -> impl DoubleEndedIterator<Item = usize> {
        let tree = self.place_from(root);
        tree.children().map(move |places| tree.member(places.start))
    }

    /// Returns this member's place relative to `root` in the binomial tree.
    pub(crate) fn place_from(self, root: usize) -> Place {
        self.place_in_tree(root, 2)
    }

    /// As [`place_from`](Membership::place_from), in the tree of another radix.
    pub(crate) fn place_in_tree(self, root: usize, radix: usize) -> Place {
        Place { group: self, root, place: self.before(root), radix }
    }
}

/// A member of the k-nomial tree over the places 0 to `size - 1`, counted from the root, with radix k.
///
/// The subtree of a place is as many places, from this one on, as its lowest digits that are zero can number, and has
/// up to k - 1 children of every smaller size. With radix 2 it is the binomial tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    group: Membership,
    root: usize,
    pub(crate) place: usize,
    radix: usize,
}

impl Place {
    /// Returns the member at a place.
    pub(crate) fn member(self, place: usize) -> usize {
        (self.root + place) % self.group.size
    }

    /// Returns the parent's place; `None` at the root.
    pub(crate) fn parent(self) -> Option<usize> {
        let around = self.subtree() * self.radix;
        (self.place > 0).then(|| self.place - self.place % around)
    }

    /// Returns the places of this member's whole subtree.
    pub(crate) fn own(self) -> Range<usize> {
        self.place..(self.place + self.subtree()).min(self.group.size)
    }

    /// Returns the children, those with the largest subtrees first, each with the places of its subtree.
    pub(crate) fn children(self) -> impl DoubleEndedIterator<Item = Range<usize>> + Clone {
        let Place { group: Membership { size, .. }, place, radix, .. } = self;
        let levels = self.subtree().ilog(radix);
        let of_level = move |level| {
            let places = radix.pow(level);
            let start = move |number| place + number * places;
            (1..radix).rev().map(move |number| start(number)..(start(number) + places).min(size))
        };
        (0..levels).rev().flat_map(of_level).filter(move |places| places.start < size)
    }

    /// Returns the number of places of the subtree, as a power of the radix; the end of the tree may truncate it.
    fn subtree(self) -> usize {
        let mut places = 1;
        while match self.place {
            0 => places < self.group.size,
            place => place.is_multiple_of(places * self.radix),
        } {
            places *= self.radix;
        }
        places
    }
}

/// Members folded to a power of two, for the algorithms that pair members by the bits of their numbers.
///
/// Members beyond the power of two send their operand to another member before the algorithm, and receive the result
/// after it. The operand of the lower member is always the left one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    group: Membership,
    /// Member with number 0.
    top: usize,
    /// Number of members of the core, a power of two.
    pub(crate) core: usize,
    order: Order,
}

/// Order in which operands may be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any order: the operation commutes.
    Any,
    /// Only neighbours: the operation is associative, and operands stay in the order of the ranks.
    Ranks,
}

/// Role of a member in a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// Sends its operand to this member.
    Gives(usize),
    /// Has this number in the core. The sending member, if there is one, is the next one.
    Takes { number: usize, from: Option<usize> },
}

impl Fold {
    /// Returns the fold in which member `top` has number 0. `top` must be 0 if the order of the ranks matters.
    pub(crate) fn new(group: Membership, top: usize, order: Order) -> Self {
        debug_assert!(top == 0 || order == Order::Any);
        Fold { group, top, core: 1 << group.size.ilog2(), order }
    }

    fn rest(self) -> usize {
        self.group.size - self.core
    }

    fn member_at(self, place: usize) -> usize {
        (self.top + place) % self.group.size
    }

    /// Returns this member's role.
    pub(crate) fn own(self) -> Folded {
        let (place, rest) = (self.group.before(self.top), self.rest());
        let takes = |number, from: Option<usize>| Folded::Takes {
            number,
            from: from.map(|place| self.member_at(place)),
        };
        match self.order {
            Order::Any if place >= self.core => Folded::Gives(self.member_at(place - self.core)),
            Order::Any => takes(place, (place < rest).then_some(place + self.core)),
            Order::Ranks if place >= 2 * rest => takes(place - rest, None),
            Order::Ranks if place % 2 == 1 => Folded::Gives(self.member_at(place - 1)),
            Order::Ranks => takes(place / 2, Some(place + 1)),
        }
    }

    /// Returns the member with a number of the core.
    pub(crate) fn member(self, number: usize) -> usize {
        let rest = self.rest();
        self.member_at(match self.order {
            Order::Any => number,
            Order::Ranks if number < rest => 2 * number,
            Order::Ranks => number + rest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_but_the_root_has_one_parent() {
        for (size, radix) in (1..40).flat_map(|size| [(size, 2), (size, 3), (size, 4)]) {
            for root in [0, size / 2] {
                let place = |me| Membership { me, size }.place_in_tree(root, radix);
                let mut parents = vec![0; size];
                for me in 0..size {
                    let tree = place(me);
                    assert_eq!(tree.member(tree.place), me);
                    for places in tree.children() {
                        parents[places.start] += 1;
                        let child = place(tree.member(places.start));
                        assert_eq!((child.parent(), child.own()), (Some(tree.place), places));
                    }
                }
                assert!(parents[0] == 0 && parents[1..].iter().all(|&count| count == 1));
            }
        }
    }

    #[test]
    fn a_tree_of_radix_4_has_up_to_three_children_of_each_size() {
        let children =
            |me| -> Vec<_> { Membership { me, size: 10 }.place_in_tree(0, 4).children().collect() };
        assert_eq!(children(0), [8..10, 4..8, 3..4, 2..3, 1..2]);
        assert_eq!(children(4), [7..8, 6..7, 5..6]);
        assert!(children(5).is_empty());
        assert_eq!(children(8).first(), Some(&(9..10)));
    }

    #[test]
    fn a_fold_keeps_a_power_of_two_and_every_other_member_sends_to_one_of_them() {
        for size in 1..40 {
            for (top, order) in [(0, Order::Any), (size - 1, Order::Any), (0, Order::Ranks)] {
                let of = |me| Fold::new(Membership { me, size }, top, order);
                let core = of(0).core;
                assert!(core.is_power_of_two() && core <= size && size < 2 * core);
                let mut takers = 0;
                for me in 0..size {
                    match of(me).own() {
                        Folded::Takes { number, from } => {
                            takers += 1;
                            assert_eq!(of(me).member(number), me);
                            if let Some(from) = from {
                                assert_eq!(of(from).own(), Folded::Gives(me));
                            }
                        }
                        Folded::Gives(to) => {
                            let found = matches!(of(to).own(), Folded::Takes { from: Some(from), .. } if from == me);
                            assert!(found, "{me} of {size} gives to {to}");
                        }
                    }
                }
                assert_eq!(takers, core);
            }
        }
    }
}
