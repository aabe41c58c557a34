//! Contenders timed in turn, so that a disturbance of the machine affects all of them.

use std::time::Instant;

const ROUNDS: usize = 15;
const SAMPLE_S: f64 = 300e-6;

/// One of several implementations of the same computation.
pub(crate) struct Contender<'a> {
    name: String,
    body: Box<dyn FnMut() + 'a>,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(name: impl Into<String>, body: impl FnMut() + 'a) -> Self {
        Contender { name: name.into(), body: Box::new(body) }
    }

    /// Returns the seconds for one call, averaged over `repeats` calls.
    fn sample(&mut self, repeats: usize) -> f64 {
        let start = Instant::now();
        for _ in 0..repeats {
            (self.body)();
        }
        start.elapsed().as_secs_f64() / repeats as f64
    }
}

/// Median seconds of one call of each contender.
pub(crate) struct Race(Vec<(String, f64)>);

impl Race {
    /// Runs every contender once in each round.
    pub(crate) fn run(mut contenders: Vec<Contender>) -> Race {
        let repeats: Vec<usize> = contenders
            .iter_mut()
            .map(|contender| {
                contender.sample(2);
                (SAMPLE_S / contender.sample(2).max(1e-9)).ceil() as usize
            })
            .collect();
        let mut samples = vec![Vec::new(); contenders.len()];
        for _ in 0..ROUNDS {
            for (at, contender) in contenders.iter_mut().enumerate() {
                samples[at].push(contender.sample(repeats[at]));
            }
        }
        let medians = samples.into_iter().map(|mut of_one| {
            of_one.sort_by(f64::total_cmp);
            of_one[ROUNDS / 2]
        });
        Race(contenders.into_iter().map(|c| c.name).zip(medians).collect())
    }

    /// Returns the seconds of the contender `name`, if it took part.
    pub(crate) fn seconds(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(of, _)| of == name).map(|&(_, seconds)| seconds)
    }

    /// Returns the seconds of the fastest of `names` that took part.
    pub(crate) fn best(&self, names: &[&str]) -> Option<f64> {
        names.iter().filter_map(|name| self.seconds(name)).min_by(f64::total_cmp)
    }

    /// Returns every contender's name and rate, `work` per second in thousand millions.
    pub(crate) fn line(&self, work: f64) -> String {
        let rate = |(name, seconds): &(String, f64)| format!("{name} {:.1}", work / seconds / 1e9);
        self.0.iter().map(rate).collect::<Vec<_>>().join("  ")
    }
}
