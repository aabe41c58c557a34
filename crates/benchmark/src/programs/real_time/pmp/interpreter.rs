//! Executes the code sequence of a pattern's node.

use contract::{Buffer, Error, Posted, Rank, Result, Source, Time, TimeSpan};
use pattern::{Action, Cursor, Pattern, Step};

use crate::contents::{check_block, fill};
use crate::programs::common::{ITS_TAG, TAG};

/// A node of a pattern as a rank executes it.
///
/// One receive is always posted, from the sender of the message of the next `R`. The latest message stays unchanged
/// until the next one has arrived. [`Interpreter::new`] allocates all memory.
pub struct Interpreter<'a> {
    me: usize,
    seed: u64,
    actions: &'a [Action],
    sources: &'a [u32],
    /// Nodes to which a last, empty message must be sent, because their posted receive waits for this one.
    closes: Vec<usize>,
    outgoing: Buffer,
    posted: Option<Posted>,
    /// Index of the posted receive in the period.
    next: usize,
    /// Buffer of the next message but one; until then it contains the last message received.
    spare: Buffer,
    /// Sender and length of that message.
    last: Option<(usize, usize)>,
    received_bytes: u64,
    expected_bytes: u64,
    bytes_a_period: u64,
}

impl<'a> Interpreter<'a> {
    /// Creates node `me` of `pattern`, with its buffers. The sent data are drawn from `seed`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// If the pattern has no such node.
    pub fn new(pattern: &'a Pattern, me: usize, seed: u64) -> Result<Self> {
        let node = &pattern.nodes[me];
        let mut outgoing = Buffer::try_zeroed(node.totals().largest_bytes as usize)?;
        fill(&mut outgoing, seed, me, 0);
        let waits_for_me = |other: &usize| pattern.sources[*other].first() == Some(&(me as u32));
        Ok(Interpreter {
            me,
            seed,
            actions: &node.actions,
            sources: &pattern.sources[me],
            closes: (0..pattern.nodes.len()).filter(waits_for_me).collect(),
            outgoing,
            posted: None,
            next: 0,
            spare: Buffer::try_zeroed(pattern.largest_received(me) as usize)?,
            last: None,
            received_bytes: 0,
            expected_bytes: 0,
            bytes_a_period: received_a_period(pattern, me),
        })
    }

    /// Posts the first receive. Called once, before the first period.
    ///
    /// # Errors
    /// Any error of the contract.
    pub fn begin(&mut self, rank: &mut dyn Rank) -> Result<()> {
        if let Some(&source) = self.sources.first() {
            let buffer = Buffer::try_zeroed(self.spare.len())?;
            self.posted =
                Some(rank.post_receive(Source::Rank(source as usize), ITS_TAG, buffer)?);
        }
        Ok(())
    }

    /// Executes the code sequence once, in the period that begins at `start`.
    ///
    /// # Errors
    /// Any error of the contract.
    #[inline]
    pub fn period(&mut self, rank: &mut dyn Rank, start: Time, period: TimeSpan) -> Result<()> {
        let mut cursor = Cursor::default();
        while let Some((_, step)) = cursor.next(self.actions) {
            match step {
                Step::Send { to, bytes } => {
                    rank.send(to as usize, TAG, &self.outgoing[..bytes as usize])?;
                }
                Step::Receive => self.receive(rank)?,
                Step::WaitUntil { fraction } => {
                    let passed = period.as_ps() as f64 * fraction;
                    rank.wait_until(start + TimeSpan::from_ps(passed as u64));
                }
            }
        }
        self.expected_bytes += self.bytes_a_period;
        Ok(())
    }

    #[inline]
    fn receive(&mut self, rank: &mut dyn Rank) -> Result<()> {
        let Some(posted) = self.posted.take() else {
            return Err(Error::Program("a receive was waited for before one was posted".into()));
        };
        let completed = rank.wait(posted)?;
        self.last = Some((completed.status.source, completed.status.bytes));
        self.received_bytes += completed.status.bytes as u64;
        let free = std::mem::replace(&mut self.spare, completed.buffer);
        self.next = if self.next + 1 == self.sources.len() { 0 } else { self.next + 1 };
        let source = Source::Rank(self.sources[self.next] as usize);
        self.posted = Some(rank.post_receive(source, ITS_TAG, free)?);
        Ok(())
    }

    /// Takes back the posted receive, and checks the received data: the number of all bytes, and the last message byte
    /// by byte. Called once, when every rank has ended the last period.
    ///
    /// # Errors
    /// [`Error::Program`] names the difference; any error of the contract.
    pub fn finish(mut self, rank: &mut dyn Rank) -> Result<()> {
        for &node in &self.closes {
            rank.send(node, TAG, &[])?;
        }
        if let Some(posted) = self.posted.take() {
            rank.wait(posted)?;
        }
        if self.received_bytes != self.expected_bytes {
            return Err(Error::Program(format!(
                "rank {} received {} bytes where the pattern sends it {}",
                self.me, self.received_bytes, self.expected_bytes
            )));
        }
        match self.last {
            Some((from, bytes)) => {
                check_block(&self.spare[..bytes], self.seed, (from, 0), "the last message", self.me)
            }
            None => Ok(()),
        }
    }
}

fn received_a_period(pattern: &Pattern, me: usize) -> u64 {
    let mut bytes_to_me = 0;
    for node in &pattern.nodes {
        let mut cursor = Cursor::default();
        while let Some((_, step)) = cursor.next(&node.actions) {
            match step {
                Step::Send { to, bytes } if to as usize == me => bytes_to_me += u64::from(bytes),
                _ => {}
            }
        }
    }
    bytes_to_me
}
