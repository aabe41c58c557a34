//! The kinds of cells that ranks send, and the layout of numbers in their payloads.

use contract::Untrusted;
use engine::Location;

use crate::ring::Body;

/// The kinds of cells. The numbers in a payload are listed in their order.
pub(super) mod kind {
    /// A whole message, in one cell or two.
    pub(crate) const SHORT: u8 = 1;
    /// The beginning of a message: its length (two words), and the bytes that come with this cell.
    pub(crate) const EAGER: u8 = 2;
    /// More of the message that this sender began last: the bytes that come with this cell.
    pub(crate) const MORE: u8 = 3;
    /// Request to send, for a long message: its length (two words), the sender's request, the location of its
    /// data (three words).
    pub(crate) const RTS: u8 = 4;
    /// Clear to send, in fragments: the sender's request, the receiver's request.
    pub(crate) const CTS: u8 = 5;
    /// The beginning of the data after a CTS: the receiver's request, the bytes that come with this cell.
    pub(crate) const DATA: u8 = 6;
    /// The receiver copies a message and asks the sender for co-copy: the sender's request, the help slot and
    /// its generation, the length (two words), the location of the receiver's memory (three words).
    pub(crate) const HELP: u8 = 7;
    /// Finished, the data were copied: the sender's request.
    pub(crate) const FIN: u8 = 8;
}

/// The first of a location's three words: the kind of place.
const ADDRESS: u32 = 0;
const IN_ARENA: u32 = 1;

/// Returns a cell's body with numbers as its payload.
pub(super) fn numbers<const N: usize>(kind: u8, numbers: [u32; N]) -> Body {
    Body::with_numbers(kind, numbers)
}

/// Returns a length as two words of a payload.
pub(super) fn halves(bytes: usize) -> [u32; 2] {
    [bytes as u32, (bytes as u64 >> 32) as u32]
}

/// Returns as three words of a payload where other ranks find memory: its place in the arenas, if it has one, and else its
/// address.
pub(super) fn location_words(place: Option<u64>, memory: *const u8) -> [u32; 3] {
    let (flag, number) = match place {
        Some(place) => (IN_ARENA, place as usize),
        None => (ADDRESS, memory as usize),
    };
    let [low, high] = halves(number);
    [flag, low, high]
}

/// Returns the location in the words of a payload from `first` on.
pub(super) fn location_in(body: &Body, first: usize) -> Location {
    let number: Untrusted<usize> = body.long_number(first + 1);
    if body.number(first).is(IN_ARENA) {
        Location::Arena(number)
    } else if body.number(first).is(ADDRESS) {
        Location::Address(number)
    } else {
        Location::Remote
    }
}
