//! Errors of services.

use crate::field_kind::FieldKind;
use crate::medium::{Medium, ReceiveMode};
use crate::ring_call::RingCall;

/// The result of a call of a service.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call of a service failed. All but [`Fabric`](Error::Fabric) and [`Malformed`](Error::Malformed) are mistakes
/// of the caller: nothing has happened, and the service can still be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The fabric failed, or a rank died. The run cannot continue.
    #[error(transparent)]
    Fabric(#[from] contract::Error),
    /// A handler's number that is registered on one rank and not on another.
    #[error("handler {handler} is registered on rank {with} and not on rank {without}")]
    HandlersDiffer {
        /// The handler's number.
        handler: u8,
        /// The lowest rank that has it.
        with: usize,
        /// The lowest rank that lacks it.
        without: usize,
    },
    /// A handler that is not registered.
    #[error("handler {handler} is not registered")]
    NotRegistered {
        /// The number that was called.
        handler: u8,
    },
    /// More words than a message carries.
    #[error("{words} words where a message carries at most {}", crate::WORDS_MAX)]
    TooManyWords {
        /// The words given.
        words: usize,
    },
    /// More data than a medium message carries.
    #[error(
        "{bytes} bytes where a medium message carries at most {}; use a long one",
        crate::MEDIUM_BYTES_MAX
    )]
    TooMuchData {
        /// The bytes given.
        bytes: usize,
    },
    /// A long message for memory beyond the end of the receiver's segment.
    #[error(
        "{bytes} bytes at offset {offset} are outside the segment of rank {to}, which has {segment_bytes} bytes"
    )]
    OutsideSegment {
        /// The receiver.
        to: usize,
        /// The offset in its segment.
        offset: u64,
        /// The number of bytes.
        bytes: u64,
        /// The length of the segment.
        segment_bytes: u64,
    },
    /// A handler that replies twice.
    #[error("a handler may send one reply, and this one has sent it")]
    SecondReply,
    /// The handler of a reply that replies.
    #[error("the handler of a reply may send nothing")]
    ReplyToReply,
    /// A handler that returned an error.
    #[error("handler {handler}, called by rank {from}: {error}")]
    Handler {
        /// Its number.
        handler: u8,
        /// The rank whose message it was called for.
        from: usize,
        /// Its error.
        error: Box<Error>,
    },
    /// A message that no service sends: a fault in this program.
    #[error("a message from rank {from} cannot be read: {what}")]
    Malformed {
        /// The sender.
        from: usize,
        /// The mistake in it.
        what: String,
    },
    /// A tuple or template that does not fit a message.
    #[error(
        "a tuple or template of {bytes} bytes and {fields} fields does not fit a message of {} bytes and 255 fields",
        crate::MEDIUM_BYTES_MAX
    )]
    TupleTooLong {
        /// Its length as it is sent, with a byte for its fields and one for each, and two before words and bytes.
        bytes: usize,
        /// The number of its fields.
        fields: usize,
    },
    /// A field of another type, or none at all.
    #[error(
        "field {index} of a tuple is {} where {wanted:?} is wanted",
        found.map_or("missing".into(), |kind| format!("{kind:?}"))
    )]
    WrongField {
        /// Its place, from 0.
        index: usize,
        /// The type asked for.
        wanted: FieldKind,
        /// The type that it has.
        found: Option<FieldKind>,
    },
    /// A tuple space that holds as many tuples as it may.
    #[error("the tuple space is full: it may hold {capacity} tuples")]
    SpaceFull {
        /// The maximum of tuples.
        capacity: usize,
    },
    /// An operation of a rank that has not joined the tuple space, or has left it.
    #[error("this rank has not joined the tuple space")]
    NotMember,
    /// A wait for a tuple that no rank can put any more.
    #[error("no tuple can come any more: every rank waits for one or has closed the tuple space")]
    NobodyLeft,
    /// A lease that has run out.
    #[error("the lease has run out, and the tuple is back in the space")]
    LeaseLost,
    /// A tuple that is to be computed by a function that this rank does not have.
    #[error("a tuple is to be computed by function {function}, which this rank does not have")]
    NoFunction {
        /// The number of the function.
        function: u32,
    },
    /// A buffer without words, or with more than a buffer has.
    #[error("{words} words where a buffer has 1 to {}", crate::BUFFER_WORDS_MAX)]
    WordCount {
        /// The words given.
        words: usize,
    },
    /// A SEND to a rank that expects nothing from this one over this medium, or a RECV from one that this rank does not
    /// expect.
    #[error("rank {rank} is no partner over {medium}: its receiver has not named the pair")]
    UnknownPartner {
        /// The partner.
        rank: usize,
        /// The medium.
        medium: Medium,
    },
    /// A partner that is to be received from in both modes.
    #[error("both modes are given for buffers of rank {from} over {medium}; a pair has one")]
    MixedModes {
        /// The sender.
        from: usize,
        /// The medium.
        medium: Medium,
    },
    /// Another rank gave partners that were refused.
    #[error("rank {by} has named partners that were refused, so SEND and RECV are not open")]
    PartnersRefused {
        /// The lowest such rank.
        by: usize,
    },
    /// A RECV in the other mode.
    #[error("{called} receive from rank {from} over {medium}, which was opened in the other mode")]
    OtherMode {
        /// The sender.
        from: usize,
        /// The medium.
        medium: Medium,
        /// The mode of the call.
        called: ReceiveMode,
    },
    /// A buffer that came with another checksum than that of its words.
    #[error(
        "buffer {number} of rank {from} over {medium} came with checksum {sent:#06x}, and its words have {found:#06x}"
    )]
    Checksum {
        /// The sender.
        from: usize,
        /// The medium.
        medium: Medium,
        /// The number of the buffer among the sender's SENDs, from 0.
        number: u32,
        /// The checksum that came.
        sent: u16,
        /// That of the words that came.
        found: u16,
    },
    /// More ranks than a ring has addresses.
    #[error(
        "a ring has at most {} nodes, for an address is a bit of a 32-bit word, and there are {ranks} ranks",
        crate::RING_NODES_MAX
    )]
    RingTooLong {
        /// The ranks.
        ranks: usize,
    },
    /// A message to or from nodes that are none, or the node itself.
    #[error(
        "nodes {destinations:#b} are no other nodes of a ring of {nodes}: node {me} sends to and receives from the others"
    )]
    NotOnRing {
        /// A bit for each node that was named.
        destinations: u32,
        /// The node that called.
        me: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A message that was longer than the room for it.
    #[error(
        "a message of {bytes} bytes with tag {tag} from node {from} came into a room of {room_bytes} bytes"
    )]
    RingMessageTooLong {
        /// Its sender.
        from: usize,
        /// Its tag.
        tag: u32,
        /// Its length.
        bytes: usize,
        /// That of the room.
        room_bytes: usize,
    },
    /// Nodes that called different collectives.
    #[error("node {node} has called {other} where node 0 has called {first}")]
    RingCallsDiffer {
        /// What node 0 called.
        first: RingCall,
        /// The first node that called something else.
        node: usize,
        /// What it called.
        other: RingCall,
    },
    /// A mistake that a handler of the program found.
    #[error("{0}")]
    Program(String),
}

impl Error {
    /// The same as an error of the contract, for a program that ends with it. This is no `From`: with a second one, `?`
    /// in a program over the contract alone would no longer say which error is meant.
    pub fn into_contract(self) -> contract::Error {
        match self {
            Error::Fabric(error) => error,
            other => contract::Error::Program(other.to_string()),
        }
    }
}
