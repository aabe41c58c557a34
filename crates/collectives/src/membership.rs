//! The members of a collective, and how algorithms order them.

use std::ops::Range;

/// One member's view of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// This member.
    pub me: usize,
    /// How many there are.
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

    /// Returns the member above this one in the binomial tree from `root`, along which broadcasts go; none at the root.
    pub fn parent_from(self, root: usize) -> Option<usize> {
        let tree = self.place_from(root);
        tree.parent().map(|place| tree.member(place))
    }

    /// Returns the members below this one in that tree, those with the largest subtrees first.
    pub fn children_from(self, root: usize) -> impl DoubleEndedIterator<Item = usize> {
        let tree = self.place_from(root);
        tree.children().map(move |places| tree.member(places.start))
    }

    /// This member as seen from `root`: how many places it stands after it.
    pub(crate) fn place_from(self, root: usize) -> Place {
        Place { group: self, root, place: self.before(root) }
    }
}

/// A member of the binomial tree over the places 0 to `size - 1`, counted from the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    group: Membership,
    root: usize,
    pub(crate) place: usize,
}

impl Place {
    /// Returns the member at a place.
    pub(crate) fn member(self, place: usize) -> usize {
        (self.root + place) % self.group.size
    }

    /// Returns the parent's place; `None` at the root.
    pub(crate) fn parent(self) -> Option<usize> {
        (self.place > 0).then(|| self.place - subtree(self.place, self.group.size))
    }

    /// Returns the places of this member's whole subtree.
    pub(crate) fn own(self) -> Range<usize> {
        let size = self.group.size;
        self.place..(self.place + subtree(self.place, size)).min(size)
    }

    /// Returns the children, those with the largest subtrees first, each with the places of its subtree.
    pub(crate) fn children(self) -> impl DoubleEndedIterator<Item = Range<usize>> + Clone {
        let (place, size) = (self.place, self.group.size);
        let levels = subtree(place, size).trailing_zeros();
        (0..levels)
            .rev()
            .map(move |level| place + (1 << level)..(place + (2 << level)).min(size))
            .filter(move |places| places.start < size)
    }
}

/// Returns the size of the subtree of `place` in the binomial tree over places 0 to `size - 1`, as a power of two: the
/// tree's own end may cut it short. The parent of `place` stands that much lower, a child a smaller power of two
/// higher.
fn subtree(place: usize, size: usize) -> usize {
    if place == 0 { size.next_power_of_two() } else { 1 << place.trailing_zeros() }
}

/// Members folded to a power of two, for the algorithms that pair members by the bits of their numbers.
///
/// Members beyond the power of two give what they have to another before the algorithm, and get the result after
/// it. The operand of the lower member is always the left one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    group: Membership,
    /// The member that has number 0.
    top: usize,
    /// The power of two.
    pub(crate) core: usize,
    order: Order,
}

/// Which members may be combined first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any: the operation commutes.
    Any,
    /// Neighbours only: the operation is associative, and the operands stay in the order of the ranks.
    Ranks,
}

/// A member's part in a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// It gives what it has to this member.
    Gives(usize),
    /// It has this number in the core. A member that gives, if there is one, stands after it.
    Takes { number: usize, from: Option<usize> },
}

impl Fold {
    /// Returns the fold in which member `top` has number 0. It is 0 where the order of the ranks counts.
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

    /// This member's part.
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
        for size in 1..40 {
            for root in [0, size / 2] {
                let mut parents = vec![0; size];
                for me in 0..size {
                    let tree = Membership { me, size }.place_from(root);
                    assert_eq!(tree.member(tree.place), me);
                    for places in tree.children() {
                        parents[places.start] += 1;
                        let child =
                            Membership { me: tree.member(places.start), size }.place_from(root);
                        assert_eq!((child.parent(), child.own()), (Some(tree.place), places));
                    }
                }
                assert!(parents[0] == 0 && parents[1..].iter().all(|&count| count == 1));
            }
        }
    }

    #[test]
    fn a_fold_keeps_a_power_of_two_and_every_other_member_gives_to_one_of_them() {
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
