//! All processors of an array with their links and bus, and the events of a run.

use std::collections::BTreeMap;

use contract::{Time, TimeSpan};

use super::buffers::Inbox;
use super::global_operation::GlobalOperation;
use super::media::{Bus, Link, Word};
use super::processor::{Interrupt, Job, Port, Processor, Step};
use super::{Medium, ReceiveMode};
use crate::event_hash::EventHash;
use crate::machine::Array;
use crate::queue::Queue;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// A processor's program continues.
    Wake(usize),
    /// The job of a processor's program ends, unless it was interrupted since.
    JobDone(usize, u32),
    /// A step of a processor's interrupt ends.
    StepDone(usize),
    /// A word has passed a link.
    LinkWord(usize),
    /// A word has passed the bus.
    BusWord,
}

/// Object of a program's wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    Nothing,
    Job,
    /// A complete buffer of this sender.
    Buffer(Medium, usize),
    /// All others, on the flag network or that for sums and maxima.
    Others,
    Ended,
}

pub(super) struct Node {
    pub(super) processor: Processor,
    pub(super) inbox: Inbox,
    pub(super) waiting: Waiting,
}

pub(super) struct World {
    pub(super) array: Array,
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    /// Number of the link from one processor to another.
    pub(super) link_numbers: BTreeMap<(usize, usize), usize>,
    pub(super) bus: Bus,
    pub(super) global_operation: GlobalOperation,
    now: Time,
    queue: Queue<Event>,
    hash: EventHash,
}

impl World {
    /// Creates the world. `links` joins pairs of the first `cooperating` processors; the controller, if there is one,
    /// comes after them.
    pub(super) fn new(
        array: &Array,
        links: &[(usize, usize)],
        cooperating: usize,
        nodes: usize,
    ) -> Self {
        let both_ways = links.iter().flat_map(|&(low, high)| [(low, high), (high, low)]);
        let links: Vec<Link> = both_ways.map(|(from, to)| Link::new(from, to)).collect();
        let numbered = || links.iter().enumerate();
        let node = |node: usize| Node {
            processor: Processor::new(
                numbered().filter(|(_, link)| link.from == node).map(|(number, _)| number),
            ),
            inbox: Inbox::default(),
            waiting: Waiting::Nothing,
        };
        World {
            nodes: (0..nodes).map(node).collect(),
            link_numbers: numbered().map(|(number, link)| ((link.from, link.to), number)).collect(),
            bus: Bus::new(nodes),
            global_operation: GlobalOperation::new(cooperating),
            array: array.clone(),
            links,
            now: Time::ZERO,
            queue: Queue::new(),
            hash: EventHash::new(),
        }
    }

    pub(super) fn now(&self) -> Time {
        self.now
    }

    pub(super) fn event_hash(&self) -> u64 {
        self.hash.value()
    }

    pub(super) fn wake(&mut self, node: usize, at: Time) {
        self.queue.push(at, Event::Wake(node));
    }

    /// Handles events until a program can continue, and returns its processor. `None`: there are no more events.
    pub(super) fn advance(&mut self) -> Option<usize> {
        loop {
            let (time, event) = self.queue.pop()?;
            self.now = time;
            match event {
                Event::Wake(node) => {
                    self.hash.add(time, 0, node as u32);
                    self.nodes[node].waiting = Waiting::Nothing;
                    return Some(node);
                }
                Event::JobDone(node, generation) => {
                    let Node { processor, waiting, .. } = &mut self.nodes[node];
                    if processor.generation == generation {
                        self.hash.add(time, 1, node as u32);
                        processor.job = None;
                        *waiting = Waiting::Nothing;
                        return Some(node);
                    }
                }
                Event::StepDone(node) => {
                    self.hash.add(time, 2, node as u32);
                    self.end_step(node);
                }
                Event::LinkWord(link) => {
                    self.hash.add(time, 3, link as u32);
                    self.links[link].arrive();
                    self.run(self.links[link].to);
                }
                Event::BusWord => {
                    self.hash.add(time, 4, 0);
                    let (from, receivers) = self.bus.deliver(time);
                    self.use_bus();
                    self.run(from);
                    receivers.into_iter().for_each(|to| self.run(to));
                }
            }
        }
    }

    /// Starts work of a processor's program.
    pub(super) fn begin_job(&mut self, node: usize, span: TimeSpan, locks_out_receive: bool) {
        let Node { processor, waiting, .. } = &mut self.nodes[node];
        processor.job = Some(Job { left: span, since: None, locks_out_receive });
        *waiting = Waiting::Job;
        self.run(node);
    }

    /// Adds words that SEND has queued for a port.
    pub(super) fn queue_words(&mut self, node: usize, port: Port, words: Vec<Word>) {
        self.nodes[node].processor.queue(port).extend(words);
        self.run(node);
    }

    /// Lets a processor continue with what is due: interrupts before its program.
    fn run(&mut self, node: usize) {
        if self.nodes[node].processor.step.is_some() {
            return;
        }
        let next = self.next_step(node);
        let processor = &mut self.nodes[node].processor;
        if let Some(step) = next {
            processor.preempt(self.now);
            self.begin_step(node, step);
        } else if !processor.interrupts.is_empty() {
            // A receive interrupt waits for a word, and keeps the processor.
            processor.preempt(self.now);
        } else if let Some(job) = processor.job.as_mut().filter(|job| job.since.is_none()) {
            job.since = Some(self.now);
            processor.generation += 1;
            let done = Event::JobDone(node, processor.generation);
            self.queue.push(self.now + job.left, done);
        }
    }

    /// Returns the next step of a processor's interrupts, and enters and leaves them.
    fn next_step(&mut self, node: usize) -> Option<Step> {
        loop {
            let ready = self.send_ready(node);
            let raised = self.receive_raised(node);
            let last = self.nodes[node].processor.interrupts.last().copied();
            let has_word = match last {
                Some(Interrupt::Receive { port, .. }) => self.fifo(node, port).is_some(),
                _ => false,
            };
            let processor = &mut self.nodes[node].processor;
            match last {
                Some(Interrupt::Send(port)) => {
                    if ready.contains(&port) {
                        return Some(Step::MoveWord(port));
                    }
                    processor.interrupts.pop();
                }
                Some(Interrupt::Receive { port, .. }) if has_word => {
                    return Some(Step::TakeWord(port));
                }
                None if let Some(interrupt) = raised => {
                    processor.interrupts.push(interrupt);
                    processor.counts.receive += 1;
                }
                Some(Interrupt::Receive { .. }) | None => {
                    let &port = ready.first()?;
                    processor.interrupts.push(Interrupt::Send(port));
                    processor.counts.send += 1;
                    return Some(Step::EnterSend(port));
                }
            }
        }
    }

    /// Returns the ports for which words wait, and whose FIFO has room.
    fn send_ready(&self, node: usize) -> Vec<Port> {
        let queues = self.nodes[node].processor.queues.iter();
        let ports = queues.filter(|(_, words)| !words.is_empty()).map(|(port, _)| *port);
        ports
            .filter(|port| match *port {
                Port::Link(link) => self.links[link].has_room(&self.array),
                Port::Bus => self.bus.has_room(node, &self.array),
            })
            .collect()
    }

    /// Returns the receive interrupt of a port with a word, unless receive interrupts are locked out.
    fn receive_raised(&self, node: usize) -> Option<Interrupt> {
        let processor = &self.nodes[node].processor;
        if processor.locks_out_receive() {
            return None;
        }
        processor.queues.iter().find_map(|&(port, _)| {
            self.fifo(node, port).map(|word| Interrupt::Receive { port, from: word.from })
        })
    }

    /// Returns the link that leads to a processor over the same wire as one that leads away.
    fn reverse_link(link: usize) -> usize {
        link ^ 1
    }

    /// Returns the first word that has come through a port.
    fn fifo(&self, node: usize, port: Port) -> Option<Word> {
        match port {
            Port::Link(link) => self.links[Self::reverse_link(link)].fifo.front().copied(),
            Port::Bus => self.bus.receive_fifos[node].front().copied(),
        }
    }

    fn begin_step(&mut self, node: usize, step: Step) {
        let Array { send_interrupt, receive_interrupt, .. } = self.array;
        let time = match step {
            Step::EnterSend(_) => send_interrupt.fixed,
            Step::MoveWord(_) => send_interrupt.word,
            Step::TakeWord(_) => receive_interrupt.word,
            Step::Complete(..) => receive_interrupt.fixed,
        };
        self.nodes[node].processor.step = Some(step);
        self.queue.push(self.now + time, Event::StepDone(node));
    }

    fn end_step(&mut self, node: usize) {
        let step = self.nodes[node].processor.step.take();
        match step.expect("a step ends that has begun") {
            Step::EnterSend(_) => {}
            Step::MoveWord(port) => self.move_word(node, port),
            Step::TakeWord(port) => {
                if let Some(from) = self.take_word(node, port) {
                    return self.begin_step(node, Step::Complete(port, from));
                }
            }
            Step::Complete(port, from) => self.complete(node, port, from),
        }
        self.run(node);
    }

    fn move_word(&mut self, node: usize, port: Port) {
        let word = self.nodes[node].processor.queue(port).pop_front().expect("it was there");
        match port {
            Port::Link(link) => {
                let at = self.links[link].carry(self.now, word, &self.array);
                self.queue.push(at, Event::LinkWord(link));
            }
            Port::Bus => {
                self.bus.put(self.now, word);
                self.use_bus();
            }
        }
    }

    /// Takes a word out of a FIFO. Returns the sender of the buffer that the word ends, if it ends one.
    fn take_word(&mut self, node: usize, port: Port) -> Option<usize> {
        let word = match port {
            Port::Link(link) => {
                let link = &mut self.links[Self::reverse_link(link)];
                let (word, from) = (link.fifo.pop_front(), link.from);
                self.run(from);
                word
            }
            Port::Bus => {
                let word = self.bus.receive_fifos[node].pop_front();
                self.use_bus();
                word
            }
        };
        let word = word.expect("the interrupt saw a word");
        self.nodes[node].inbox.take(medium(port), word.from, word.bits);
        word.last.then_some(word.from)
    }

    fn complete(&mut self, node: usize, port: Port, from: usize) {
        let Node { processor, inbox, waiting } = &mut self.nodes[node];
        let medium = medium(port);
        inbox.complete(medium, from);
        // Buffers of others on the bus may end in the middle of the one that raised the interrupt.
        if processor.interrupts.last() == Some(&Interrupt::Receive { port, from }) {
            processor.interrupts.pop();
        }
        if *waiting == Waiting::Buffer(medium, from) {
            self.wake(node, self.now);
        }
    }

    fn use_bus(&mut self) {
        if self.bus.grant(self.now, &self.array) {
            self.queue.push(self.now + self.array.bus_word, Event::BusWord);
        }
    }

    /// Explains which processor waits for what, for a run in which nothing can happen any more.
    pub(super) fn explain_deadlock(&self) -> String {
        let stuck = self.nodes.iter().enumerate().filter_map(|(number, node)| match node.waiting {
            Waiting::Buffer(medium, from) => Some(format!(
                "processor {number} waits for a buffer of processor {from} over {medium}"
            )),
            Waiting::Others => Some(format!("processor {number} waits for all others")),
            Waiting::Nothing | Waiting::Job | Waiting::Ended => None,
        });
        stuck.collect::<Vec<_>>().join("; ")
    }

    /// Returns whether the mode of a pair can no longer be changed: buffers were not yet received, or it is not the
    /// default.
    pub(super) fn mode_is_fixed(&mut self, node: usize, medium: Medium, from: usize) -> bool {
        let pair = self.nodes[node].inbox.pair(medium, from);
        pair.latest.is_some() || !pair.queue.is_empty() || pair.mode != ReceiveMode::default()
    }
}

fn medium(port: Port) -> Medium {
    match port {
        Port::Link(_) => Medium::Local,
        Port::Bus => Medium::Global,
    }
}
