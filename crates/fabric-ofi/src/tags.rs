//! The tags of libfabric, which contain contexts, senders and tags of the contract.
//!
//! From the highest bit down: two bits for the kind of the message, one bit that marks the RTS of a long message, the
//! sender if there is room for it, the context, and 32 bits of tag. If there is no room for the sender, receives of data
//! name it by its address. The word beside each tag ([`ImmediateData`]) also contains the sender.

use contract::{Error, Result};

/// The kinds of messages of libfabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message of the program, or the RTS of a long one.
    Message,
    /// The data of a long message.
    Data,
    /// A word between the engines.
    Word,
}

/// The layout of a provider's tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(crate) bits: u32,
}

const TAG_BITS: u32 = 32;
const KIND_BITS: u32 = 2;
/// Number of bits of a sender, because ranks are below 256.
const SENDER_BITS: u32 = 8;
/// Least number of bits of tags that contain the sender. A receive by address may miss the first message of a sender,
/// because the provider may not yet have its address.
const BITS_WITH_SENDER: u32 = 60;
/// The least number of bits for the context.
const CONTEXT_BITS_MIN: u32 = 8;

impl Tags {
    /// Returns the layout for a tag format of libfabric. Alternating bits mark fields there; all bits up to the highest
    /// set one are usable.
    pub(crate) fn of_format(format: u64) -> Self {
        // The formats of 64 bits, such as FI_TAG_GENERIC, begin with a set or with a clear bit.
        let bits = if format == 0 { 0 } else { u64::BITS - format.leading_zeros() };
        Tags { bits: if bits == u64::BITS - 1 { u64::BITS } else { bits } }
    }

    pub(crate) fn are_enough(self) -> bool {
        self.bits >= KIND_BITS + 1 + CONTEXT_BITS_MIN + TAG_BITS
    }

    fn long_bit(self) -> u64 {
        1 << (self.bits - KIND_BITS - 1)
    }

    /// Returns whether tags contain the sender, so that receives need not name its address.
    pub(crate) fn have_sender(self) -> bool {
        self.bits >= BITS_WITH_SENDER
    }

    fn sender(self, sender: u32) -> u64 {
        match self.have_sender() {
            true => u64::from(sender) << (self.bits - KIND_BITS - 1 - SENDER_BITS),
            false => 0,
        }
    }

    fn contexts(self) -> u64 {
        let below =
            if self.have_sender() { self.long_bit() >> SENDER_BITS } else { self.long_bit() };
        below >> TAG_BITS
    }

    fn kind(self, kind: Kind) -> u64 {
        let number = match kind {
            Kind::Message => 0,
            Kind::Data => 1,
            Kind::Word => 2,
        };
        number << (self.bits - KIND_BITS)
    }

    /// Returns the tag of a message, or of the RTS of a long one.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the provider's tags have no room for the context.
    pub(crate) fn message(self, sender: u32, context: u32, tag: u32, is_long: bool) -> Result<u64> {
        if u64::from(context) >= self.contexts() {
            return Err(self.no_room(context));
        }
        let long = if is_long { self.long_bit() } else { 0 };
        let long = long | self.sender(sender);
        Ok(self.kind(Kind::Message) | long | u64::from(context) << TAG_BITS | u64::from(tag))
    }

    /// Returns the tag of the data of long message `number` of its sender.
    pub(crate) fn data(self, sender: u32, number: u32) -> u64 {
        self.kind(Kind::Data) | self.sender(sender) | u64::from(number)
    }

    /// Returns the tag of a word between engines.
    pub(crate) fn word(self) -> u64 {
        self.kind(Kind::Word)
    }

    /// Returns the tag of a receive of every message of the program, and the bits that it ignores.
    pub(crate) fn receive_any(self) -> (u64, u64) {
        (self.kind(Kind::Message), self.kind(Kind::Data) - 1)
    }

    /// Returns the context and the tag of a message, and whether it is the RTS of a long one.
    pub(crate) fn parts(self, tag: u64) -> (u32, u32, bool) {
        let context = (tag >> TAG_BITS) & (self.contexts() - 1);
        (context as u32, tag as u32, tag & self.long_bit() != 0)
    }

    #[cold]
    fn no_room(self, context: u32) -> Error {
        Error::Unsupported {
            fabric: "the libfabric provider of this run".into(),
            what: format!(
                "carry messages of context {context}: its tags have {} bits, room for {} contexts",
                self.bits,
                self.contexts() / 2
            ),
        }
    }
}

/// The 64 bits that a message carries beside its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImmediateData {
    /// With a message, or with data.
    Sender(u32),
    /// With the RTS of a long message.
    Rts {
        sender: u32,
        /// Its number among the long messages to this receiver, below [`ImmediateData::NUMBERS`].
        number: u32,
        bytes: u64,
    },
    /// With a word: the sender requests the first bytes of the receiver's long message of this number.
    Cts { sender: u32, number: u32, bytes: u64 },
    /// With a word: the sender has left.
    Left(u32),
    /// With a word: the sender has ended its part.
    Goodbye(u32),
}

impl ImmediateData {
    /// The most long messages from one rank to another that may be under way.
    pub(crate) const NUMBERS: u32 = 1 << 16;
    /// The longest message, in bytes.
    pub(crate) const BYTES_MAX: u64 = (1 << 38) - 1;

    /// Returns it as a word. From the lowest bits up: 8 bits of sender, 16 of number, 2 for the kind of a word between
    /// engines, 38 of length.
    pub(crate) fn to_word(self) -> u64 {
        let word = |sender: u32, number: u32, kind: u64, bytes: u64| {
            u64::from(sender) | u64::from(number) << 8 | kind << 24 | bytes << 26
        };
        match self {
            ImmediateData::Sender(sender) => word(sender, 0, 0, 0),
            ImmediateData::Rts { sender, number, bytes } => word(sender, number, 0, bytes),
            ImmediateData::Cts { sender, number, bytes } => word(sender, number, 0, bytes),
            ImmediateData::Left(sender) => word(sender, 0, 1, 0),
            ImmediateData::Goodbye(sender) => word(sender, 0, 2, 0),
        }
    }

    /// Returns the sender, which every word contains.
    pub(crate) fn sender(word: u64) -> u32 {
        word as u8 as u32
    }

    /// Reads the word of the RTS of a long message.
    pub(crate) fn of_rts(word: u64) -> Self {
        ImmediateData::Rts {
            sender: Self::sender(word),
            number: Self::number(word),
            bytes: Self::bytes(word),
        }
    }

    /// Reads the word of an engine. Returns `None` if it is of a kind that this version does not have.
    pub(crate) fn of_engine(word: u64) -> Option<Self> {
        let sender = Self::sender(word);
        match (word >> 24) & 3 {
            0 => Some(ImmediateData::Cts {
                sender,
                number: Self::number(word),
                bytes: Self::bytes(word),
            }),
            1 => Some(ImmediateData::Left(sender)),
            2 => Some(ImmediateData::Goodbye(sender)),
            _ => None,
        }
    }

    fn number(word: u64) -> u32 {
        (word >> 8) as u32 & (Self::NUMBERS - 1)
    }

    fn bytes(word: u64) -> u64 {
        word >> 26
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FI_TAG_GENERIC, of all 64 bits, and 48 bits in one field.
    const FORMATS: [u64; 2] = [0xaaaa_aaaa_aaaa_aaaa, 0xaaaa_aaaa_aaaa];

    #[test]
    fn the_format_tells_how_many_bits_there_are() {
        let bits = |format| Tags::of_format(format).bits;
        assert_eq!(FORMATS.map(bits), [64, 48]);
        assert_eq!((bits(0x5555_5555_5555_5555), bits(0), bits(u64::MAX)), (64, 0, 64));
        assert!(Tags { bits: 48 }.are_enough() && !Tags { bits: 42 }.are_enough());
    }

    /// Tests both formats. 64 bits: 2 of kind, 1, 8 of sender, 21 of context, 32 of tag. 48 bits: no sender, 13 of
    /// context.
    #[test]
    fn contexts_and_tags_come_back_and_too_large_ones_are_refused() {
        for (format, contexts) in FORMATS.into_iter().zip([1 << 21, 1 << 13]) {
            let tags = Tags::of_format(format);
            for (context, tag) in [(0, 0), (5, u32::MAX), (contexts - 1, 1 << 31)] {
                for is_long in [false, true] {
                    let all = tags.message(255, context, tag, is_long).unwrap();
                    assert_eq!(tags.parts(all), (context, tag, is_long));
                }
            }
            assert!(tags.message(0, contexts, 0, false).unwrap_err().to_string().contains("room"));
        }
    }

    #[test]
    fn words_beside_tags_come_back() {
        let (sender, number) = (255, ImmediateData::NUMBERS - 1);
        for bytes in [0, ImmediateData::BYTES_MAX, 1 << 33] {
            let rts = ImmediateData::Rts { sender, number, bytes };
            assert_eq!(ImmediateData::of_rts(rts.to_word()), rts);
            let cts = ImmediateData::Cts { sender, number, bytes };
            assert_eq!(ImmediateData::of_engine(cts.to_word()), Some(cts));
        }
        for word in [ImmediateData::Left(3), ImmediateData::Goodbye(sender)] {
            assert_eq!(ImmediateData::of_engine(word.to_word()), Some(word));
        }
        assert_eq!(ImmediateData::sender(ImmediateData::Sender(77).to_word()), 77);
        assert_eq!(ImmediateData::of_engine(3 << 24), None);
    }

    fn matches((tag, ignored): (u64, u64), message: u64) -> bool {
        (tag ^ message) & !ignored == 0
    }

    #[test]
    fn the_receives_for_messages_take_all_of_these_and_nothing_of_another_kind() {
        for format in FORMATS {
            let tags = Tags::of_format(format);
            for (context, tag, is_long) in [(6, 9, true), (0, 0, false), (7, u32::MAX, true)] {
                let message = tags.message(3, context, tag, is_long).unwrap();
                assert!(matches(tags.receive_any(), message));
            }
            for other in [tags.data(3, 9), tags.word()] {
                assert!(!matches(tags.receive_any(), other));
            }
            assert!(!matches((tags.data(3, 9), 0), tags.data(3, 8)));
        }
    }
}
