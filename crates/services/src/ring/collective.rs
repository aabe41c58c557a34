//! Collectives: one barrier, and then data without headers, because every node expects them (MPI-SHARC, section 3.2).

use contract::{Source, Tag, TagSelector, check_rank};

use super::RingNode;
use super::packet::{Header, Opcode};
use crate::limits::RING_PACKET_BYTES;
use crate::ring_call::RingCall;
use crate::{Error, Result};

/// The tag of data without headers.
const BARE: Tag = Tag::new(1);
/// The value in a token if no node has called another collective.
const NO_OTHER_CALL: u64 = u64::MAX;
/// Length of the token's data in words: the call of node 0, a different call, and the node that made it.
const TOKEN_WORDS: usize = 3;

/// The data of a token.
struct Token {
    called: u64,
    other: u64,
    by: u64,
}

impl Token {
    fn read(data: &[u8]) -> Option<Token> {
        let (words, rest) = data.as_chunks::<8>();
        let words: [u64; TOKEN_WORDS] = words
            .try_into()
            .map(|words: [[u8; 8]; TOKEN_WORDS]| words.map(u64::from_le_bytes))
            .ok()?;
        let [called, other, by] = words;
        rest.is_empty().then_some(Token { called, other, by })
    }

    fn write(&self) -> [u8; 8 * TOKEN_WORDS] {
        let mut bytes = [0; 8 * TOKEN_WORDS];
        let words = [self.called, self.other, self.by].map(u64::to_le_bytes);
        bytes.copy_from_slice(words.as_flattened());
        bytes
    }
}

impl RingNode<'_> {
    /// Waits until every node has called it.
    ///
    /// # Errors
    /// [`Error::RingCallsDiffer`] on all nodes, without any effect, if one of them has called another collective. Those
    /// of the fabric.
    pub fn barrier(&mut self) -> Result<()> {
        self.synchronise(RingCall::Barrier)
    }

    /// Copies `data` of node `root` to all nodes: after a barrier, in pieces of 2048 bytes that each node passes on to
    /// the next.
    ///
    /// # Errors
    /// As of [`barrier`](RingNode::barrier); also if the lengths differ.
    pub fn broadcast(&mut self, root: usize, data: &mut [u8]) -> Result<()> {
        check_rank(root, self.nodes())?;
        self.synchronise(RingCall::Broadcast { root, bytes: data.len() })?;
        let (me, left, right) = (self.me(), self.left(), self.right());
        for piece in data.chunks_mut(RING_PACKET_BYTES) {
            if me != root {
                self.rank.receive(Source::Rank(left), TagSelector::Is(BARE), piece)?;
            }
            if right != root {
                self.rank.send(right, BARE, piece)?;
            }
        }
        Ok(())
    }

    /// Puts `block` of node n into block n of `all` on every node. After a barrier there are as many steps as there are
    /// other nodes. In each step every node sends and receives a block.
    ///
    /// # Errors
    /// [`UnequalCounts`](contract::Error::UnequalCounts) if `all` does not hold a block of each node, before anything
    /// is sent; otherwise as of [`barrier`](RingNode::barrier).
    pub fn allgather(&mut self, block: &[u8], all: &mut [u8]) -> Result<()> {
        let (me, nodes, bytes) = (self.me(), self.nodes(), block.len());
        if all.len() != nodes * bytes {
            return Err(Error::Fabric(contract::Error::UnequalCounts {
                collective: "an allgather around the ring".into(),
                what: "the room for all blocks".into(),
                expected_bytes: nodes * bytes,
                found_bytes: all.len(),
            }));
        }
        self.synchronise(RingCall::Allgather { bytes })?;
        let place = |node: usize| node * bytes..(node + 1) * bytes;
        all[place(me)].copy_from_slice(block);
        let (left, right) = (Source::Rank(self.left()), self.right());
        let mut passed = block.to_vec();
        for step in 1..nodes {
            let room = &mut all[place((me + nodes - step) % nodes)];
            self.rank.send_receive((right, BARE, &passed), (left, TagSelector::Is(BARE), room))?;
            passed.copy_from_slice(room);
        }
        Ok(())
    }

    /// Calls the last collective of a ring.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.nodes() == 1 {
            return Ok(());
        }
        self.synchronise(RingCall::Close)?;
        self.end_links()
    }

    /// Passes a token round twice: it collects the nodes, and then releases them. It goes behind all packets, so that
    /// none is under way afterwards.
    fn synchronise(&mut self, call: RingCall) -> Result<()> {
        let (own, me) = (call.code(), self.me());
        if self.nodes() == 1 {
            return Ok(());
        }
        if me == 0 {
            self.pass(Opcode::Collect, &Token { called: own, other: NO_OTHER_CALL, by: 0 })?;
            let token = self.await_token(Opcode::Collect)?;
            self.pass(Opcode::Release, &token)?;
            self.flush()?;
            return self.check_agreement(&token);
        }
        let mut token = self.await_token(Opcode::Collect)?;
        if token.called != own && token.other == NO_OTHER_CALL {
            (token.other, token.by) = (own, me as u64);
        }
        self.pass(Opcode::Collect, &token)?;
        let token = self.await_token(Opcode::Release)?;
        if self.right() != 0 {
            self.pass(Opcode::Release, &token)?;
        }
        self.flush()?;
        self.check_agreement(&token)
    }

    fn pass(&mut self, opcode: Opcode, token: &Token) -> Result<()> {
        let (sources, destinations, data) = (1 << self.me(), 1 << self.right(), token.write());
        let bytes = data.len() as u16;
        self.inject(Header { sources, destinations, bytes, number: 0, opcode, tag: 0 }, &data)
    }

    fn await_token(&mut self, wanted: Opcode) -> Result<Token> {
        let from = self.left();
        loop {
            if let Some((opcode, data)) = self.links.token.take() {
                let token = Token::read(&data).filter(|_| opcode == wanted);
                let what = "it is another token than expected".into();
                return token.ok_or(Error::Malformed { from, what });
            }
            self.step()?;
        }
    }

    fn check_agreement(&self, token: &Token) -> Result<()> {
        if token.other == NO_OTHER_CALL {
            return Ok(());
        }
        let (first, other) = (RingCall::of(token.called), RingCall::of(token.other));
        Err(Error::RingCallsDiffer { first, node: token.by as usize, other })
    }
}
