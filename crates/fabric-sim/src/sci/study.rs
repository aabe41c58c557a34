//! Rings under load: throughput and delays.

use contract::{Time, TimeSpan};

use super::engine::{Complete, Counts, Engine};
use super::error::SettingsError;
use super::packet::TransactionKind;
use super::settings::RingSettings;
use super::traffic::{Pace, Traffic};
use crate::queue::Queue;
use crate::random::Random;

/// Rings, their traffic, and the length of the measurement.
#[derive(Clone, Debug)]
pub struct Study {
    /// The rings.
    pub settings: RingSettings,
    /// The requests of their nodes.
    pub traffic: Vec<Traffic>,
    /// Time before the measurement. Transactions that end in it are not counted.
    pub warm_up: TimeSpan,
    /// Length of the measurement.
    pub duration: TimeSpan,
    /// Two outer rings of a multi-service switch that are joined before the traffic begins.
    pub joined: Option<(u8, u8)>,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Study {
    /// Checks whether the study is possible.
    ///
    /// # Errors
    /// Those of [`RingSettings::check`] and [`Traffic::check`].
    pub fn check(&self) -> Result<(), SettingsError> {
        self.settings.check()?;
        self.traffic.iter().try_for_each(|traffic| traffic.check(self.settings.shape))
    }
}

/// The results of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyResults {
    /// For each kind of traffic, in its order.
    pub traffic: Vec<TrafficResults>,
    /// The engine's counts, the warm-up included.
    pub counts: Counts,
    /// Number of requests that wait outside the output queues at the end.
    pub backlog: u64,
    /// A hash of all events, which is the same for the same study on every host.
    pub event_hash: u64,
}

/// The results of a [`Traffic`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrafficResults {
    /// Number of bytes of data that were moved for each node with a host.
    pub bytes: Vec<u64>,
    /// For each of these nodes, true if it makes such requests.
    pub makes_requests: Vec<bool>,
    /// Times from the request until the transaction was complete, shortest first.
    pub delays: Vec<TimeSpan>,
}

impl TrafficResults {
    /// Returns the rate of the data that were moved for all nodes, in MB a second.
    pub fn mb_per_s(&self, duration: TimeSpan) -> f64 {
        self.bytes.iter().sum::<u64>() as f64 / duration.as_us()
    }

    /// Returns the mean delay in microseconds, if any transaction is complete.
    pub fn mean_delay_us(&self) -> Option<f64> {
        let sum: f64 = self.delays.iter().map(|delay| delay.as_us()).sum();
        (!self.delays.is_empty()).then(|| sum / self.delays.len() as f64)
    }

    /// Returns the data of the node that moved least over those of the node that moved most, among nodes that make such
    /// requests; 1 if none moved any.
    pub fn least_over_most(&self) -> f64 {
        let of = |bytes: Option<u64>| bytes.map_or(0.0, |bytes| bytes as f64);
        let all = self.bytes.iter().zip(&self.makes_requests).filter(|(_, makes)| **makes);
        let shares = all.map(|(bytes, _)| *bytes);
        let most = of(shares.clone().max());
        if most > 0.0 { of(shares.min()) / most } else { 1.0 }
    }

    /// Returns the delay that a share of all delays does not exceed.
    pub fn delay_quantile(&self, share: f64) -> Option<TimeSpan> {
        let last = self.delays.len().checked_sub(1)?;
        Some(self.delays[((last as f64 * share).ceil() as usize).min(last)])
    }
}

/// A node that makes requests of a kind.
struct Source {
    traffic: usize,
    node: u32,
    random: Random,
    /// Requests that have been made and found no place yet, oldest first.
    backlog: std::collections::VecDeque<Time>,
}

/// A study under way.
struct Run<'a> {
    study: &'a Study,
    engine: Engine,
    sources: Vec<Source>,
    /// The sources of each node.
    of_node: Vec<Vec<usize>>,
    calls: Queue<usize>,
    results: Vec<TrafficResults>,
    /// Time at which the traffic begins.
    start: Time,
}

/// Runs a study.
///
/// # Errors
/// Those of [`RingSettings::check`] and [`Traffic::check`].
pub fn run(study: &Study) -> Result<StudyResults, SettingsError> {
    let shape = study.settings.shape;
    study.check()?;
    let engine = Engine::new(study.settings.clone())?;
    let hosts = shape.hosts();
    let none = vec![false; hosts as usize];
    let results =
        TrafficResults { bytes: vec![0; hosts as usize], makes_requests: none, delays: Vec::new() };
    let mut run = Run {
        study,
        engine,
        sources: Vec::new(),
        of_node: vec![Vec::new(); hosts as usize],
        calls: Queue::new(),
        results: vec![results; study.traffic.len()],
        start: Time::ZERO,
    };
    run.join()?;
    run.begin(hosts);
    let end = run.start + study.warm_up + study.duration;
    while run.next(end) {}
    let backlog = run.sources.iter().map(|source| source.backlog.len() as u64).sum();
    run.results.iter_mut().for_each(|results| results.delays.sort_unstable());
    Ok(StudyResults {
        traffic: run.results,
        counts: run.engine.counts(),
        backlog,
        event_hash: run.engine.event_hash(),
    })
}

impl Run<'_> {
    /// Joins rings by a request of a node to the controller.
    fn join(&mut self) -> Result<(), SettingsError> {
        let Some((one, other)) = self.study.joined else { return Ok(()) };
        let none = || SettingsError::new("only a multi-service switch joins rings");
        let controller = self.engine.controller().ok_or_else(none)?;
        let call = (0, Time::ZERO, 0);
        self.engine.request((0, controller), TransactionKind::Join(one, other), call);
        while self.engine.take_complete().next().is_none() && self.engine.step() {}
        self.start = self.engine.now();
        self.engine.take_unblocked();
        Ok(())
    }

    fn begin(&mut self, hosts: u32) {
        for (number, traffic) in self.study.traffic.iter().enumerate() {
            let all: Vec<u32> =
                (0..hosts).filter(|&node| traffic.destination.is_of(node)).collect();
            let nodes = if traffic.nodes.is_empty() { &all } else { &traffic.nodes };
            for &node in nodes {
                let index = self.sources.len();
                let random = Random::new(self.study.seed, index as u64);
                let backlog = Default::default();
                self.sources.push(Source { traffic: number, node, random, backlog });
                self.results[number].makes_requests[node as usize] = true;
                // Urgent requests get the first place that is free.
                let priority = |of: &usize| self.study.traffic[self.sources[*of].traffic].priority;
                let others = &mut self.of_node[node as usize];
                let at = others.partition_point(|other| priority(other) >= traffic.priority);
                others.insert(at, index);
                match traffic.pace.draw(&mut self.sources[index].random) {
                    Some(time) => self.calls.push(self.start + time, index),
                    None => self.issue(node),
                }
            }
        }
    }

    /// Handles the next event or request. Returns false if there is none before `end`.
    fn next(&mut self, end: Time) -> bool {
        let (events, calls) = (self.engine.next_time(), self.calls.next_time());
        let is_call = calls.is_some_and(|call| events.is_none_or(|event| call < event));
        let Some(now) = (if is_call { calls } else { events }) else { return false };
        if now >= end {
            return false;
        }
        if is_call {
            let (_, source) = self.calls.pop().expect("there is one");
            self.engine.advance(now);
            self.call(source, now);
        } else {
            self.engine.step();
            self.collect();
        }
        true
    }

    /// Makes a request of a source.
    fn call(&mut self, index: usize, now: Time) {
        let source = &mut self.sources[index];
        source.backlog.push_back(now);
        let pace = self.study.traffic[source.traffic].pace;
        let node = source.node;
        if let Some(time) = pace.draw(&mut source.random) {
            self.calls.push(now + time, index);
        }
        self.issue(node);
    }

    /// Fills the output queue of a node, its sources in turn.
    fn issue(&mut self, node: u32) {
        let sources = self.of_node[node as usize].len();
        let mut without_any = 0;
        for turn in (0..sources).cycle() {
            if without_any == sources || !self.engine.has_room(node) {
                return;
            }
            let issued = self.issue_one(self.of_node[node as usize][turn]);
            without_any = if issued { 0 } else { without_any + 1 };
        }
    }

    /// Makes one request of a source. Returns false if it has none now.
    fn issue_one(&mut self, index: usize) -> bool {
        let source = &mut self.sources[index];
        let traffic = &self.study.traffic[source.traffic];
        let requested_at = match traffic.pace {
            Pace::Available => Some(self.engine.now()),
            Pace::Uniform(_) | Pace::Poisson(_) => source.backlog.pop_front(),
        };
        let Some(requested_at) = requested_at else { return false };
        let shape = self.study.settings.shape;
        let to = traffic.destination.draw(source.node, shape, &mut source.random);
        let call = (traffic.priority, requested_at, source.traffic as u64);
        self.engine.request((source.node, to), traffic.operation, call)
    }

    /// Counts the complete transactions, and fills output queues that have room.
    fn collect(&mut self) {
        if !self.engine.has_results() {
            return;
        }
        let warm = self.start + self.study.warm_up;
        for Complete { tag, requester, operation, requested_at, done, .. } in
            self.engine.take_complete()
        {
            if done >= warm {
                let results = &mut self.results[tag as usize];
                results.bytes[requester as usize] += u64::from(operation.data_bytes());
                results.delays.push(done.since(requested_at));
            }
        }
        let unblocked: Vec<u32> = self.engine.take_unblocked().collect();
        for node in unblocked {
            if (node as usize) < self.of_node.len() {
                self.issue(node);
            }
        }
    }
}
