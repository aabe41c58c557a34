//! Models of three kinds of machines, from which runs are drawn with a seed.

use random::SplitMix64;
use record::{Better, Measurement, Repetition, Run, RunHeader, Summary};

/// A performance state that the hand-over of a cache line shows.
#[derive(Clone, Copy)]
pub(crate) struct State {
    line_us: f64,
    /// Factor by which a number that consists of hand-overs alone is longer than in the commonest state.
    factor: f64,
    /// Share of the time.
    share: f64,
}

/// A machine. Standard deviations are those of logarithms.
#[derive(Clone, Copy)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// Where its parameters come from.
    pub(crate) source: &'static str,
    states: &'static [State],
    /// Mean number of measurements for which a state lasts.
    stays: f64,
    /// Standard deviation of a launch of the quietest and of the most restless number; others lie between them.
    noise: [f64; 2],
    /// Share of the launches that something disturbs, and the greatest factor by which they then take longer.
    disturbed: (f64, f64),
    /// Slowdown of simple operations while another guest uses the second thread of a core, as a logarithm, and the range
    /// of the share of the time in which one does. The share is another one in each minute.
    neighbours: (f64, [f64; 2]),
    /// Range of the ratio of the slowdown of a number to that of operations.
    slopes: [f64; 2],
    /// Standard deviation between minutes that nothing beside the measurements shows, for all numbers alike.
    minutes: f64,
}

const ONE_STATE: &[State] = &[State { line_us: 0.05, factor: 1.0, share: 1.0 }];

/// The states, their shares and factors, the noise within a state, and the slowdown: "Two runs of one build, by states"
/// and "at one speed" in docs/measurements.md. The share of busy minutes and the slopes: decisions 0051 and 0142.
pub(crate) const VIRTUAL: Model = Model {
    name: "virtual machine of two processors",
    source: "recorded: docs/measurements.md, 27 November 2026",
    states: &[
        State { line_us: 0.026, factor: 0.6, share: 0.07 },
        State { line_us: 0.044, factor: 1.0, share: 0.59 },
        State { line_us: 0.215, factor: 3.2, share: 0.34 },
    ],
    stays: 80.0,
    noise: [0.02, 0.06],
    disturbed: (0.02, 3.0),
    neighbours: (0.22, [0.02, 0.98]),
    slopes: [0.5, 1.7],
    minutes: 0.01,
};

/// SPEC allows runs of one system to differ by 5 %, which all systems of its acceptance tests could keep (SPEC MPI2007,
/// run rules); that is three standard deviations of `minutes` and `noise` together. Disturbed launches are assumed.
pub(crate) const BARE: Model = Model {
    name: "bare host",
    source: "chosen within what SPEC MPI2007 tolerates (5 %); fitted to no trace",
    states: ONE_STATE,
    stays: f64::INFINITY,
    noise: [0.003, 0.015],
    disturbed: (0.02, 1.3),
    neighbours: (0.0, [0.0, 0.0]),
    slopes: [1.0, 1.0],
    minutes: 0.005,
};

/// Coefficients of variation in three public clouds reach from 0.03 % to more than 100 % (Laaber, Scheuner and Leitner,
/// Empirical Software Engineering 24, 2019); those of most numbers lie here. Their slowdowns of 10 % are found only if
/// both sides alternate on one instance, so minutes differ by some percent. Many cores leave the ranks' own alone.
pub(crate) const CLOUD: Model = Model {
    name: "cloud host of many cores",
    source: "chosen within what Laaber et al. 2019 report of three clouds; fitted to no trace",
    states: ONE_STATE,
    stays: f64::INFINITY,
    noise: [0.003, 0.3],
    disturbed: (0.05, 2.0),
    neighbours: (0.05, [0.0, 0.3]),
    slopes: [0.0, 2.0],
    minutes: 0.04,
};

impl Model {
    /// Returns the number of its states.
    pub(crate) fn states(self) -> usize {
        self.states.len()
    }

    /// Returns the machine as if it were always in one of its states.
    pub(crate) fn in_state(mut self, state: usize) -> Model {
        self.states = &self.states[state..=state];
        self
    }

    /// Returns the state whose line is nearest to this one.
    pub(crate) fn nearest_state(self, line_us: f64) -> usize {
        let distance = |state: &State| (line_us / state.line_us).ln().abs();
        let all = 0..self.states.len();
        all.min_by(|&a, &b| distance(&self.states[a]).total_cmp(&distance(&self.states[b])))
            .unwrap_or(0)
    }
}

pub(crate) const MODELS: [Model; 3] = [VIRTUAL, BARE, CLOUD];

/// Number of numbers of a run.
pub(crate) const CASES: usize = 12;
/// Number of timed operations of each rank in a launch.
const MOMENTS: usize = 40;
/// Number of such moments for which a neighbour computes: 15 ms of a launch of 10 ms.
const NEIGHBOUR_STAYS: f64 = 60.0;
const RANKS: usize = 2;
const FREE_NS: f64 = 0.1;

/// A machine in time.
pub(crate) struct Machine {
    model: Model,
    random: SplitMix64,
    state: usize,
    /// Share of the time in which a neighbour computes, and the factor of this minute.
    busy: f64,
    minute: f64,
}

impl Machine {
    pub(crate) fn new(model: Model, seed: u64) -> Machine {
        let random = SplitMix64::new(seed);
        let mut machine = Machine { model, random, state: 0, busy: 0.0, minute: 0.0 };
        machine.begin_minute();
        machine
    }

    /// Lets time pass until nothing is as it was.
    pub(crate) fn begin_minute(&mut self) {
        let (_, [low, high]) = self.model.neighbours;
        self.busy = low + (high - low) * self.random.uniform();
        self.minute = self.model.minutes * self.random.normal();
        self.state = self.drawn_state();
    }

    /// Keeps the machine in a state from now on.
    pub(crate) fn stay_in(&mut self, state: usize) {
        (self.model, self.state) = (self.model.in_state(state), 0);
    }

    fn drawn_state(&mut self) -> usize {
        let mut at = self.random.uniform();
        let states = self.model.states;
        let is_reached = |state: &State| {
            at -= state.share;
            at < 0.0
        };
        states.iter().position(is_reached).unwrap_or(states.len() - 1)
    }

    /// Returns the launches of a run of consecutive ones. Numbers for which `planted` is not 1 take so much longer.
    pub(crate) fn run(&mut self, launches: u32, planted: impl Fn(usize) -> f64) -> Run {
        let mut all = Vec::new();
        for launch in 0..launches {
            for case in 0..CASES {
                all.push(self.measure(launch, case, planted(case)));
            }
        }
        Run::of("run", vec![RunHeader::default()], all)
    }

    /// Returns the slowdowns of the moments of one rank by a guest that comes and goes.
    fn neighbour(&mut self, slowdown: f64) -> [f64; MOMENTS] {
        let leaves = 1.0 / NEIGHBOUR_STAYS;
        let comes = leaves * self.busy / (1.0 - self.busy);
        let mut is_busy = self.random.uniform() < self.busy;
        std::array::from_fn(|_| {
            let changes = self.random.uniform() < if is_busy { leaves } else { comes };
            is_busy ^= changes;
            if is_busy { slowdown } else { 0.0 }
        })
    }

    fn measure(&mut self, launch: u32, case: usize, planted: f64) -> Measurement {
        let Model { states, stays, noise, disturbed, neighbours, slopes, .. } = self.model;
        let along = case as f64 / (CASES - 1) as f64;
        let between = |[low, high]: [f64; 2], at: f64| low + (high - low) * at;
        let before = self.state;
        if self.random.uniform() < 1.0 / stays {
            self.state = self.drawn_state();
        }
        let line_us = [before, self.state]
            .map(|state| states[state].line_us * (0.02 * self.random.normal()).exp());
        // Which half of the numbers follows the operations steeply has nothing to do with its noise.
        let slope = between(slopes, (case * 5 % CASES) as f64 / (CASES - 1) as f64);
        let slowdowns: Vec<f64> = (0..RANKS).flat_map(|_| self.neighbour(neighbours.0)).collect();
        let slowdown = slowdowns.iter().sum::<f64>() / slowdowns.len() as f64;
        let sd = noise[0] * (noise[1] / noise[0]).powf(along);
        let mut log = self.minute + slope * slowdown + sd * self.random.normal();
        if self.random.uniform() < disturbed.0 {
            log += disturbed.1.ln() * self.random.uniform();
        }
        log += states[before].factor.ln() * (0.5 + along / 2.0);
        let us = 10.0 * planted * log.exp();
        let operations_ns = slowdowns.iter().map(|slowdown| FREE_NS * slowdown.exp()).collect();
        let turn =
            Repetition { samples: 1, clock_share: 0.0, line_us: Some(line_us), operations_ns };
        Measurement {
            benchmark: format!("number-{case}"),
            fabric: "local".into(),
            launch,
            ranks: RANKS,
            size_bytes: 8,
            samples: vec![us],
            turns: vec![turn],
            ..Measurement::new(
                "time",
                "us",
                Better::Lower,
                Summary::of_interval((us, us, us), 1, 0.0),
            )
        }
    }
}
