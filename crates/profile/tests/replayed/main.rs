//! The critical path that follows from records is that of the simulation in which they were made.
//!
//! Random programs run on simulated machines. The machine follows the path of each forwards, by what really ended each
//! wait. The same calls, recorded as of a real run by their times alone, give the path of a report.

use std::cell::RefCell;
use std::rc::Rc;

use contract::{
    Completion, Destination, Endpoint, Process, Rank, Readable, Reduction, Result, Selector,
    TimeSpan, Writable,
};
use fabric_sim::machine::find;
use fabric_sim::{Options, SimEndpoint, run_endpoints};
use profile::{
    Clock, Dependence, Event, Kind, NOBODY, PathPart, RankRecord, arrivals, critical_path, messages,
};
use random::SplitMix64;

const RANKS: usize = 5;
const TAG: u32 = 3;
/// Largest difference of the shares of computing.
const TOLERANCE: f64 = 0.02;

/// The places of the calls.
const SEND: u16 = 1;
const RECEIVE: u16 = 5;
const EXCHANGE: u16 = 6;
const OVERLAP: u16 = 7;
const ALL: u16 = 2;
const ON_ROOT: u16 = 3;
const OF_ROOT: u16 = 4;

/// A rank that records its calls.
struct Observed<'e> {
    process: Process<SimEndpoint<'e>>,
    record: RankRecord,
    collectives: u64,
}

impl<'e> Observed<'e> {
    fn new(endpoint: SimEndpoint<'e>) -> Self {
        let (rank, size) = (endpoint.rank(), endpoint.size());
        // A tick is a picosecond.
        let record = RankRecord::new(rank, size, Clock::ideal(1e12));
        Observed { process: Process::new(endpoint), record, collectives: 0 }
    }

    fn now(&mut self) -> u64 {
        self.process.endpoint_mut().now().as_ps()
    }

    /// Makes a call, and returns its event, which is not yet recorded.
    fn call(
        &mut self,
        site: u16,
        call: impl FnOnce(&mut Process<SimEndpoint<'e>>) -> Result<()>,
    ) -> Result<Event> {
        let begin = self.now();
        call(&mut self.process)?;
        let end = self.now();
        Ok(Event {
            kind: Kind::Call,
            is_span: true,
            begin,
            end,
            posted: begin,
            bytes: 0,
            peer: NOBODY,
            tag: TAG as i32,
            site,
            communicator: 0,
        })
    }

    fn send(&mut self, to: usize, bytes: usize) -> Result<()> {
        let data = vec![0; bytes];
        let event =
            self.call(SEND, |process| process.endpoint_mut().send(destination(to), &data))?;
        self.record.events.push(sent(event, Kind::Sent, to, bytes));
        Ok(())
    }

    fn receive(&mut self, from: usize, bytes: usize) -> Result<()> {
        let mut room = vec![0; bytes];
        let event = self.call(RECEIVE, |process| {
            process.endpoint_mut().receive(selector(from), &mut room).map(drop)
        })?;
        self.record.events.push(received(event, event.posted, from));
        Ok(())
    }

    fn exchange(&mut self, to: usize, from: usize, bytes: usize) -> Result<()> {
        let (data, mut room) = (vec![0; bytes], vec![0; bytes]);
        let event = self.call(EXCHANGE, |process| {
            let endpoint = process.endpoint_mut();
            endpoint.exchange((destination(to), &data), (selector(from), &mut room)).map(drop)
        })?;
        let part = sent(event, Kind::SendStarted, to, bytes);
        self.record.events.push(Event { is_span: false, ..part });
        self.record.events.push(received(event, event.posted, from));
        Ok(())
    }

    /// Starts a receive and a send, computes, and waits for both, in either order.
    fn overlap(
        &mut self,
        (to, from): (usize, usize),
        bytes: usize,
        span: TimeSpan,
        receives_first: bool,
    ) -> Result<()> {
        let (data, mut room) = (vec![0; bytes], vec![0; bytes]);
        // SAFETY: both live until the waits below have ended.
        #[allow(unsafe_code)]
        let (readable, writable) = unsafe {
            let readable = Readable::new(data.as_ptr(), bytes);
            (readable, Writable::new(room.as_mut_ptr(), bytes))
        };
        let (mut receiving, mut sending) = (None, None);
        let posted = self.call(OVERLAP, |process| {
            receiving = Some(process.endpoint_mut().post_receive(selector(from), writable)?);
            Ok(())
        })?;
        self.record.events.push(posted);
        let started = self.call(OVERLAP, |process| {
            let local = Completion::Local;
            sending = Some(process.endpoint_mut().post_send(destination(to), readable, local)?);
            Ok(())
        })?;
        self.record.events.push(sent(started, Kind::SendStarted, to, bytes));
        self.compute(span);
        for is_receive in [receives_first, !receives_first] {
            let request = if is_receive { receiving } else { sending };
            let event = self.call(OVERLAP, |process| {
                let (endpoint, request) = (process.endpoint_mut(), request.expect("it has begun"));
                endpoint.wait_any(&[request])?;
                endpoint.end(request);
                Ok(())
            })?;
            self.record.events.push(match is_receive {
                true => received(event, posted.begin, from),
                false => Event { posted: started.begin, ..sent(event, Kind::SendEnded, to, bytes) },
            });
        }
        Ok(())
    }

    fn collective(
        &mut self,
        site: u16,
        root: Option<usize>,
        bytes: usize,
        call: impl FnOnce(&mut Process<SimEndpoint<'e>>) -> Result<()>,
    ) -> Result<()> {
        let event = self.call(site, call)?;
        self.collectives += 1;
        let (posted, peer) = (self.collectives, root.map_or(NOBODY, |root| root as u32));
        let (kind, bytes) = (Kind::Collective, bytes as u64);
        self.record.events.push(Event { kind, posted, peer, bytes, ..event });
        Ok(())
    }

    fn compute(&mut self, span: TimeSpan) {
        self.process.endpoint_mut().occupy(span);
    }
}

fn destination(rank: usize) -> Destination {
    Destination { rank, context: 2, tag: TAG }
}

fn selector(from: usize) -> Selector {
    Selector { context: 2, source: Some(from as u32), tag: Some(TAG) }
}

fn sent(event: Event, kind: Kind, to: usize, bytes: usize) -> Event {
    Event { kind, peer: to as u32, bytes: bytes as u64, ..event }
}

fn received(event: Event, posted: u64, from: usize) -> Event {
    Event { kind: Kind::Received, peer: from as u32, posted, ..event }
}

/// Makes 60 random steps. All ranks draw the same numbers.
fn random_program(rank: &mut Observed<'_>, seed: u64) -> Result<()> {
    let (me, size) = (rank.record.rank, rank.record.size);
    let mut random = SplitMix64::new(seed);
    // One rank may be slow, and programs compute little or much.
    let (slow, times) = (random.below(size), 1 + random.below(8) as u64);
    let most_us = [10, 60, 300][random.below(3)];
    for _ in 0..60 {
        let (kind, distance) = (random.below(7), 1 + random.below(size - 1));
        let bytes = [8, 500, 20_000, 200_000][random.below(4)];
        let spans: Vec<u64> = (0..size).map(|_| random.below(most_us) as u64).collect();
        let (to, from) = ((me + distance) % size, (me + size - distance) % size);
        let span_us = spans[me] * if me == slow { times } else { 1 };
        rank.compute(TimeSpan::from_us(span_us));
        match kind {
            0 => rank.collective(ALL, None, 0, |process| process.world().barrier())?,
            1 => rank.collective(ALL, None, 64, |process| {
                process.world().allreduce(Reduction::SUM_F64, &[0; 64], &mut [0; 64])
            })?,
            2 => rank.collective(ON_ROOT, Some(distance), bytes, |process| {
                process.world().broadcast(distance, &mut vec![0; bytes])
            })?,
            3 => rank.collective(OF_ROOT, Some(distance), 64, |process| {
                let mut room = [0; 64];
                let room = if me == distance { &mut room[..] } else { &mut [] };
                process.world().reduce(distance, Reduction::SUM_F64, &[0; 64], room)
            })?,
            4 => rank.exchange(to, from, bytes)?,
            5 => {
                let span = TimeSpan::from_us(spans[to]);
                rank.overlap((to, from), bytes, span, random.below(2) == 0)?;
            }
            // A message from the rank 0 to another.
            _ if me == 0 => rank.send(distance, bytes)?,
            _ if me == distance => rank.receive(0, bytes)?,
            _ => {}
        }
    }
    Ok(())
}

/// Returns the share of computing on the path of a program: of the simulation, and of the records.
fn shares(machine: &str, seed: u64) -> (f64, f64) {
    let records = Rc::new(RefCell::new(Vec::new()));
    let all = Rc::clone(&records);
    let options = Options { critical_path: true, ..Options::new(RANKS) };
    let outcome = run_endpoints(&find(machine).unwrap(), &options, move |endpoint| {
        let mut rank = Observed::new(endpoint);
        random_program(&mut rank, seed)?;
        rank.record.last = rank.now();
        all.borrow_mut().push(rank.record);
        Ok(())
    });
    let path = outcome.unwrap().critical_path.unwrap();
    let mut records = records.take();
    records.sort_by_key(|record| record.rank);
    let dependence = |_: &RankRecord, site| match site {
        ON_ROOT => Dependence::OnRoot,
        OF_ROOT => Dependence::OfRoot,
        _ => Dependence::All,
    };
    let arrivals = arrivals(&records, &messages(&records), &dependence);
    let (_, parts) = critical_path(&records, &arrivals);
    let all_s: f64 = parts.values().sum();
    let computing_s: f64 = parts
        .iter()
        .filter(|((_, part), _)| matches!(part, PathPart::Between(..)))
        .map(|(_, s)| s)
        .sum();
    assert!((all_s / path.length().as_s() - 1.0).abs() < 1e-9, "{machine} {seed}");
    (path.computing.as_s() / path.length().as_s(), computing_s / all_s)
}

/// On these machines adapters carry the data. Where processors do, or messages share one bus, what a call did itself is
/// not to be seen in times, and some programs differ by more.
const MACHINES: [&str; 4] = ["cluster", "fat-tree", "tigersharc", "sharc-ring"];

#[test]
fn the_path_of_records_is_that_of_the_simulation() {
    let mut wrong = Vec::new();
    for (machine, seed) in MACHINES.iter().flat_map(|&one| (0..100).map(move |seed| (one, seed))) {
        let (simulated, recorded) = shares(machine, seed);
        if (simulated - recorded).abs() > TOLERANCE {
            wrong.push(format!("{machine}, seed {seed}: {simulated:.3} and {recorded:.3}"));
        }
    }
    assert!(wrong.is_empty(), "{} of 400 programs:\n{}", wrong.len(), wrong.join("\n"));
}
