//! The handshake by which two processes prove that they belong to the same run, before anything else is sent.
//!
//! The caller, which connects, sends a hello: version, rank, the rank that it wants, and a random number. The other
//! side answers with a random number of its own and a proof over both. The caller answers with its own proof over both,
//! and gets a byte that says whether it is accepted. Neither sends the secret. A recording of the exchange is useless,
//! because both numbers are new each time. What follows is not encrypted.
//!
//! A caller that loses its connection before that byte has lost its place to other callers, and calls again.
//!
//! Processes of other runs prove that they know the secret of the process that they call, and send their name.

mod accept;
mod connect;

pub(crate) use accept::Acceptor;
pub(crate) use connect::{Call, ConnectError, connect};

use std::time::Duration;

use contract::ProcessName;

use crate::secret::{PROOF_BYTES, Proof, Secret};

const MAGIC: [u8; 8] = *b"CNRSTONE";
/// Version of the protocol, which changes with every change of what processes send, here and later.
pub(crate) const PROTOCOL_VERSION: u32 = 5;
const NONCE_BYTES: usize = 32;
const HELLO_BYTES: usize = 8 + 4 + 4 + 4 + 4 + NONCE_BYTES;
const ANSWER_BYTES: usize = 8 + 4 + NONCE_BYTES + PROOF_BYTES;
const WELCOME: u8 = 1;
/// For a caller that knows the secret and wants something that there is not, such as a port that was closed.
const REFUSED: u8 = 2;
/// Time limit for the processes of a run to connect, and for a caller that loses its place to others to call again.
pub(crate) const MEET_LIMIT: Duration = Duration::from_secs(60);

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Messages between two ranks.
    Messages,
    /// Messages between a rank and the process that started the run.
    Control,
    /// Messages between a process that has started the ranks of its host and the process that started the run.
    Host,
    /// Messages between two processes of any runs.
    Process,
    /// A question whether a port of a process is open, which also makes the caller known to it.
    Port,
}

impl Purpose {
    const ALL: [Purpose; 5] =
        [Purpose::Messages, Purpose::Control, Purpose::Host, Purpose::Process, Purpose::Port];

    /// Returns the length of the caller's description that follows its proof.
    fn description_bytes(self) -> usize {
        match self {
            Purpose::Process | Purpose::Port => ProcessName::BYTES,
            _ => 0,
        }
    }
}

/// The caller, its purpose, and the rank that it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) purpose: Purpose,
    pub(crate) rank: usize,
    /// The wanted rank; for control, the caller's own. For a host, both are its first rank. For a question about a
    /// port, the port.
    pub(crate) wanted: usize,
}

/// The first message of a caller.
#[derive(Clone, Copy)]
struct Hello {
    version: u32,
    caller: Caller,
    nonce: [u8; NONCE_BYTES],
}

/// The first message to a caller.
#[derive(Clone, Copy)]
struct Answer {
    version: u32,
    nonce: [u8; NONCE_BYTES],
    proof: Proof,
}

/// Returns the proof of one side. The role distinguishes the proofs of both sides.
fn proof(secret: &Secret, role: &[u8], hello: &[u8; HELLO_BYTES], nonce: &[u8]) -> Proof {
    secret.prove(&[role, hello, nonce])
}

fn is_proof(
    found: &Proof,
    secret: &Secret,
    role: &[u8],
    hello: &[u8; HELLO_BYTES],
    nonce: &[u8],
) -> bool {
    secret.is_proof(found, &[role, hello, nonce])
}

const ACCEPTED: &[u8] = b"accepted";
const CALLED: &[u8] = b"called";

impl Hello {
    fn to_bytes(self) -> [u8; HELLO_BYTES] {
        let mut bytes = [0; HELLO_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        let place = Purpose::ALL.iter().position(|&one| one == self.caller.purpose);
        let purpose = place.expect("all purposes are in the list") as u32 + 1;
        let words = [self.version, purpose, self.caller.rank as u32, self.caller.wanted as u32];
        for (place, word) in bytes[8..24].chunks_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[24..].copy_from_slice(&self.nonce);
        bytes
    }

    /// Reads a hello, or returns `None` if the bytes are not one. In a hello of another version, only the version is
    /// valid.
    fn from_bytes(bytes: &[u8; HELLO_BYTES]) -> Option<Self> {
        let word = |index: usize| {
            let at = 8 + 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let purpose = *Purpose::ALL.get((word(1) as usize).checked_sub(1)?)?;
        let caller = Caller { purpose, rank: word(2) as usize, wanted: word(3) as usize };
        let nonce = bytes[24..].try_into().ok()?;
        (bytes[..8] == MAGIC).then_some(Hello { version: word(0), caller, nonce })
    }
}

impl Answer {
    fn to_bytes(self) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..12 + NONCE_BYTES].copy_from_slice(&self.nonce);
        bytes[12 + NONCE_BYTES..].copy_from_slice(&self.proof);
        bytes
    }

    fn from_bytes(bytes: &[u8; ANSWER_BYTES]) -> Option<Self> {
        let version = u32::from_le_bytes(bytes[8..12].try_into().ok()?);
        let nonce = bytes[12..12 + NONCE_BYTES].try_into().ok()?;
        let proof = bytes[12 + NONCE_BYTES..].try_into().ok()?;
        (bytes[..8] == MAGIC).then_some(Answer { version, nonce, proof })
    }
}

#[cfg(test)]
mod tests;
