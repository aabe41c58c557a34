//! The kinds of cells that ranks send each other.

/// The kinds of cells. Numbers in a payload are listed in their order.
pub(super) mod kind {
    /// A whole message, in the cell.
    pub(crate) const SHORT: u8 = 1;
    /// A message's beginning: its length (two words), the bytes that come with this cell.
    pub(crate) const EAGER: u8 = 2;
    /// More of the message that this sender last began: the bytes that come with this cell.
    pub(crate) const MORE: u8 = 3;
    /// A long message is offered: its length (two words), the sender's request, its place (three words).
    pub(crate) const OFFER: u8 = 4;
    /// The offer is taken, in fragments: the sender's request, the receiver's request.
    pub(crate) const TAKE: u8 = 5;
    /// The beginning of an offered message's data: the receiver's request, the bytes that come with this cell.
    pub(crate) const DATA: u8 = 6;
    /// The receiver copies an offered message and asks the sender to help: the sender's request, the slot and its
    /// generation, the length (two words), the receiver's place (three words).
    pub(crate) const HELP: u8 = 7;
    /// An offered message was copied: the sender's request.
    pub(crate) const DONE: u8 = 8;
}
