//! The processors of the ranks of a launch, drawn for each launch among similar processors (docs/decisions/0112).

use benchmark::{Launch, Placement};
use random::{SplitMix64, mix};
use serde::{Deserialize, Serialize};

use crate::environment::{ProcessorPlace, processor_places};

/// Numbers that determine the processors of a launch's ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Draw {
    seed: u64,
    launch: u32,
}

impl Draw {
    /// Returns the draw of a launch, or `None` for the first launch and for ranks that must stay in order.
    pub(super) fn of(launch: &Launch) -> Option<Draw> {
        let is_dealt = launch.places > 0 && launch.placement != Placement::InOrder;
        is_dealt.then_some(Draw { seed: launch.job.settings.seed, launch: launch.places })
    }

    /// Returns the draw as a word for the command line of a rank on another host.
    pub(super) fn to_word(self) -> String {
        format!("{}:{}", self.seed, self.launch)
    }

    /// The draw of such a word.
    pub(super) fn from_word(word: &str) -> Option<Draw> {
        let (seed, launch) = word.split_once(':')?;
        Some(Draw { seed: seed.parse().ok()?, launch: launch.parse().ok()? })
    }

    /// Returns the processors of this host in the drawn order. Empty if the kernel does not show their places.
    pub(super) fn processors(self) -> Vec<usize> {
        let allowed = launcher::system::allowed_processors().unwrap_or_default();
        processor_places(&allowed).map_or_else(Vec::new, |places| self.among(&places))
    }

    /// Returns the processors in the drawn order. Any two have the relation that the two at the same positions of
    /// `places` have: the same core, the same cache, another package.
    fn among(self, places: &[ProcessorPlace]) -> Vec<usize> {
        let mut random = SplitMix64::new(mix(mix(self.seed) ^ u64::from(self.launch)));
        let mut pairs = Vec::with_capacity(places.len());
        let all: Vec<&ProcessorPlace> = places.iter().collect();
        pair(&all, &all, 0, &mut random, &mut pairs);
        let dealt = |place: &ProcessorPlace| pairs.iter().find(|(from, _)| *from == place.number);
        places.iter().filter_map(dealt).map(|&(_, to)| to).collect()
    }
}

/// Pairs the processors of two parts of the same shape. Each part of `from` is paired with a random part of `to` of the
/// same shape. `level` is the number of the enclosing parts.
fn pair(
    from: &[&ProcessorPlace],
    to: &[&ProcessorPlace],
    level: usize,
    random: &mut SplitMix64,
    pairs: &mut Vec<(usize, usize)>,
) {
    if let ([from], [to]) = (from, to) {
        pairs.push((from.number, to.number));
        return;
    }
    let mut others = split(to, level);
    random.shuffle(&mut others);
    for part in split(from, level) {
        let wanted = shape(&part, level + 1);
        let alike = others.iter().position(|other| shape(other, level + 1) == wanted);
        let other = others.swap_remove(alike.expect("parts of the same shape have the same parts"));
        pair(&part, &other, level + 1, random, pairs);
    }
}

/// Returns the parts at this level, in the order of their first processors. Below the core, each processor is a part.
fn split<'a>(all: &[&'a ProcessorPlace], level: usize) -> Vec<Vec<&'a ProcessorPlace>> {
    let mut parts: Vec<Vec<&ProcessorPlace>> = Vec::new();
    for &one in all {
        let name = one.parts.get(level);
        let same =
            |part: &&mut Vec<&ProcessorPlace>| name.is_some() && part[0].parts.get(level) == name;
        match parts.iter_mut().find(same) {
            Some(part) => part.push(one),
            None => parts.push(vec![one]),
        }
    }
    parts
}

/// Returns a text that is equal for parts with interchangeable processors.
fn shape(part: &[&ProcessorPlace], level: usize) -> String {
    match part {
        [one] => one.kind.clone(),
        _ => {
            let parts = split(part, level);
            let mut shapes: Vec<String> = parts.iter().map(|part| shape(part, level + 1)).collect();
            shapes.sort();
            format!("({})", shapes.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use benchmark::{Job, Settings};

    use super::*;

    /// Returns two packages of two cores with two processors each. As on real machines, the second processors of the
    /// cores have the higher numbers: package 0 has 0, 1, 4, 5 and package 1 has 2, 3, 6, 7.
    fn two_packages() -> Vec<ProcessorPlace> {
        let place = |number: usize| {
            let (package, core) = (number % 4 / 2, number % 4);
            let parts = [package, package, package, core, core].map(|part| part.to_string());
            ProcessorPlace { number, parts, kind: "3000000".into() }
        };
        (0..8).map(place).collect()
    }

    fn draws(places: &[ProcessorPlace]) -> Vec<Vec<usize>> {
        (1..=2000).map(|launch| Draw { seed: 1, launch }.among(places)).collect()
    }

    /// Returns the number of parts that two processors share, from the largest on.
    fn shared(places: &[ProcessorPlace], a: usize, b: usize) -> usize {
        let parts = |number: usize| &places.iter().find(|one| one.number == number).unwrap().parts;
        parts(a).iter().zip(parts(b)).take_while(|(a, b)| a == b).count()
    }

    #[test]
    fn two_ranks_keep_their_relation_and_reach_every_place_that_has_it() {
        let places = two_packages();
        let mut seen = BTreeSet::new();
        for dealt in draws(&places) {
            for (a, b) in (0..8).flat_map(|a| (0..8).map(move |b| (a, b))) {
                let kept = shared(&places, dealt[a], dealt[b]) == shared(&places, a, b);
                assert!(kept, "processors {a} and {b} in {dealt:?}");
            }
            seen.insert(dealt);
        }
        // The packages can be exchanged, the cores in each, and the processors in each core: 2 x 2^2 x 2^4 orders.
        assert_eq!(seen.len(), 128);
    }

    #[test]
    fn slow_cores_and_smaller_parts_stay_where_they_are() {
        let mut hybrid = two_packages();
        // The cores 0 and 2 are slow. Each package has one slow and one fast core, which cannot be exchanged.
        for place in hybrid.iter_mut().filter(|place| place.number % 2 == 0) {
            place.kind = "2000000".into();
        }
        let orders: BTreeSet<Vec<usize>> = draws(&hybrid).into_iter().collect();
        assert!(orders.iter().flatten().enumerate().all(|(at, one)| at % 2 == one % 2));
        assert_eq!(orders.len(), 2 << 4);
        // Without processor 7, the packages differ, and so do the cores of package 1. The two cores of package 0 can be
        // exchanged, and the two processors of each of the cores 0, 1 and 2.
        let orders: BTreeSet<Vec<usize>> = draws(&two_packages()[..7]).into_iter().collect();
        assert_eq!(orders.len(), 2 << 3);
        assert!(orders.iter().all(|order| order[3] == 3));
    }

    #[test]
    fn the_first_launch_and_ranks_in_order_keep_their_processors() {
        // A run may be one launch of several, so the number of the launch in the run does not decide.
        let launch = |places, placement| Launch {
            ranks: 2,
            placement,
            number: 0,
            places,
            job: Job { steps: Vec::new(), settings: Settings::default(), limit_s: None },
        };
        assert_eq!(Draw::of(&launch(0, Placement::Spread)), None);
        assert_eq!(Draw::of(&launch(1, Placement::InOrder)), None);
        let dealt = Draw::of(&launch(1, Placement::Spread)).unwrap();
        assert_eq!(dealt.launch, 1);
        assert_eq!(Draw::from_word(&dealt.to_word()), Some(dealt));
        assert!(
            ["", "-", "1", "1:", ":1", "1:x"].iter().all(|word| Draw::from_word(word).is_none())
        );
        let mut here = dealt.processors();
        here.sort_unstable();
        let allowed = launcher::system::allowed_processors().unwrap();
        assert!(here == allowed || here.is_empty(), "{here:?} of {allowed:?}");
        assert_eq!(dealt.among(&two_packages()), dealt.among(&two_packages()));
    }
}
