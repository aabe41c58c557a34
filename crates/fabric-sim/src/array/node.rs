//! The interface of a program to its processor: SEND and RECV, the flag network and that for sums and maxima.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use contract::{Error, Result, Time, TimeSpan};
use corosensei::Yielder;

use super::buffers::checksum;
use super::global_operation::Contribution;
use super::media::Word;
use super::processor::{InterruptCounts, Port};
use super::world::{Waiting, World};
use super::{BUFFER_WORDS_MAX, Medium, ReceiveMode};

/// A processor of an array, for its program.
pub struct ArrayNode<'a> {
    world: Rc<RefCell<World>>,
    yielder: &'a Yielder<(), ()>,
    number: usize,
    addition: TimeSpan,
}

impl<'a> ArrayNode<'a> {
    pub(super) fn new(
        world: Rc<RefCell<World>>,
        yielder: &'a Yielder<(), ()>,
        number: usize,
        addition: TimeSpan,
    ) -> Self {
        ArrayNode { world, yielder, number, addition }
    }

    /// Returns its number. The controller's is that of the last processor plus one.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the number of processors that cooperate. The controller does not.
    pub fn size(&self) -> usize {
        self.world().global_operation.size()
    }

    /// Returns the time on the clock that all share.
    pub fn now(&self) -> Time {
        self.world().now()
    }

    /// Computes for `span`, and longer if interrupts take the processor.
    pub fn compute(&self, span: TimeSpan) {
        self.spend(span, false);
    }

    /// Adds two numbers in single precision, in the time of an addition.
    pub fn add(&self, a: f32, b: f32) -> f32 {
        self.compute(self.addition);
        a + b
    }

    /// Calls SEND, which queues a copy of `words` for processor `to`, and returns. The send interrupt moves the words.
    ///
    /// # Errors
    /// A number of words that no buffer has, a processor that does not exist, and one that no link joins with this one.
    pub fn send(&self, medium: Medium, to: usize, words: &[u16]) -> Result<()> {
        let port = match medium {
            Medium::Local => self.link(to)?,
            Medium::Global => Port::Bus,
        };
        if to == self.number || to >= self.world().nodes.len() {
            return Err(Error::InvalidRank { rank: to, size: self.world().nodes.len() });
        }
        self.queue(port, Some(to), words)
    }

    /// Calls SEND to all others at once, over the bus: each gets a buffer of this processor.
    ///
    /// # Errors
    /// A number of words that no buffer has.
    pub fn send_to_all(&self, words: &[u16]) -> Result<()> {
        self.queue(Port::Bus, None, words)
    }

    /// Chooses the mode in which buffers of `from` are received over a medium. Without this call it is synchronous.
    ///
    /// # Errors
    /// A pair with buffers that were not received, or whose mode is asynchronous already.
    pub fn expect(&self, medium: Medium, from: usize, mode: ReceiveMode) -> Result<()> {
        let mut world = self.world();
        if world.mode_is_fixed(self.number, medium, from) {
            let what =
                format!("the mode of buffers of processor {from} over {medium} is fixed already");
            return Err(Error::Program(what));
        }
        world.nodes[self.number].inbox.pair(medium, from).mode = mode;
        Ok(())
    }

    /// Calls synchronous RECV: waits for the first buffer of `from` that was not received, and returns it.
    ///
    /// # Errors
    /// A pair of the other mode, and a buffer with a wrong checksum, which is lost.
    pub fn receive(&self, medium: Medium, from: usize) -> Result<Vec<u16>> {
        self.check(medium, from, ReceiveMode::Synchronous)?;
        let words = loop {
            let first = self.world().nodes[self.number].inbox.pair(medium, from).queue.pop_front();
            if let Some(words) = first {
                break words;
            }
            self.wait(Waiting::Buffer(medium, from));
        };
        let cost = self.world().array.receive_call.of(words.as_ref().map_or(0, Vec::len));
        self.spend(cost, false);
        words.ok_or_else(|| wrong_checksum(medium, from))
    }

    /// Calls asynchronous RECV: returns a copy of the last complete buffer of `from`, or `None` before the first. Never
    /// waits. Receive interrupts are locked out meanwhile.
    ///
    /// # Errors
    /// A pair of the other mode, and once for buffers that came with a wrong checksum.
    pub fn latest(&self, medium: Medium, from: usize) -> Result<Option<Vec<u16>>> {
        self.check(medium, from, ReceiveMode::Asynchronous)?;
        let (cost, words, had_wrong_checksum) = {
            let mut world = self.world();
            let cost = world.array.latest_call;
            let pair = world.nodes[self.number].inbox.pair(medium, from);
            let had_wrong_checksum = std::mem::take(&mut pair.had_wrong_checksum);
            (
                cost.of(pair.latest.as_ref().map_or(0, Vec::len)),
                pair.latest.clone(),
                had_wrong_checksum,
            )
        };
        self.spend(cost, true);
        if had_wrong_checksum { Err(wrong_checksum(medium, from)) } else { Ok(words) }
    }

    /// Sets this processor's flag, and waits until all have set theirs. Then all flags are down again.
    ///
    /// # Errors
    /// The controller, which has no flag; processors that call different operations.
    pub fn all_flags(&self) -> Result<()> {
        let time = self.world().array.flag;
        self.join_operation(Contribution::Flag, time).map(drop)
    }

    /// Returns the sum of the numbers of all processors.
    ///
    /// # Errors
    /// As [`ArrayNode::all_flags`].
    pub fn sum(&self, value: i32) -> Result<i32> {
        let time = self.world().array.sum_maximum;
        self.join_operation(Contribution::Sum(value), time)
    }

    /// Returns the largest of the numbers of all processors.
    ///
    /// # Errors
    /// As [`ArrayNode::all_flags`].
    pub fn maximum(&self, value: i32) -> Result<i32> {
        let time = self.world().array.sum_maximum;
        self.join_operation(Contribution::Maximum(value), time)
    }

    /// Returns the numbers of entries of its interrupts so far.
    pub fn interrupts(&self) -> InterruptCounts {
        self.world().nodes[self.number].processor.counts
    }

    fn world(&self) -> RefMut<'_, World> {
        self.world.borrow_mut()
    }

    fn spend(&self, span: TimeSpan, locks_out_receive: bool) {
        if span > TimeSpan::ZERO {
            self.world().begin_job(self.number, span, locks_out_receive);
            self.yielder.suspend(());
        }
    }

    fn wait(&self, waiting: Waiting) {
        self.world().nodes[self.number].waiting = waiting;
        self.yielder.suspend(());
    }

    fn link(&self, to: usize) -> Result<Port> {
        let link = self.world().link_numbers.get(&(self.number, to)).copied();
        link.map(Port::Link).ok_or_else(|| {
            Error::Program(format!(
                "no link joins processors {} and {to}; the bus does",
                self.number
            ))
        })
    }

    fn queue(&self, port: Port, to: Option<usize>, words: &[u16]) -> Result<()> {
        let count = words.len();
        if !(1..=BUFFER_WORDS_MAX).contains(&count) {
            let what = format!("{count} words where a buffer has 1 to {BUFFER_WORDS_MAX}");
            return Err(Error::Program(what));
        }
        let cost = self.world().array.send_call.of(count);
        self.spend(cost, false);
        let word = |bits, last| Word { from: self.number, to, bits, last };
        let mut queued: Vec<Word> = words.iter().map(|&bits| word(bits, false)).collect();
        queued.push(word(checksum(words), true));
        self.world().queue_words(self.number, port, queued);
        Ok(())
    }

    fn check(&self, medium: Medium, from: usize, called: ReceiveMode) -> Result<()> {
        if from == self.number || from >= self.world().nodes.len() {
            return Err(Error::InvalidRank { rank: from, size: self.world().nodes.len() });
        }
        if medium == Medium::Local {
            self.link(from)?;
        }
        let mode = self.world().nodes[self.number].inbox.pair(medium, from).mode;
        if mode == called {
            return Ok(());
        }
        let what =
            format!("{called:?} RECV from processor {from} over {medium}, whose mode is {mode:?}");
        Err(Error::Program(what))
    }

    fn join_operation(&self, contribution: Contribution, time: TimeSpan) -> Result<i32> {
        let mut world = self.world();
        if !world.global_operation.includes(self.number) {
            let what = "the controller is not on the networks of flags and sums".into();
            return Err(Error::Program(what));
        }
        let is_complete =
            world.global_operation.contribute(self.number, contribution).map_err(Error::Program)?;
        if is_complete {
            let at = world.now() + time;
            (0..world.global_operation.size()).for_each(|node| world.wake(node, at));
        }
        drop(world);
        self.wait(Waiting::Others);
        Ok(self.world().global_operation.outcome)
    }
}

fn wrong_checksum(medium: Medium, from: usize) -> Error {
    Error::Program(format!("a buffer of processor {from} over {medium} came with a wrong checksum"))
}
