use super::*;
use random::SplitMix64;

/// Returns pauses every `period_s` from `first_s` on, of a length between two, each up to `jitter_s` late.
fn every(
    random: &mut SplitMix64,
    (first_s, period_s, jitter_s): (f64, f64, f64),
    (low_us, high_us): (f64, f64),
    until_s: f64,
) -> Vec<Pause> {
    let count = ((until_s - first_s) / period_s).ceil() as usize;
    (0..count)
        .map(|k| Pause {
            at_s: first_s + k as f64 * period_s + jitter_s * random.uniform(),
            length_us: low_us + (high_us - low_us) * random.uniform(),
        })
        .collect()
}

fn together(parts: &[Vec<Pause>]) -> Vec<Pause> {
    let mut all: Vec<Pause> = parts.iter().flatten().cloned().collect();
    all.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    all
}

fn near(found: f64, expected: f64, share: f64) -> bool {
    (found / expected - 1.0).abs() < share
}

/// Tests the pauses that MITRE (1995), figures 4.4 and 4.5, show of a Paragon: pauses of 105 to 120 µs every 10 ms, one
/// of 200 µs every second and one of 350 µs every two.
#[test]
fn the_pauses_of_the_paragon_are_told_apart() {
    for seed in 0..20 {
        let random = &mut SplitMix64::new(seed);
        let pauses = together(&[
            every(random, (0.0031, 0.01, 2e-5), (105.0, 120.0), 20.0),
            every(random, (0.47, 1.0, 1e-3), (195.0, 205.0), 20.0),
            every(random, (0.73, 2.0, 1e-3), (340.0, 360.0), 20.0),
        ]);
        let kinds = classify(&pauses, 20.0);
        let seen: Vec<f64> = kinds.iter().map(|kind| kind.period_us.round()).collect();
        assert!(
            kinds.len() == 3 && kinds.iter().all(|kind| kind.regular),
            "seed {seed}: {kinds:?}"
        );
        for (kind, (period_us, length_us)) in
            kinds.iter().zip([(1e4, 112.0), (1e6, 200.0), (2e6, 350.0)])
        {
            assert!(near(kind.period_us, period_us, 1e-3), "seed {seed}: {seen:?}");
            assert!(near(kind.length_median_us, length_us, 0.03), "seed {seed}: {kind:?}");
        }
        assert_eq!(kinds[0].count, 2000, "seed {seed}");
    }
}

#[test]
fn a_tick_that_is_sometimes_too_short_to_see_is_still_a_tick() {
    let random = &mut SplitMix64::new(3);
    let mut pauses = every(random, (0.001, 0.004, 1e-5), (3.0, 4.0), 4.0);
    pauses.retain(|_| random.uniform() < 0.8);
    let kinds = classify(&pauses, 4.0);
    assert!(kinds[0].regular && near(kinds[0].period_us, 4000.0, 1e-3), "{kinds:?}");
    assert!(kinds[0].count > 700);
}

#[test]
fn pauses_at_random_moments_have_no_period() {
    for seed in 0..20 {
        let random = &mut SplitMix64::new(seed);
        let mut pauses: Vec<Pause> = (0..60)
            .map(|_| Pause {
                at_s: 10.0 * random.uniform(),
                length_us: 1.0 + 99.0 * random.uniform(),
            })
            .collect();
        pauses.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let kinds = classify(&pauses, 10.0);
        let irregular = kinds.iter().filter(|kind| !kind.regular);
        assert!(irregular.map(|kind| kind.count).sum::<u64>() >= 50, "seed {seed}: {kinds:?}");
    }
}

#[test]
fn few_pauses_are_rare_and_none_are_nothing() {
    assert_eq!(classify(&[], 1.0), []);
    let kinds = classify(&[Pause { at_s: 0.5, length_us: 70.0 }], 2.0);
    assert_eq!((kinds.len(), kinds[0].regular, kinds[0].count), (1, false, 1));
    assert_eq!((kinds[0].period_us, kinds[0].length_max_us), (2e6, 70.0));
}

/// Tests pauses as on Linux in a virtual machine: thousands of short ones at any moment, and among them one of a
/// millisecond every half second.
#[test]
fn a_rare_kind_is_found_among_thousands_of_short_pauses() {
    for seed in 0..5 {
        let random = &mut SplitMix64::new(seed);
        let crowd = (0..4000).map(|_| Pause {
            at_s: 20.0 * random.uniform(),
            length_us: 2.0 + 60.0 * random.uniform(),
        });
        let crowd: Vec<Pause> = crowd.collect();
        let pauses = together(&[crowd, every(random, (0.3, 0.512, 1e-4), (1050.0, 1150.0), 20.0)]);
        let sorted = sort(&pauses, 20.0);
        let rare: Vec<&PauseKind> = sorted.kinds.iter().filter(|kind| kind.regular).collect();
        assert_eq!(rare.len(), 1, "seed {seed}: {:?}", sorted.kinds);
        // (20 - 0.3) / 0.512 = 38.5 distances, so 39 pauses.
        assert!(near(rare[0].period_us, 512e3, 1e-3) && rare[0].count == 39, "seed {seed}");
        assert!((rare[0].first_s - 0.3).abs() < 2e-3, "seed {seed}: {rare:?}");
        // All others, by decades of their length: 2 to 10 µs, 10 to 62 µs.
        let counted = |place| sorted.kind_of.iter().filter(|&&kind| kind == place).count() as u64;
        assert_eq!(sorted.kinds.len(), 3, "seed {seed}: {:?}", sorted.kinds);
        assert!((0..3).all(|place| counted(place) == sorted.kinds[place].count), "seed {seed}");
        assert!(sorted.kinds[1].length_max_us < 10.0 && sorted.kinds[2].length_min_us >= 10.0);
    }
}
