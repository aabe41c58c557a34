//! Which pauses prevent a shorter period: of which kind, and in which stage.

use analysis::replay::{Causes, Lost, Recording, lost_kinds};
use record::{WithoutPauses, WithoutStage};

use super::Forecast;

/// The kinds of pauses that are explained, and the stages of each.
const EXPLAINED: usize = 5;

/// A stage that lost less than one of so many parts of what a kind took lost little of it.
const LITTLE: f64 = 8.0;

/// The predictions with fewer pauses.
#[derive(Default)]
pub(super) struct Explanation {
    pub(super) without: Vec<WithoutPauses>,
    pub(super) without_stages: Vec<WithoutStage>,
}

impl Forecast {
    /// The kinds and stages without whose pauses the period could be another than `shortest_us`.
    pub(super) fn explanation(&self, shortest_us: Option<f64>) -> Explanation {
        let recording = &self.recording;
        let kinds = lost_kinds(recording);
        let lost: Vec<Lost> = kinds.iter().flat_map(|kind| &kind.lost).copied().collect();
        let without = kinds.into_iter().filter_map(|kind| {
            let without_us = self.without_us(&kind.without, shortest_us);
            // A kind whose absence changes nothing explains nothing.
            if without_us == shortest_us {
                return None;
            }
            let causes = recording.causes(&kind.lost, &self.seen);
            let (ranks, stages) = match causes.are_known() {
                true => (causes.ranks(), self.main_stages(&causes, kind.share, shortest_us)),
                false => (Vec::new(), Vec::new()),
            };
            let (kind, share, shortest_us) = (kind.kind, kind.share, without_us);
            Some(WithoutPauses { kind, ranks, share, shortest_us, stages })
        });
        let without = without.take(EXPLAINED).collect();
        let causes = recording.causes(&lost, &self.seen);
        let mut without_stages = self.stages(&causes, shortest_us);
        without_stages.retain(|stage| stage.shortest_us != shortest_us);
        without_stages.truncate(EXPLAINED);
        Explanation { without, without_stages }
    }

    /// Returns the shortest period without some pauses, where it is `shortest_us` with them. Without pauses every instance ends
    /// as early or earlier, so that no longer period is needed. The curve of what remains may show another one: its instances
    /// are usually earlier, too, and what is later than usual counts.
    pub(super) fn without_us(&self, without: &Recording, shortest_us: Option<f64>) -> Option<f64> {
        let found = self.shortest_us(&self.curve(without));
        found.into_iter().chain(shortest_us).reduce(f64::min)
    }

    /// The stages of a kind of pauses that took this share of the recording, without those that lost little of it.
    fn main_stages(
        &self,
        causes: &Causes,
        share: f64,
        shortest_us: Option<f64>,
    ) -> Vec<WithoutStage> {
        let mut stages = self.stages(causes, shortest_us);
        stages.retain(|stage| LITTLE * stage.share >= share);
        stages.truncate(EXPLAINED);
        stages
    }

    /// All stages with pauses among `causes`, each with the prediction without those pauses. The stage that lost most
    /// comes first.
    fn stages(&self, causes: &Causes, shortest_us: Option<f64>) -> Vec<WithoutStage> {
        let recording = &self.recording;
        let of_stage = |stage: usize| {
            let without = recording.without_pauses(causes, |pause| pause.stage == Some(stage));
            WithoutStage {
                stage: stage as u64,
                name: self.basis.stages.get(stage).cloned().unwrap_or_default(),
                ranks: causes.of_stage(stage).ranks(),
                share: (recording.lost_us() - without.lost_us()) / recording.length_us(),
                shortest_us: self.without_us(&without, shortest_us),
            }
        };
        let mut stages: Vec<WithoutStage> = causes.stages().into_iter().map(of_stage).collect();
        stages.sort_by(|a, b| b.share.total_cmp(&a.share));
        stages
    }
}

#[cfg(test)]
mod tests {
    use contract::{Time, TimeSpan};
    use record::{During, Forecast as ForecastRecord};

    use super::super::tests::run;
    use super::*;
    use crate::period::acceptance::Acceptance;
    use crate::period::notes::Interruption;
    use crate::period::outcome::SearchBasis;

    /// The work of each stage on an instance. The second is nearly as slow as the first.
    const WORK_US: [f64; 2] = [100.0, 97.0];
    /// The instances that may wait between the stages.
    const BUFFERS: usize = 2;
    const INSTANCES: usize = 20_000;

    /// The pauses of a stage's processor: the first, the distance between two, and their length, in microseconds.
    #[derive(Clone, Copy)]
    struct Pauses {
        first_us: f64,
        every_us: f64,
        length_us: f64,
    }

    impl Pauses {
        /// When work that begins at `from_us` is done.
        fn done(&self, from_us: f64, work_us: f64) -> f64 {
            let (mut at_us, mut left_us) = (from_us, work_us);
            loop {
                let number = ((at_us - self.first_us) / self.every_us).floor().max(0.0);
                let begin_us = self.first_us + number * self.every_us;
                let end_us = begin_us + self.length_us;
                if (begin_us..end_us).contains(&at_us) {
                    at_us = end_us;
                }
                let next_us = if at_us < begin_us { begin_us } else { begin_us + self.every_us };
                if at_us + left_us <= next_us {
                    return at_us + left_us;
                }
                left_us -= next_us - at_us;
                at_us = next_us;
            }
        }
    }

    /// What is recorded and explained of two stages with these pauses, each on a rank of its own: the recursion of a
    /// chain with a buffer, instance by instance.
    fn explained(pauses: [Pauses; 2]) -> ForecastRecord {
        let mut noted = Vec::new();
        let mut ends: [Vec<f64>; 2] = [const { Vec::new() }; 2];
        for instance in 0..INSTANCES {
            let mut came_us = 0.0f64;
            for stage in 0..2 {
                let free_us = ends[stage].last().copied().unwrap_or(0.0);
                // A stage waits for room: until the next one has ended what is so many instances before.
                let behind = instance.checked_sub(BUFFERS).filter(|_| stage == 0);
                let room_us = behind.map_or(0.0, |instance| ends[1][instance]);
                let begin_us = came_us.max(free_us).max(room_us);
                came_us = pauses[stage].done(begin_us, WORK_US[stage]);
                ends[stage].push(came_us);
                let more_us = came_us - begin_us - WORK_US[stage];
                if more_us > 50.0 {
                    let span = |us: f64| TimeSpan::from_s(us / 1e6);
                    let (at, length) = (Time::ZERO + span(begin_us), span(more_us));
                    let (during, stage_number) = (During::Computing, Some(1 + stage as u64));
                    noted.push((stage, Interruption { at, length, during, stage: stage_number }));
                }
            }
        }
        let ends_ps = ends[1].iter().map(|us| (us * 1e6) as u64).collect();
        let mut recorded = run(ends_ps);
        recorded.pauses = noted;
        let wanted = Acceptance { miss_rate: 0.05, confidence: 0.95 };
        let stages = ["source", "first", "second", "sink"].map(String::from).to_vec();
        let basis = SearchBasis { stages, ..SearchBasis::default() };
        Forecast::new(&recorded, &[197_000_000; 9], basis, wanted, true).unwrap().record()
    }

    const FIRST: Pauses = Pauses { first_us: 3_000.0, every_us: 20_000.0, length_us: 900.0 };
    const SECOND: Pauses = Pauses { first_us: 7_500.0, every_us: 23_000.0, length_us: 1_000.0 };

    fn without(pauses: Pauses) -> Pauses {
        Pauses { length_us: 0.0, ..pauses }
    }

    #[test]
    fn the_pauses_of_a_stage_are_worth_what_the_chain_gains_without_them() {
        let both = explained([FIRST, SECOND]);
        let step = 1.09f64;
        for (stage, name, rest) in
            [(1, "first", [without(FIRST), SECOND]), (2, "second", [FIRST, without(SECOND)])]
        {
            let worth = both.without_stages.iter().find(|one| one.stage == stage).unwrap();
            assert_eq!((&worth.name[..], &worth.ranks[..]), (name, &[stage as usize - 1][..]));
            // The chain that never had these pauses, within a step of the curve.
            let truth = explained(rest);
            let ratio = worth.shortest_us.unwrap() / truth.shortest_us.unwrap();
            assert!((0.99 / step..1.01 * step).contains(&ratio), "{worth:?} {truth:?}");
            // Only the other stage still matters there, and it is worth all.
            let [other] = &truth.without_stages[..] else { panic!("{truth:?}") };
            assert_eq!((other.stage, other.shortest_us), (3 - stage, truth.without_all_us));
        }
    }

    #[test]
    fn no_period_is_longer_without_pauses() {
        let seed = 62;
        let mut random = random::SplitMix64::new(seed);
        // Whole microseconds, so that moments are exact.
        let mut draw = |low: f64, high: f64| (low + (high - low) * random.uniform()).round();
        let mut changes = 0;
        for number in 0..12 {
            let pauses = [(); 2].map(|()| Pauses {
                first_us: draw(0.0, 9000.0),
                every_us: draw(9000.0, 60_000.0),
                length_us: draw(200.0, 4000.0),
            });
            let found = explained(pauses);
            let Some(shortest_us) = found.shortest_us else { continue };
            let kinds = found.without.iter().flat_map(|kind| {
                kind.stages.iter().map(|stage| stage.shortest_us).chain([kind.shortest_us])
            });
            let stages = found.without_stages.iter().map(|stage| stage.shortest_us);
            for us in kinds.chain(stages).chain([found.without_all_us]) {
                changes += 1;
                assert!(us.is_some_and(|us| us <= shortest_us), "seed {seed}, {number}: {found:?}");
            }
        }
        assert!(changes > 24, "{changes}");
    }

    #[test]
    fn a_kind_that_comes_in_two_stages_is_told_apart_by_stage() {
        // The same pauses, a quarter of a period later.
        let later = Pauses { first_us: 8_000.0, ..FIRST };
        let both = explained([FIRST, later]);
        let [kind] = &both.without[..] else { panic!("{:?}", both.without) };
        assert_eq!(kind.ranks, [0, 1]);
        assert_eq!(kind.shortest_us, both.without_all_us);
        assert!((kind.kind.period_us / FIRST.every_us - 1.0).abs() < 0.01, "{kind:?}");
        let mut stages: Vec<u64> = kind.stages.iter().map(|stage| stage.stage).collect();
        stages.sort_unstable();
        assert_eq!(stages, [1, 2]);
        // There is no other kind, so a stage without this one has no pauses.
        assert_eq!(kind.stages, both.without_stages);
    }
}
