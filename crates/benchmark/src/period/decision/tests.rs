use super::*;
use random::SplitMix64;

/// A model machine: a period is sustained with a probability that rises from 0 to 1 between `truth` and `truth * (1 +
/// softness)`.
struct Model {
    truth_ps: f64,
    softness: f64,
    random: SplitMix64,
}

impl Model {
    /// Makes a trial. Returns the result of all trials of its period together: one outcome, or unclear if they differ.
    fn sustains(&mut self, period: TimeSpan, before: Option<Verdict>) -> Verdict {
        let above = period.as_ps() as f64 / self.truth_ps - 1.0;
        let sustained = if self.softness == 0.0 {
            above >= 0.0
        } else {
            above / self.softness > self.random.uniform()
        };
        let now = if sustained { Verdict::Sustained } else { Verdict::Refused };
        if before.is_none_or(|before| before == now) { now } else { Verdict::Unclear }
    }
}

const US: u64 = 1_000_000;

fn range() -> SearchRange {
    SearchRange {
        shortest: TimeSpan::from_ns(1),
        longest: TimeSpan::from_us(1_000_000),
        width: 0.02,
        repeats: 3,
    }
}

fn run(range: SearchRange, guess: TimeSpan, model: &mut Model) -> (Answer, Decision) {
    let mut decision = Decision::new(range, guess);
    loop {
        match decision.next() {
            NextStep::Done(answer) => return (answer, decision),
            NextStep::Try(period) => {
                assert!(period >= range.shortest && period <= range.longest);
                let before = decision.evidence.get(&period.as_ps()).map(|e| e.verdict);
                let verdict = model.sustains(period, before);
                decision.record(period, verdict);
            }
        }
    }
}

fn interval(answer: &Answer) -> (f64, f64) {
    let end = |span: Option<TimeSpan>| span.unwrap().as_ps() as f64;
    (end(answer.longest_refused), end(answer.shortest_sustained))
}

#[test]
fn a_quiet_machine_is_pinned_down_whatever_the_guess() {
    for seed in 0..500u64 {
        let mut model = Model { truth_ps: 0.0, softness: 0.0, random: SplitMix64::new(seed) };
        // From 10 ns to 100 ms, guessed up to a factor of 20 off either way.
        model.truth_ps = 1e4 * 10f64.powf(7.0 * model.random.uniform());
        let guess = model.truth_ps * 20f64.powf(2.0 * model.random.uniform() - 1.0);
        let (answer, decision) = run(range(), TimeSpan::from_ps(guess as u64), &mut model);
        let (low, high) = interval(&answer);
        assert_eq!(answer.end, SearchEnd::Settled, "seed {seed}");
        assert!(low < model.truth_ps && model.truth_ps <= high, "seed {seed}");
        assert!(high <= low * 1.02, "seed {seed}: {low} to {high}");
        let tried = |ps: f64| decision.evidence[&(ps as u64)];
        assert_eq!((tried(low).verdict, tried(low).trials), (Verdict::Refused, 3), "seed {seed}");
        assert_eq!(
            (tried(high).verdict, tried(high).trials),
            (Verdict::Sustained, 3),
            "seed {seed}"
        );
        // At most 5 steps outwards by 1.15, 1.32, 1.75, 3.06 and 4, 7 halvings of ln 4 to ln 1.02, 4 repeats.
        assert!(decision.trials <= 18, "seed {seed}: {} trials", decision.trials);
    }
}

#[test]
fn the_ends_of_a_settled_search_were_never_contradicted() {
    for seed in 0..300u64 {
        let mut model = Model { truth_ps: 5e9, softness: 0.08, random: SplitMix64::new(seed) };
        let (answer, decision) = run(range(), TimeSpan::from_us(4000), &mut model);
        if answer.end != SearchEnd::Settled {
            continue;
        }
        let (low, high) = interval(&answer);
        for (&period, evidence) in &decision.evidence {
            let refused = evidence.verdict == Verdict::Refused;
            assert!(period as f64 > low || refused, "seed {seed}");
            let sustained = evidence.verdict == Verdict::Sustained;
            assert!((period as f64) < high || sustained, "seed {seed}");
        }
    }
}

#[test]
fn intervals_of_two_searches_of_a_noisy_machine_overlap_nine_times_in_ten() {
    for softness in [0.0, 0.01, 0.03, 0.1, 0.3] {
        let mut disjoint = 0;
        for seed in 0..500u64 {
            let search = |seed: u64| {
                let mut model = Model { truth_ps: 5e9, softness, random: SplitMix64::new(seed) };
                interval(&run(range(), TimeSpan::from_us(4000), &mut model).0)
            };
            let [a, b] = [search(2 * seed), search(2 * seed + 1)];
            disjoint += u32::from(a.1 < b.0 || b.1 < a.0);
        }
        assert!(disjoint <= 50, "softness {softness}: {disjoint} of 500 pairs do not overlap");
    }
}

#[test]
fn the_same_outcomes_give_the_same_search() {
    let answer = || {
        let mut model = Model { truth_ps: 7e8, softness: 0.05, random: SplitMix64::new(42) };
        run(range(), TimeSpan::from_us(1000), &mut model).0
    };
    assert_eq!(answer(), answer());
}

#[test]
fn a_machine_that_never_sustains_ends_the_search_at_the_longest_period() {
    let mut model = Model { truth_ps: f64::INFINITY, softness: 0.0, random: SplitMix64::new(1) };
    let (answer, decision) = run(range(), TimeSpan::from_us(10), &mut model);
    assert_eq!(answer.end, SearchEnd::NeverSustained);
    assert_eq!(answer.longest_refused, Some(range().longest));
    assert_eq!(answer.shortest_sustained, None);
    assert!(decision.trials < 15, "{}", decision.trials);
}

#[test]
fn a_machine_that_sustains_everything_ends_the_search_at_the_shortest_period() {
    let mut model = Model { truth_ps: 0.0, softness: 0.0, random: SplitMix64::new(1) };
    model.truth_ps = 1.0;
    let (answer, _) = run(range(), TimeSpan::from_us(10), &mut model);
    assert_eq!(answer.end, SearchEnd::AlwaysSustained);
    assert_eq!(answer.shortest_sustained, Some(range().shortest));
    assert_eq!(answer.longest_refused, None);
}

#[test]
fn a_machine_of_pure_chance_comes_to_an_end() {
    for seed in 0..50u64 {
        let mut model = Model { truth_ps: 1.0, softness: 0.0, random: SplitMix64::new(seed) };
        let mut decision = Decision::new(range(), TimeSpan::from_us(US / 1000));
        let mut trials = 0;
        while let NextStep::Try(period) = decision.next() {
            let heads = model.random.uniform() < 0.5;
            decision.record(period, if heads { Verdict::Sustained } else { Verdict::Refused });
            trials += 1;
        }
        assert!(trials <= TRIALS_MAX, "seed {seed}");
    }
}

#[test]
fn an_end_that_changes_its_mind_widens_the_interval() {
    use Verdict::{Refused, Sustained, Unclear};
    let us = |us: u64| TimeSpan::from_us(us);
    let mut decision = Decision::new(SearchRange { width: 0.1, repeats: 2, ..range() }, us(1000));
    decision.record(us(1000), Refused);
    decision.record(us(1050), Sustained);
    assert_eq!(decision.next(), NextStep::Try(us(1050)));
    decision.record(us(1050), Unclear);
    // No period above 1050 is sustained. The square of the step from 1000 to 1050 is less than the first step of 1.15,
    // so that is the next one.
    let NextStep::Try(next) = decision.next() else { panic!("it must go on") };
    assert!((next.as_us() - 1050.0 * 1.15).abs() < 0.01, "{next:?}");
    decision.record(next, Sustained);
    // The gap from 1050 to 1207 is too wide.
    let NextStep::Try(middle) = decision.next() else { panic!("it must go on") };
    assert!((middle.as_us() - (1050.0 * next.as_us()).sqrt()).abs() < 0.01, "{middle:?}");
    decision.record(middle, Unclear);
    let NextStep::Done(answer) = decision.done(SearchEnd::TimeLimit) else {
        panic!("it was ended")
    };
    assert_eq!((answer.longest_refused, answer.shortest_sustained), (Some(us(1000)), Some(next)));
}

/// Tests a period in between that stays unclear: both gaps beside it are narrowed, and it is tried as often as the
/// ends.
#[test]
fn what_stays_unclear_lies_inside_the_interval_and_is_tried_again() {
    let range = SearchRange { width: 0.1, repeats: 3, ..range() };
    let mut decision = Decision::new(range, TimeSpan::from_us(1000));
    let answer = loop {
        match decision.next() {
            NextStep::Done(answer) => break answer,
            NextStep::Try(period) => decision.record(
                period,
                match period.as_us() {
                    us if us < 900.0 => Verdict::Refused,
                    us if us > 1200.0 => Verdict::Sustained,
                    _ => Verdict::Unclear,
                },
            ),
        }
    };
    let (low, high) = interval(&answer);
    assert_eq!(answer.end, SearchEnd::Settled);
    assert!((810e6..900e6).contains(&low) && (1200e6..1320e6).contains(&high), "{low} {high}");
    let unclear: Vec<u32> = decision
        .evidence
        .values()
        .filter(|e| e.verdict == Verdict::Unclear)
        .map(|e| e.trials)
        .collect();
    assert!(unclear[0] >= 3 && *unclear.last().unwrap() >= 3, "{unclear:?}");
}

#[test]
fn a_search_in_a_hurry_halves_wide_gaps_and_then_tries_its_ends_again() {
    let us = |us: u64| TimeSpan::from_us(us);
    let mut decision = Decision::new(SearchRange { repeats: 2, ..range() }, us(1000));
    decision.hurry();
    decision.record(us(1000), Verdict::Refused);
    decision.record(us(1440), Verdict::Sustained);
    assert_eq!(decision.next(), NextStep::Try(us(1200)), "halves the gap of 1.44");
    decision.record(us(1200), Verdict::Sustained);
    let NextStep::Try(middle) = decision.next() else { panic!("a gap of 1.2 is wide") };
    assert!((middle.as_us() - 1095.45).abs() < 0.01, "{middle:?}");
    // A gap of 1.095 is left.
    decision.record(middle, Verdict::Refused);
    for (period, verdict) in [(us(1200), Verdict::Sustained), (middle, Verdict::Refused)] {
        let NextStep::Try(next) = decision.next() else { panic!("each end is tried twice") };
        assert!(next == us(1200) || next == middle, "{next:?}");
        decision.record(period, verdict);
    }
    let NextStep::Done(answer) = decision.next() else { panic!("both ends were tried twice") };
    assert_eq!(answer.end, SearchEnd::TimeLimit);
    assert_eq!((answer.longest_refused, answer.shortest_sustained), (Some(middle), Some(us(1200))));
}

#[test]
fn steps_beyond_a_predicted_period_are_moderate() {
    let us = |us: u64| TimeSpan::from_us(us);
    let mut decision = Decision::new(range(), us(4000));
    decision.record(us(4000), Verdict::Sustained);
    decision.record(us(1000), Verdict::Unclear);
    assert_eq!(decision.next(), NextStep::Try(us(250)), "the square of 4 is cut to 4");
    decision.expect(Some(ExpectedVerdicts {
        refused: Some(us(1000)),
        sustained: us(4000),
        is_provable: false,
        unprovable: None,
    }));
    let NextStep::Try(next) = decision.next() else { panic!("none is refused") };
    assert!((next.as_us() - 1000.0 / 1.5).abs() < 0.01, "{next:?}");
}

#[test]
fn what_can_be_proven_is_confirmed_and_sustained_only_after_that() {
    let us = |us: u64| TimeSpan::from_us(us);
    let mut decision = Decision::new(SearchRange { width: 0.1, ..range() }, us(1000));
    let expect = |decision: &mut Decision, sustained: u64| {
        let (sustained, unprovable) = (us(sustained), Some(us(sustained - 20)));
        let expected = ExpectedVerdicts { refused: None, sustained, is_provable: true, unprovable };
        decision.expect(Some(expected));
    };
    decision.record(us(1000), Verdict::Refused);
    decision.record(us(1200), Verdict::Sustained);
    decision.record(us(1090), Verdict::Unclear);
    assert_eq!(decision.next_to_confirm(None), NextToConfirm::Confirm(us(1200)));
    expect(&mut decision, 1090);
    assert_eq!(decision.next_to_confirm(None), NextToConfirm::Confirm(us(1090)));
    assert!(decision.needs_proof());
    let sustained = |decision: &Decision| decision.answer(SearchEnd::Settled).shortest_sustained;
    assert_eq!(sustained(&decision), Some(us(1200)));

    // A trial that missed nothing does not outweigh all that is known.
    let mut longer = decision.clone();
    expect(&mut longer, 1219);
    assert_eq!(longer.next_to_confirm(None), NextToConfirm::Confirm(us(1200)));
    expect(&mut longer, 1300);
    assert_eq!(longer.next(), NextStep::Try(us(1300)));
    assert_eq!(longer.next_to_confirm(None), NextToConfirm::Try(us(1300)));
    assert_eq!(longer.next_to_confirm(Some(us(5000))), NextToConfirm::Confirm(us(1300)));

    let mut failed = decision.clone();
    failed.disprove(us(1090), Verdict::Sustained);
    assert_eq!(failed.next_to_confirm(None), NextToConfirm::Confirm(us(1200)));

    // A longer period that is unclear does not move the end away from what is confirmed.
    decision.record(us(1300), Verdict::Unclear);
    assert_eq!(sustained(&decision), None);
    decision.confirm(us(1090));
    assert_eq!((sustained(&decision), decision.needs_proof()), (Some(us(1090)), false));
}

#[test]
fn a_period_that_time_is_left_for_is_confirmed_in_place_of_a_longer_one() {
    let span = TimeSpan::from_us;
    let mut decision = Decision::new(range(), span(1000));
    decision.record(span(1000), Verdict::Sustained);
    let confirm =
        |decision: &Decision, longest_us| match decision.next_to_confirm(Some(span(longest_us))) {
            NextToConfirm::Confirm(period) => period.as_us(),
            other => panic!("{other:?}"),
        };
    assert_eq!(confirm(&decision, 1000), 1000.0);
    // Two thirds of the longest period for which there is time, so that a miss is forgiven.
    assert_eq!(confirm(&decision, 900), 600.0);
    // The shorter of the two is not sustained any more, and the longer may be.
    decision.record(span(700), Verdict::Unclear);
    assert_eq!(confirm(&decision, 900), 900.0);
    // There is time only for periods that are not sustained.
    decision.record(span(899), Verdict::Refused);
    assert_eq!(confirm(&decision, 900), 1000.0);
    // If none is sustained, the second step is confirmed at once if there is time for it, and the first is tried
    // otherwise: the square of that from 899 to 1000, 1.2373, and then 1.15.
    decision.disprove(span(1000), Verdict::Unclear);
    assert!((confirm(&decision, 9000) - 1237.32 * 1.15).abs() < 0.01);
    assert_eq!(confirm(&decision, 1200), 1200.0);
    let longer = NextToConfirm::Try(TimeSpan::from_ps(1_237_315_965));
    assert_eq!(decision.next_to_confirm(Some(span(900))), longer);
    assert_eq!(decision.next_to_confirm(None), longer);
}
