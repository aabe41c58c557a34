//! The requests of a member to another by message, as bytes.

use super::update::{Action, Stretch};
use endpoint::{AccessKind, RemoteAccess, Untrusted};

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Update(Action),
    Share,
    Take,
    GiveUpShared,
    GiveUpExclusive,
    Notify(u32),
}

/// The head of a request: its kind, the ticket of its answer, and whether the answer has the old bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: Kind,
    pub(super) ticket: u32,
    pub(super) fetches: bool,
    pub(super) stretches: u32,
}

const HEAD_BYTES: usize = 20;
const STRETCH_BYTES: usize = 16;

/// Returns a kind as a word, with its code in another.
fn to_words(kind: Kind) -> [u32; 2] {
    match kind {
        Kind::Update(Action::Replace) => [0, 0],
        Kind::Update(Action::Nothing) => [1, 0],
        Kind::Update(Action::Combine(code)) => [2, code],
        Kind::Update(Action::CompareAndSwap(code)) => [3, code],
        Kind::Share => [4, 0],
        Kind::Take => [5, 0],
        Kind::GiveUpShared => [6, 0],
        Kind::GiveUpExclusive => [7, 0],
        Kind::Notify(number) => [8, number],
    }
}

fn from_words([kind, code]: [u32; 2]) -> Option<Kind> {
    Some(match kind {
        0 => Kind::Update(Action::Replace),
        1 => Kind::Update(Action::Nothing),
        2 => Kind::Update(Action::Combine(code)),
        3 => Kind::Update(Action::CompareAndSwap(code)),
        4 => Kind::Share,
        5 => Kind::Take,
        6 => Kind::GiveUpShared,
        7 => Kind::GiveUpExclusive,
        8 => Kind::Notify(code),
        _ => return None,
    })
}

/// Returns a request as bytes.
pub(super) fn write(
    (kind, ticket, fetches): (Kind, u32, bool),
    stretches: &[Stretch],
    operand: &[u8],
) -> Vec<u8> {
    let bytes = HEAD_BYTES + stretches.len() * STRETCH_BYTES + operand.len();
    let mut message = Vec::with_capacity(bytes);
    let [word, code] = to_words(kind);
    for word in [word, code, ticket, u32::from(fetches), stretches.len() as u32] {
        message.extend(word.to_ne_bytes());
    }
    for stretch in stretches {
        message.extend(stretch.offset.to_ne_bytes());
        message.extend(stretch.bytes.to_ne_bytes());
    }
    message.extend(operand);
    message
}

/// The stretches of a request, before the server has compared them with the memory.
pub(super) type RequestedStretches = Vec<Untrusted<Stretch>>;

/// Returns the head of a request, its stretches and its operand, or `None` if it is not a request.
pub(super) fn read(message: &[u8]) -> Option<(Head, RequestedStretches, &[u8])> {
    let (head, rest) = message.split_at_checked(HEAD_BYTES)?;
    let (words, _) = head.as_chunks::<4>();
    let word = |index: usize| u32::from_ne_bytes(words[index]);
    let kind = from_words([word(0), word(1)])?;
    let head = Head { kind, ticket: word(2), fetches: word(3) != 0, stretches: word(4) };
    let (stretches, operand) = rest.split_at_checked(head.stretches as usize * STRETCH_BYTES)?;
    let (pairs, _) = stretches.as_chunks::<STRETCH_BYTES>();
    let stretch = |pair: &[u8; STRETCH_BYTES]| {
        let (words, _) = pair.as_chunks::<8>();
        let [offset, bytes] = [0, 1].map(|index: usize| u64::from_ne_bytes(words[index]));
        Untrusted::new(Stretch { offset, bytes })
    };
    Some((head, pairs.iter().map(stretch).collect(), operand))
}

/// Returns the access of a request, for the network: its kind, and the data in both directions.
pub(super) fn access(kind: Kind, there_bytes: usize, back_bytes: usize) -> RemoteAccess {
    let kind = match kind {
        Kind::Update(Action::Replace) if back_bytes == 0 => AccessKind::Put,
        Kind::Update(Action::Nothing) => AccessKind::Get,
        _ => AccessKind::Update,
    };
    RemoteAccess { kind, there_bytes: there_bytes as u64, back_bytes: back_bytes as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_as_bytes() {
        let stretches = [Stretch { offset: 8, bytes: 2 }, Stretch { offset: 1 << 40, bytes: 1 }];
        for kind in [
            Kind::Update(Action::Replace),
            Kind::Update(Action::Nothing),
            Kind::Update(Action::Combine(77)),
            Kind::Update(Action::CompareAndSwap(3)),
            Kind::Share,
            Kind::Take,
            Kind::GiveUpShared,
            Kind::GiveUpExclusive,
            Kind::Notify(9),
        ] {
            let message = write((kind, 5, true), &stretches, &[1, 2, 3]);
            let (head, found, operand) = read(&message).unwrap();
            assert_eq!(head, Head { kind, ticket: 5, fetches: true, stretches: 2 });
            assert_eq!((found, operand), (stretches.map(Untrusted::new).into(), &[1, 2, 3][..]));
            assert_eq!(read(&message[..HEAD_BYTES + 20]), None);
        }
        assert_eq!(read(&[9; 20]), None);
    }
}
