//! Errors of services.

use crate::field_kind::FieldKind;
use crate::medium::{Medium, ReceiveMode};
use crate::ring_call::RingCall;

/// The result of a call of a service.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call of a service failed. All but [`Fabric`](Error::Fabric) and [`Malformed`](Error::Malformed) are
/// mistakes of the caller: nothing has happened, and the service can still be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The fabric failed, or a rank died. The run cannot continue.
    #[error(transparent)]
    Fabric(#[from] contract::Error),
    /// A handler's number is registered on one rank and not on another.
    #[error("handler {handler} is registered on rank {with} and not on rank {without}")]
    HandlersDiffer {
        /// The handler's number.
        handler: u8,
        /// The lowest rank that has it.
        with: usize,
        /// The lowest rank that lacks it.
        without: usize,
    },
    /// A handler is not registered.
    #[error("handler {handler} is not registered")]
    NotRegistered {
        /// The number that was called.
        handler: u8,
    },
    /// There are more words than a message carries.
    #[error("{words} words where a message carries at most {}", crate::WORDS_MAX)]
    TooManyWords {
        /// Number of given words.
        words: usize,
    },
    /// There are more data than a medium message carries.
    #[error(
        "{bytes} bytes where a medium message carries at most {}; use a long one",
        crate::MEDIUM_BYTES_MAX
    )]
    TooMuchData {
        /// Number of given bytes.
        bytes: usize,
    },
    /// A long message is for memory beyond the end of the receiver's segment.
    #[error(
        "{bytes} bytes at offset {offset} are outside the segment of rank {to}, which has {segment_bytes} bytes"
    )]
    OutsideSegment {
        /// The receiver.
        to: usize,
        /// The offset in its segment.
        offset: u64,
        /// Number of bytes.
        bytes: u64,
        /// Length of the segment.
        segment_bytes: u64,
    },
    /// A handler replies twice.
    #[error("a handler may send one reply, and this one has sent it")]
    SecondReply,
    /// The handler of a reply replies.
    #[error("the handler of a reply may send nothing")]
    ReplyToReply,
    /// A handler returned an error.
    #[error("handler {handler}, called by rank {from}: {error}")]
    Handler {
        /// Its number.
        handler: u8,
        /// The rank that sent the message.
        from: usize,
        /// Its error.
        error: Box<Error>,
    },
    /// No service sends such a message. This is a fault in this program.
    #[error("a message from rank {from} cannot be read: {what}")]
    Malformed {
        /// The sender.
        from: usize,
        /// The mistake in it.
        what: String,
    },
    /// A tuple or template does not fit a message.
    #[error(
        "a tuple or template of {bytes} bytes and {fields} fields does not fit a message of {} bytes and 255 fields",
        crate::MEDIUM_BYTES_MAX
    )]
    TupleTooLong {
        /// Its length as a message, with a byte for its fields and one for each, and two before words and bytes.
        bytes: usize,
        /// Number of its fields.
        fields: usize,
    },
    /// A field has another type, or does not exist.
    #[error(
        "field {index} of a tuple is {} where {wanted:?} is wanted",
        found.map_or("missing".into(), |kind| format!("{kind:?}"))
    )]
    WrongField {
        /// Its place, from 0.
        index: usize,
        /// The requested type.
        wanted: FieldKind,
        /// Its type, if it exists.
        found: Option<FieldKind>,
    },
    /// A tuple space holds as many tuples as it may.
    #[error("the tuple space is full: it may hold {capacity} tuples")]
    SpaceFull {
        /// Maximum number of tuples.
        capacity: usize,
    },
    /// A rank that has not joined the tuple space, or has left it, uses it.
    #[error("this rank has not joined the tuple space")]
    NotMember,
    /// A wait for a tuple can never end, because no rank can put one any more.
    #[error("no tuple can come any more: every rank waits for one or has closed the tuple space")]
    NoProducerLeft,
    /// A lease has expired.
    #[error("the lease has run out, and the tuple is back in the space")]
    LeaseLost,
    /// This rank does not have the function that computes a tuple.
    #[error("a tuple is to be computed by function {function}, which this rank does not have")]
    NoFunction {
        /// The number of the function.
        function: u32,
    },
    /// A buffer has no words, or more than a buffer may have.
    #[error("{words} words where a buffer has 1 to {}", crate::BUFFER_WORDS_MAX)]
    WordCount {
        /// Number of given words.
        words: usize,
    },
    /// SEND names a rank that does not expect buffers from this one over this medium, or RECV one from which this rank
    /// expects none.
    #[error("rank {rank} is no partner over {medium}: its receiver has not named the pair")]
    UnknownPartner {
        /// The partner.
        rank: usize,
        /// The medium.
        medium: Medium,
    },
    /// Both modes are given for a partner.
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
    /// RECV was called in the other mode.
    #[error("{called} receive from rank {from} over {medium}, which was opened in the other mode")]
    OtherMode {
        /// The sender.
        from: usize,
        /// The medium.
        medium: Medium,
        /// The mode of the call.
        called: ReceiveMode,
    },
    /// The checksum of a buffer is not that of its words.
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
        /// The received checksum.
        sent: u16,
        /// The checksum of the received words.
        found: u16,
    },
    /// There are more ranks than a ring has addresses.
    #[error(
        "a ring has at most {} nodes, for an address is a bit of a 32-bit word, and there are {ranks} ranks",
        crate::RING_NODES_MAX
    )]
    RingTooLong {
        /// Number of ranks.
        ranks: usize,
    },
    /// A message to or from nodes names no node, the node itself or one that does not exist.
    #[error(
        "nodes {destinations:#b} are no other nodes of a ring of {nodes}: node {me} sends to and receives from the others"
    )]
    NotOnRing {
        /// A bit for each named node.
        destinations: u32,
        /// The node that called.
        me: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// A message was longer than the room for it.
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
        /// Length of the room.
        room_bytes: usize,
    },
    /// Nodes called different collectives.
    #[error("node {node} has called {other} where node 0 has called {first}")]
    RingCallsDiffer {
        /// The call of node 0.
        first: RingCall,
        /// The first node that called another collective.
        node: usize,
        /// Its call.
        other: RingCall,
    },
    /// A mistake that a handler of the program found.
    #[error("{0}")]
    Program(String),
}

impl Error {
    /// Converts this to an error of the contract, for a program that ends with it. This is no `From`, because with a
    /// second one, `?` in a program over the contract alone would be ambiguous.
    pub fn into_contract(self) -> contract::Error {
        match self {
            Error::Fabric(error) => error,
            other => contract::Error::Program(other.to_string()),
        }
    }
}
