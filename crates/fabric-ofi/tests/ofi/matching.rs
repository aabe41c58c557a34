//! Receives, probes and cancellations in random order, against a model of matching.

use contract::{
    Completion, Destination, Endpoint, Envelope, Error, Readable, Request, Result, Selector,
    Writable,
};
use fabric_ofi::OfiEndpoint;
use random::SplitMix64;

use crate::harness::{Test, launch_and_gather};
use crate::job::options;

const SEEDS: u64 = 120;
const RANKS: usize = 3;
const MESSAGES: usize = 30;
const FIRST: usize = 20;
const STEPS: usize = 70;
/// The contexts of the messages, and another one for the ends of turns.
const CONTEXTS: [u32; 2] = [0, 9];
const END: u32 = 5;
const TAGS: usize = 3;
/// Undivided messages, and one whose data wait for the receiver.
const LENGTHS: [usize; 4] = [4, 100, 4096, 40_000];
const LONGEST: usize = 40_000;

/// The variable with the number of receives that the provider `tcp` accepts, and so few that receives wait for room.
const RECEIVES: &str = "FI_OFI_RXM_RX_SIZE";
const FEW: &str = "16";

pub(crate) fn tests(provider: &'static str) -> Vec<Test> {
    let test = |name: &str, receives: Option<&'static str>| {
        Test::new(format!("{provider}/matching/messages-match-as-in-the-model{name}"), move || {
            let mut options = options(RANKS, provider, "matching seeds");
            options.environment.extend(receives.map(|most| (RECEIVES.into(), most.into())));
            let (ended, _) = launch_and_gather(&options);
            ended.map_err(|error| error.to_string())
        })
    };
    vec![test("", None), test("-while-others-wait-for-room", Some(FEW))]
}

/// Rank 0 receives what the others send, once for each seed.
pub(crate) fn program(endpoint: &mut OfiEndpoint) -> Result<()> {
    for seed in 1..=SEEDS {
        let of = |sender| messages(seed, sender);
        match endpoint.rank() {
            0 => {
                let mut receiver = Receiver::default();
                let all: Vec<Vec<Message>> = (1..RANKS).map(of).collect();
                let outcome = receiver.run(endpoint, seed);
                let outcome = outcome.and_then(|()| judge(&all, &receiver.receives));
                outcome.map_err(|error| Error::Program(format!("seed {seed}: {error}")))?;
                for rank in 1..RANKS {
                    endpoint.send(Destination { rank, context: END, tag: 0 }, &[])?;
                }
            }
            sender => send_all(endpoint, &of(sender), seed)?,
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Message {
    context: u32,
    tag: u32,
    bytes: usize,
}

fn messages(seed: u64, sender: usize) -> Vec<Message> {
    let mut random = SplitMix64::new(seed << 8 | sender as u64);
    let one = |_| Message {
        context: random.pick(&CONTEXTS),
        tag: random.below(TAGS) as u32,
        bytes: random.pick(&LENGTHS),
    };
    (0..MESSAGES).map(one).collect()
}

/// Sends all messages, each with its number at its beginning, and polls in between.
fn send_all(endpoint: &mut OfiEndpoint, all: &[Message], seed: u64) -> Result<()> {
    let mut random = SplitMix64::new(seed);
    let data = |(number, message): (usize, &Message)| {
        let mut data = vec![number as u8; message.bytes];
        data[..4].copy_from_slice(&(number as u32).to_le_bytes());
        data
    };
    let data: Vec<Vec<u8>> = all.iter().enumerate().map(data).collect();
    let mut requests = Vec::new();
    for (message, data) in all.iter().zip(&data) {
        let to = Destination { rank: 0, context: message.context, tag: message.tag };
        // SAFETY: the data outlive the requests, all of which end below; after an error, this rank ends the run.
        let data = unsafe { Readable::new(data.as_ptr(), data.len()) };
        requests.push(endpoint.post_send(to, data, Completion::Local)?);
        (0..random.below(20)).try_for_each(|_| endpoint.progress(None))?;
    }
    while let Some(request) = requests.pop() {
        endpoint.wait_any(&[request])?;
        endpoint.end(request);
    }
    let end = Selector { context: END, source: Some(0), tag: Some(0) };
    endpoint.receive(end, &mut []).map(drop)
}

/// A receive that was not cancelled, with its message once it has one: the sender and the number.
struct Receive {
    selector: Selector,
    message: Option<(u32, usize)>,
    /// Its request until it has ended.
    open: Option<Request>,
    /// The lent memory, which is neither moved nor read before the receive has ended.
    room: Box<[u8]>,
}

fn selector(random: &mut SplitMix64) -> Selector {
    Selector {
        context: random.pick(&CONTEXTS),
        source: random.pick(&[None, Some(1), Some(2)]),
        tag: random.pick(&[None, Some(0), Some(1), Some(2)]),
    }
}

/// The receives of one seed, in the order in which they were posted.
#[derive(Default)]
struct Receiver {
    receives: Vec<Receive>,
    received: usize,
}

impl Receiver {
    fn run(&mut self, endpoint: &mut OfiEndpoint, seed: u64) -> Result<()> {
        let mut random = SplitMix64::new(!seed);
        for _ in 0..random.below(FIRST) {
            self.post(endpoint, selector(&mut random))?;
        }
        for _ in 0..STEPS {
            match random.below(8) {
                0..=3 => {
                    let selector = selector(&mut random);
                    self.post(endpoint, selector)?;
                }
                4 => self.cancel_one(endpoint, &mut random)?,
                5 => {
                    let selector =
                        Selector { context: random.pick(&CONTEXTS), source: None, tag: None };
                    endpoint.probe(selector, None)?;
                }
                _ => (0..random.below(30)).try_for_each(|_| endpoint.progress(None))?,
            }
            self.collect(endpoint)?;
        }
        // The rest matches receives of everything.
        while self.received < MESSAGES * (RANKS - 1) {
            for context in CONTEXTS {
                let all = Selector { context, source: None, tag: None };
                if !self.receives.iter().any(|one| one.open.is_some() && one.selector == all) {
                    self.post(endpoint, all)?;
                }
            }
            endpoint.progress(None)?;
            self.collect(endpoint)?;
        }
        while let Some(place) = self.receives.iter().position(|one| one.open.is_some()) {
            self.cancel(endpoint, place)?;
        }
        Ok(())
    }

    /// Posts a receive, which changes no other.
    fn post(&mut self, endpoint: &mut OfiEndpoint, selector: Selector) -> Result<()> {
        let mut room = vec![0; LONGEST].into_boxed_slice();
        // SAFETY: see `Receive::room`. After an error, this rank ends the run.
        let lent = unsafe { Writable::new(room.as_mut_ptr(), room.len()) };
        let before = self.matched(endpoint);
        let open = Some(endpoint.post_receive(selector, lent)?);
        ensure(self.matched(endpoint) == before, || "another was matched".into())?;
        self.receives.push(Receive { selector, message: None, open, room });
        Ok(())
    }

    /// Returns the receives that are known to have a message.
    fn matched(&self, endpoint: &OfiEndpoint) -> Vec<bool> {
        let has_message = |one: &Receive| {
            one.open.is_none_or(|it| endpoint.messages().transfers[it].is_matched())
        };
        self.receives.iter().map(has_message).collect()
    }

    fn cancel_one(&mut self, endpoint: &mut OfiEndpoint, random: &mut SplitMix64) -> Result<()> {
        let is_open = |place: &usize| self.receives[*place].open.is_some();
        let open: Vec<usize> = (0..self.receives.len()).filter(is_open).collect();
        if open.is_empty() { Ok(()) } else { self.cancel(endpoint, random.pick(&open)) }
    }

    /// Cancels a receive, unless it has a message.
    fn cancel(&mut self, endpoint: &mut OfiEndpoint, place: usize) -> Result<()> {
        let Some(request) = self.receives[place].open else { return Ok(()) };
        let is_matched = endpoint.messages().transfers[request].is_matched();
        let is_cancelled = endpoint.cancel_receive(request);
        ensure(is_cancelled != is_matched, || {
            format!("a receive was matched: {is_matched}, cancelled: {is_cancelled}")
        })?;
        if is_cancelled {
            self.receives.remove(place);
        }
        Ok(())
    }

    fn collect(&mut self, endpoint: &mut OfiEndpoint) -> Result<()> {
        for one in &mut self.receives {
            let Some(request) = one.open.filter(|&it| endpoint.is_done(it)) else {
                continue;
            };
            let envelope = endpoint.end(request);
            one.open = None;
            let number = u32::from_le_bytes([one.room[0], one.room[1], one.room[2], one.room[3]]);
            one.message = Some((envelope.source, number as usize));
            self.received += 1;
            let is_of_number = one.room[4..envelope.bytes].iter().all(|&byte| byte == number as u8);
            let is_accepted = one.selector.accepts(&envelope);
            ensure(is_of_number && is_accepted, || format!("a receive has {envelope:?}"))?;
        }
        Ok(())
    }
}

/// Checks that the messages have matched the receives in some order of arrival that keeps the order of each sender:
/// each has matched the oldest receive that accepts it and has no message yet. When a receive was posted makes no
/// difference: a message that arrives earlier waits for it, and none that accepts it is posted before.
fn judge(all: &[Vec<Message>], receives: &[Receive]) -> Result<()> {
    let mut next = vec![0; all.len()];
    let mut is_open = vec![true; receives.len()];
    // Returns the receive that the next message of a sender matches, if that is the one that has it.
    let arrives = |sender: usize, number: usize, is_open: &[bool]| {
        let Message { context, tag, bytes } = *all[sender].get(number)?;
        let source = sender as u32 + 1;
        let envelope = Envelope { context, source, tag, bytes, room: bytes };
        let accepts =
            |&place: &usize| is_open[place] && receives[place].selector.accepts(&envelope);
        let oldest = (0..receives.len()).find(accepts)?;
        (receives[oldest].message == Some((source, number))).then_some(oldest)
    };
    while let Some((sender, place)) =
        (0..all.len()).find_map(|one| Some((one, arrives(one, next[one], &is_open)?)))
    {
        is_open[place] = false;
        next[sender] += 1;
    }
    let is_all = next.iter().all(|&count| count == MESSAGES);
    ensure(is_all, || format!("no order of arrival explains the messages after {next:?}"))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Program(what())) }
}
