//! The buffers of a benchmark, the data that are sent from them, and the check of the received data.

use std::collections::VecDeque;

use contract::collective::Algorithm;
use contract::{Buffer, Error, Posted, Result};

use crate::contents::{check_block, fill};
use crate::shape::{Role, Shape};

/// Numbers of blocks of the message size that a rank has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Number of blocks from which it sends.
    pub(crate) send: usize,
    /// Number of blocks into which it receives.
    pub(crate) receive: usize,
    /// Number of buffers, of one block each, from which sends are posted, and of as many for receives.
    pub(crate) posted: usize,
}

/// Contents of the blocks of the receive buffer after an event.
#[derive(Clone, Copy)]
pub(crate) enum Received {
    /// Nothing that can be checked.
    Nothing,
    /// Blocks of other ranks. The function returns for each block the rank that sent it, and the block's number in that
    /// rank's send buffer.
    Blocks(fn(&Shape, usize) -> (usize, usize)),
    /// As `Blocks`, but ranks send from the receive buffer itself, so this rank's own blocks are there from the
    /// beginning.
    InPlace(fn(&Shape, usize) -> (usize, usize)),
    /// Sums of the data that ranks send, as double-precision numbers.
    Sum(fn(&Shape) -> Addends),
}

impl Received {
    /// The sum of the first block of every rank.
    pub(crate) const SUM: Received =
        Received::Sum(|shape| Addends { ranks: shape.ranks, first: 0 });
}

/// Operands of the sums at a rank.
#[derive(Clone, Copy)]
pub(crate) struct Addends {
    /// Number of ranks whose elements are added, from rank 0 on. If it is 0, nothing is received.
    pub(crate) ranks: usize,
    /// Index of the first of their elements.
    pub(crate) first: usize,
}

/// Data of an event.
pub(crate) struct Data {
    /// Shape of the measurement at this rank.
    pub(crate) shape: Shape,
    /// Role of this rank in it.
    pub(crate) role: Role,
    /// The other rank of the pair, if this rank belongs to it.
    pub(crate) peer: usize,
    /// Buffer from which data are sent; events do not change it.
    pub(crate) send: Buffer,
    /// Buffer into which data are received.
    pub(crate) receive: Buffer,
    /// Buffers for posted sends, with the content of `send`; every event takes and returns them.
    pub(crate) outgoing: VecDeque<Buffer>,
    /// Buffers for posted receives. Afterwards their content must be that required of `receive`.
    pub(crate) incoming: VecDeque<Buffer>,
    /// Room for the handles of posted receives and sends; empty between events.
    pub(crate) posted: VecDeque<(Posted, Posted)>,
    /// Count for use by an event.
    pub(crate) counter: u64,
    /// Algorithm over messages of a collective; `None` if the fabric chooses.
    pub(crate) algorithm: Option<Algorithm>,
}

/// Value of the bytes of a receive buffer before anything was received.
const POISON: u8 = 0xA5;

impl Blocks {
    pub(crate) const NONE: Blocks = Blocks { send: 0, receive: 0, posted: 0 };

    /// Returns the number of bytes of the blocks.
    pub(crate) fn bytes(self, size: u64) -> u64 {
        let count = self.send.saturating_add(self.receive).saturating_add(2 * self.posted);
        size.saturating_mul(count as u64)
    }
}

impl Data {
    /// Creates the buffers. Send buffers contain the data to send, receive buffers poison.
    pub(crate) fn new(shape: Shape, blocks: Blocks, received: Received, seed: u64) -> Result<Self> {
        let room = |count: usize| {
            let bytes = shape.size.checked_mul(count).ok_or_else(|| Error::OutOfMemory {
                what: "a message buffer".into(),
                bytes: u64::MAX,
            })?;
            Buffer::try_zeroed(bytes)
        };
        let mut send = room(blocks.send)?;
        let mut receive = room(blocks.receive)?;
        match received {
            Received::Sum(_) => {
                let numbers = send.elements_mut::<f64>().iter_mut().zip(0..);
                numbers.for_each(|(number, index)| *number = addend(shape.me, index));
            }
            _ => own_blocks(&mut send, &shape, |shape, block| (shape.me, block), seed),
        }
        receive.fill(POISON);
        if let Received::InPlace(origin) = received {
            own_blocks(&mut receive, &shape, origin, seed);
        }
        let mut outgoing = posted_buffers(&shape, blocks.posted)?;
        outgoing.iter_mut().for_each(|buffer| fill(buffer, seed, shape.me, 0));
        let mut incoming = posted_buffers(&shape, blocks.posted)?;
        incoming.iter_mut().for_each(|buffer| buffer.fill(POISON));
        let (role, peer) = (shape.role(), shape.peer());
        let posted = VecDeque::with_capacity(blocks.posted);
        Ok(Data {
            shape,
            role,
            peer,
            send,
            receive,
            outgoing,
            incoming,
            posted,
            counter: 0,
            algorithm: None,
        })
    }

    /// Checks the received data.
    ///
    /// # Errors
    /// [`Error::Program`] names the first wrong byte.
    pub(crate) fn check(&self, received: Received, seed: u64) -> Result<()> {
        match received {
            Received::Nothing => Ok(()),
            Received::Sum(of) => self.check_sum(of(&self.shape)),
            Received::Blocks(origin) | Received::InPlace(origin) => self.check_blocks(origin, seed),
        }
    }

    fn check_blocks(&self, origin: fn(&Shape, usize) -> (usize, usize), seed: u64) -> Result<()> {
        let received = self.receive.chunks_exact(self.shape.size.max(1)).enumerate();
        let posted = self.incoming.iter().map(|buffer| (0, &buffer[..]));
        for (block, found) in received.chain(posted) {
            let origin = origin(&self.shape, block);
            check_block(found, seed, origin, &format!("block {block}"), self.shape.me)?;
        }
        Ok(())
    }

    fn check_sum(&self, Addends { ranks, first }: Addends) -> Result<()> {
        if ranks == 0 {
            return Ok(());
        }
        // Rank r adds r + 1 times the same number, so the sum is that number times 1 + 2 + ... + ranks.
        let once: f64 = (1..=ranks).map(|rank| rank as f64).sum();
        for (index, &found) in self.receive.elements::<f64>().iter().enumerate() {
            let sum = once * addend(0, first + index);
            if found != sum {
                return Err(Error::Program(format!(
                    "wrong data: element {index} at rank {} is {found} where the sum is {sum}",
                    self.shape.me
                )));
            }
        }
        Ok(())
    }
}

fn posted_buffers(shape: &Shape, count: usize) -> Result<VecDeque<Buffer>> {
    (0..count).map(|_| Buffer::try_zeroed(shape.size)).collect()
}

fn own_blocks(
    buffer: &mut Buffer,
    shape: &Shape,
    origin: fn(&Shape, usize) -> (usize, usize),
    seed: u64,
) {
    for (index, block) in buffer.chunks_exact_mut(shape.size.max(1)).enumerate() {
        let (from, theirs) = origin(shape, index);
        if from == shape.me {
            fill(block, seed, from, theirs);
        }
    }
}

/// Returns a small whole number. Sums of them are exact in any order of addition.
fn addend(rank: usize, index: usize) -> f64 {
    ((rank + 1) * (index % 97 + 1)) as f64
}

#[cfg(test)]
mod tests {
    use record::Parameters;

    use super::*;

    const SEED: u64 = 7;

    fn shape(ranks: usize, me: usize, size: usize) -> Shape {
        Shape::new(ranks, me, size, &Parameters::new())
    }

    #[test]
    fn what_was_never_received_is_found() {
        let blocks = Blocks { send: 1, receive: 2, posted: 0 };
        let received = Received::Blocks(|_, block| (block, 0));
        let data = Data::new(shape(2, 0, 16), blocks, received, SEED).unwrap();
        assert!(data.check(received, SEED).is_err());
    }

    #[test]
    fn the_first_wrong_byte_is_named() {
        let blocks = Blocks { send: 1, receive: 2, posted: 0 };
        let received = Received::Blocks(|_, block| (block, 0));
        let mut data = Data::new(shape(2, 0, 16), blocks, received, SEED).unwrap();
        for rank in 0..2 {
            fill(&mut data.receive[rank * 16..][..16], SEED, rank, 0);
        }
        assert_eq!(data.check(received, SEED), Ok(()));
        data.receive[16 + 5] ^= 0x10;
        let words = data.check(received, SEED).unwrap_err().to_string();
        assert!(words.starts_with("wrong data: byte 5 of block 1 at rank 0 is 0x"), "{words}");
        assert!(words.contains("where rank 1 sent 0x"), "{words}");
    }

    #[test]
    fn in_place_only_the_own_block_is_there_from_the_beginning() {
        let blocks = Blocks { receive: 3, ..Blocks::NONE };
        let received = Received::InPlace(|_, block| (block, block));
        let mut data = Data::new(shape(3, 1, 8), blocks, received, SEED).unwrap();
        assert_eq!(data.receive[..8], [POISON; 8]);
        for rank in [0, 2] {
            assert!(data.check(received, SEED).is_err());
            fill(&mut data.receive[rank * 8..][..8], SEED, rank, rank);
        }
        assert_eq!(data.check(received, SEED), Ok(()));
    }

    #[test]
    fn sums_are_those_of_all_ranks() {
        let blocks = Blocks { send: 1, receive: 1, posted: 0 };
        let mut data = Data::new(shape(3, 0, 16), blocks, Received::SUM, SEED).unwrap();
        // Elements 0 and 1 of rank r are r + 1 and 2 (r + 1): their sums over three ranks are 6 and 12.
        assert_eq!(data.send.elements::<f64>(), [1.0, 2.0]);
        data.receive.elements_mut::<f64>().copy_from_slice(&[6.0, 12.0]);
        assert_eq!(data.check(Received::SUM, SEED), Ok(()));
        data.receive.elements_mut::<f64>()[1] = 11.0;
        let words = data.check(Received::SUM, SEED).unwrap_err().to_string();
        assert_eq!(words, "wrong data: element 1 at rank 0 is 11 where the sum is 12");
    }

    #[test]
    fn sums_may_be_of_the_first_ranks_and_begin_at_any_element() {
        // Rank r sends r + 1 times 1, 2, 3, 4. For ranks 0 and 1 the sums of elements 2 and 3 are 3 * 3 and 3 * 4.
        let received = Received::Sum(|_| Addends { ranks: 2, first: 2 });
        let blocks = Blocks { send: 2, receive: 1, posted: 0 };
        let mut data = Data::new(shape(3, 1, 16), blocks, received, SEED).unwrap();
        data.receive.elements_mut::<f64>().copy_from_slice(&[9.0, 12.0]);
        assert_eq!(data.check(received, SEED), Ok(()));
        data.receive.elements_mut::<f64>().copy_from_slice(&[3.0, 6.0]);
        assert!(data.check(received, SEED).is_err());
        // Without addends nothing is received.
        assert_eq!(data.check(Received::Sum(|_| Addends { ranks: 0, first: 0 }), SEED), Ok(()));
    }

    #[test]
    fn posted_buffers_are_checked_too() {
        let blocks = Blocks { posted: 2, ..Blocks::NONE };
        let received = Received::Blocks(|shape, _| (shape.peer(), 0));
        let mut data = Data::new(shape(2, 0, 8), blocks, received, SEED).unwrap();
        assert!(data.check(received, SEED).is_err());
        data.incoming.iter_mut().for_each(|buffer| fill(buffer, SEED, 1, 0));
        assert_eq!(data.check(received, SEED), Ok(()));
    }

    #[test]
    fn memory_that_cannot_be_is_an_error() {
        let blocks = Blocks { send: usize::MAX, ..Blocks::NONE };
        let failed = Data::new(shape(2, 0, 16), blocks, Received::Nothing, SEED).err();
        assert!(matches!(failed, Some(Error::OutOfMemory { .. })));
    }
}
