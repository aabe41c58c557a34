//! All-to-all: block r of the input of member s becomes block s of the output of member r.

use super::{Own, from_others, to_others};
use crate::{Area, Blocks, Membership, Message, Part, Round, Schedule};

/// Returns a schedule that begins with the copy of this member's own block, and the area from which blocks are sent:
/// the input, or a copy of the output, because received blocks overwrite the output.
fn begin(group: Membership, input: &Blocks, output: &Blocks, own: Own) -> (Schedule, Part) {
    let mut schedule = Schedule::default();
    let mut from = own.part(input.total());
    if own == Own::InOutput {
        let copy = schedule.room(input.total());
        // Blocks of arbitrary lengths need not be contiguous.
        let whole = Blocks::equal(1, input.total());
        let pieces = if input.are_equal() { &whole } else { input };
        for piece in (0..pieces.count()).map(|index| pieces.one(index)) {
            schedule.copy(from.within(piece.clone()), copy.within(piece));
        }
        from = copy;
    }
    let own_block = from.within(input.one(group.me));
    own.copy(&mut schedule, own_block, Part::of(Area::Output, output.one(group.me)));
    (schedule, from)
}

/// Builds a pairwise exchange: in round i each member sends to the member i after it and receives from the member i
/// before it, so no member receives from two at once.
pub fn pairwise(group: Membership, input: &Blocks, output: &Blocks, own: Own) -> Schedule {
    let (mut schedule, from) = begin(group, input, output, own);
    let (input, output) = (input.clone(), output.clone());
    schedule.rounds(group.size - 1, move |round| {
        let (to, source) = (group.after(round + 1), group.before(round + 1));
        Round::exchange(
            Message::new(to, from.within(input.one(to))),
            Message::new(source, Part::of(Area::Output, output.one(source))),
        )
    });
    schedule
}

/// Exchanges all blocks in one round.
pub fn linear(group: Membership, input: &Blocks, output: &Blocks, own: Own) -> Schedule {
    let (mut schedule, from) = begin(group, input, output, own);
    schedule.messages(
        from_others(group, |other| Part::of(Area::Output, output.one(other))),
        to_others(group, |other| from.within(input.one(other))),
    );
    schedule
}

/// Builds a dissemination (Bruck et al. 1997): log2 P messages of about half of all blocks each, with copies in every
/// round.
///
/// Row i travels to the member i after its origin. In round k the rows whose number has bit k set move 2^k members on;
/// after the last round every row is at its destination, and row i came from the member i before. Requires blocks of
/// equal length.
pub fn bruck(group: Membership, each: usize, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let size = group.size;
    let from = own.part(size * each);
    let row = |index: usize| index * each..(index + 1) * each;
    let rows = schedule.room(size * each);
    let ahead = (size - group.me) * each;
    schedule.copy(from.within(group.me * each..size * each), rows.within(0..ahead));
    schedule.copy(from.within(0..group.me * each), rows.within(ahead..size * each));
    let most = size.div_ceil(2).max(1) * each;
    let (out, into) = (schedule.room(most), schedule.room(most));
    let mut distance = 1;
    while distance < size {
        let moving = (0..size).filter(|index| index & distance != 0);
        for (place, index) in moving.clone().enumerate() {
            schedule.copy(rows.within(row(index)), out.within(row(place)));
        }
        let length = moving.clone().count() * each;
        schedule.exchange(
            Message::new(group.after(distance), out.within(0..length)),
            Message::new(group.before(distance), into.within(0..length)),
        );
        for (place, index) in moving.enumerate() {
            schedule.copy(into.within(row(place)), rows.within(row(index)));
        }
        distance *= 2;
    }
    for index in 0..size {
        schedule.copy(rows.within(row(index)), Part::of(Area::Output, row(group.before(index))));
    }
    schedule
}
