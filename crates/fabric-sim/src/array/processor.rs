//! A processor: its program, and the interrupts that take the processor from it.
//!
//! An interrupt runs to its end, word by word, and the program continues after it. The send interrupt of a medium is
//! raised while buffers wait for it and its FIFO has room; it leaves when the FIFO is full. The receive interrupt is
//! raised by the first word of a buffer, and stays until the buffer is complete. While it waits for a word that has not
//! arrived, send interrupts may run: otherwise two processors that send to each other would wait for ever.

use std::collections::VecDeque;

use contract::{Time, TimeSpan};

use super::media::Word;

/// One of a processor's sockets: link number n in this direction, or the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Port {
    Link(usize),
    Bus,
}

/// Next step of an interrupt, which takes a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The send interrupt of a port is entered and left.
    EnterSend(Port),
    /// It moves a word into the FIFO.
    MoveWord(Port),
    /// The receive interrupt of a port takes a word.
    TakeWord(Port),
    /// It completes the buffer of this sender.
    Complete(Port, usize),
}

/// An interrupt that has been entered and not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interrupt {
    Send(Port),
    Receive {
        port: Port,
        /// Sender of the buffer that raised it.
        from: usize,
    },
}

/// Work of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) left: TimeSpan,
    /// Time since which it runs; `None` while an interrupt has the processor.
    pub(super) since: Option<Time>,
    /// True if receive interrupts wait until it is done.
    pub(super) locks_out_receive: bool,
}

/// The state of a processor.
#[derive(Default)]
pub(super) struct Processor {
    pub(super) job: Option<Job>,
    /// The last interrupt has the processor; one before it waits for words.
    pub(super) interrupts: Vec<Interrupt>,
    /// Current step of the last interrupt.
    pub(super) step: Option<Step>,
    /// Counter of starts and interruptions of jobs, by which the end of an interrupted job is recognised.
    pub(super) generation: u32,
    /// Words that SEND has queued, by port: links first, then the bus.
    pub(super) queues: Vec<(Port, VecDeque<Word>)>,
    pub(super) counts: InterruptCounts,
}

/// Numbers of entries of a processor's interrupts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptCounts {
    /// Send interrupts.
    pub send: u64,
    /// Receive interrupts.
    pub receive: u64,
}

impl Processor {
    pub(super) fn new(links: impl Iterator<Item = usize>) -> Self {
        let ports = links.map(Port::Link).chain([Port::Bus]);
        let queues = ports.map(|port| (port, VecDeque::new())).collect();
        Processor { queues, ..Processor::default() }
    }

    pub(super) fn queue(&mut self, port: Port) -> &mut VecDeque<Word> {
        let found = self.queues.iter_mut().find(|(own, _)| *own == port);
        &mut found.expect("a processor's own port").1
    }

    /// Takes the processor from its program, if that has it.
    pub(super) fn preempt(&mut self, now: Time) {
        if let Some(job) = &mut self.job
            && let Some(since) = job.since.take()
        {
            job.left = job.left - now.since(since);
            self.generation += 1;
        }
    }

    /// Returns whether receive interrupts are locked out.
    pub(super) fn locks_out_receive(&self) -> bool {
        self.job.is_some_and(|job| job.locks_out_receive)
    }
}
