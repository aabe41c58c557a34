//! Receives from any rank, which are posted to both fabrics, between receives from one rank and cancellations.

use contract::{
    Completion, Destination, Endpoint, Error, Readable, Request, Result, Selector, Writable,
};
use fabric_cluster::ClusterEndpoint;
use random::SplitMix64;

use crate::harness::Test;
use crate::job::start_and_gather;

/// Rank 3 is on the host of rank 0; 1 and 2 are on another.
const RANKS: usize = 4;
const SEEDS: u64 = 60;
const MESSAGES: usize = 25;
const STEPS: usize = 60;
/// A context of its own for the ends of turns.
const END: u32 = 5;
const LENGTHS: [usize; 3] = [4, 3000, 40_000];
const LONGEST: usize = 40_000;

pub(crate) fn tests(group: &str, provider: Option<&'static str>) -> Vec<Test> {
    let name = format!("{group}twins/each-message-comes-once-and-in-order-between-cancellations");
    vec![Test::new(name, move || {
        let (ended, _) = start_and_gather(provider, RANKS, "twins seeds");
        ended.map_err(|error| error.to_string())
    })]
}

/// Rank 0 receives what the others send, once for each seed.
pub(crate) fn program(endpoint: &mut ClusterEndpoint) -> Result<()> {
    for seed in 1..=SEEDS {
        if endpoint.rank() > 0 {
            send_all(endpoint, seed)?;
            continue;
        }
        let mut receiver = Receiver { random: SplitMix64::new(seed), receives: Vec::new() };
        let outcome = receiver.run(endpoint).and_then(|()| receiver.judge());
        outcome.map_err(|error| Error::Program(format!("seed {seed}: {error}")))?;
        for rank in 1..RANKS {
            endpoint.send(Destination { rank, context: END, tag: 0 }, &[])?;
        }
    }
    Ok(())
}

/// Sends messages with their numbers at their beginnings, and polls in between.
fn send_all(endpoint: &mut ClusterEndpoint, seed: u64) -> Result<()> {
    let mut random = SplitMix64::new(seed << 8 | endpoint.rank() as u64);
    let to = Destination { rank: 0, context: 0, tag: 1 };
    let mut sends = Vec::new();
    for number in 0..MESSAGES {
        let mut data = vec![number as u8; random.pick(&LENGTHS)];
        data[..4].copy_from_slice(&(number as u32).to_le_bytes());
        // SAFETY: the data are kept until the request has ended; after an error, this rank ends the run.
        let lent = unsafe { Readable::new(data.as_ptr(), data.len()) };
        sends.push((endpoint.post_send(to, lent, Completion::Local)?, data));
        (0..random.below(20)).try_for_each(|_| endpoint.progress(None))?;
    }
    for (request, _data) in sends {
        endpoint.wait_any(&[request])?;
        endpoint.end(request);
    }
    let end = Selector { context: END, source: Some(0), tag: Some(0) };
    endpoint.receive(end, &mut []).map(drop)
}

/// A receive that was not cancelled, with its message once it has one: the sender and the number.
struct Receive {
    source: Option<u32>,
    message: Option<(u32, u32)>,
    /// Its request until it has ended.
    open: Option<Request>,
    /// The lent memory, which is neither moved nor read before the receive has ended.
    room: Box<[u8]>,
}

/// The receives of one seed, in the order in which they were posted.
struct Receiver {
    random: SplitMix64,
    receives: Vec<Receive>,
}

impl Receiver {
    fn run(&mut self, endpoint: &mut ClusterEndpoint) -> Result<()> {
        for _ in 0..STEPS {
            match self.random.below(8) {
                0..=2 => self.post(endpoint, None)?,
                3 => {
                    let source = self.random.pick(&[1, 2, 3]);
                    self.post(endpoint, Some(source))?;
                }
                4 => {
                    let is_open = |place: &usize| self.receives[*place].open.is_some();
                    let open: Vec<usize> = (0..self.receives.len()).filter(is_open).collect();
                    if !open.is_empty() {
                        let place = self.random.pick(&open);
                        self.cancel(endpoint, place);
                    }
                }
                _ => (0..self.random.below(30)).try_for_each(|_| endpoint.progress(None))?,
            }
            self.collect(endpoint)?;
        }
        let received =
            |this: &Self| this.receives.iter().filter(|one| one.message.is_some()).count();
        while received(self) < MESSAGES * (RANKS - 1) {
            if !self.receives.iter().any(|one| one.open.is_some() && one.source.is_none()) {
                self.post(endpoint, None)?;
            }
            endpoint.progress(None)?;
            self.collect(endpoint)?;
        }
        while let Some(place) = self.receives.iter().position(|one| one.open.is_some()) {
            let is_cancelled = self.cancel(endpoint, place);
            ensure(is_cancelled, || "a receive has a message after all have come".into())?;
        }
        Ok(())
    }

    fn post(&mut self, endpoint: &mut ClusterEndpoint, source: Option<u32>) -> Result<()> {
        let mut room = vec![0; LONGEST].into_boxed_slice();
        // SAFETY: see `Receive::room`. After an error, this rank ends the run.
        let lent = unsafe { Writable::new(room.as_mut_ptr(), room.len()) };
        let request = endpoint.post_receive(Selector { context: 0, source, tag: None }, lent)?;
        self.receives.push(Receive { source, message: None, open: Some(request), room });
        Ok(())
    }

    /// Cancels a receive, unless it has a message. Returns whether it is cancelled.
    fn cancel(&mut self, endpoint: &mut ClusterEndpoint, place: usize) -> bool {
        let is_cancelled = self.receives[place].open.is_some_and(|it| endpoint.cancel_receive(it));
        if is_cancelled {
            self.receives.remove(place);
        }
        is_cancelled
    }

    fn collect(&mut self, endpoint: &mut ClusterEndpoint) -> Result<()> {
        for one in &mut self.receives {
            let Some(request) = one.open.filter(|&it| endpoint.is_done(it)) else { continue };
            let envelope = endpoint.end(request);
            one.open = None;
            let number = u32::from_le_bytes([one.room[0], one.room[1], one.room[2], one.room[3]]);
            one.message = Some((envelope.source, number));
            let is_whole = one.room[4..envelope.bytes].iter().all(|&byte| byte == number as u8);
            let is_accepted = one.source.is_none_or(|source| source == envelope.source);
            ensure(is_whole && is_accepted, || format!("message {number} is {envelope:?}"))?;
        }
        Ok(())
    }

    /// Checks the messages of each sender: each receive accepts all of those that it may get at all, so in the order of
    /// the receives they are 0, 1, 2, and so on.
    fn judge(&self) -> Result<()> {
        let mut next = [0; RANKS];
        for (sender, number) in self.receives.iter().filter_map(|one| one.message) {
            let expected = &mut next[sender as usize];
            ensure(number == *expected, || {
                format!("message {number} of rank {sender}, not {expected}")
            })?;
            *expected += 1;
        }
        let is_all = next[1..].iter().all(|&count| count == MESSAGES as u32);
        ensure(is_all, || format!("{next:?} messages have come"))
    }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Program(what())) }
}
