//! Tests benchmarks that report rates over time.

use super::{brief, events, measured, skipped};

#[test]
fn a_steady_stream_has_its_rates_over_time_and_its_gaps() {
    for ranks in [2, 5] {
        let events = events(&["steady-stream"], ranks, &brief("0,3000"));
        let all = measured(&events);
        assert_eq!(all.len(), 2);
        for of in all {
            let metrics: Vec<&str> = of.iter().map(|one| one.metric.as_str()).collect();
            assert_eq!(metrics, ["rate", "gap", "longest_gap", "recovery"]);
            // At most a hundred parts of the time, fewer of few messages, and a gap for each pair.
            assert!((1..=100).contains(&of[0].samples.len()), "{:?}", of[0].samples);
            assert_eq!(of[1].samples.len(), ranks / 2);
            assert_eq!(of[2].summary.median, of[1].summary.max);
        }
    }
}

#[test]
fn a_shared_stream_has_its_rates_beside_those_of_the_others() {
    for ranks in [4, 7] {
        let events = events(&["shared-stream"], ranks, &brief("0,3000"));
        let all = measured(&events);
        assert_eq!(all.len(), 2);
        for of in all {
            let metrics: Vec<&str> = of.iter().map(|one| one.metric.as_str()).collect();
            assert_eq!(metrics, ["rate", "others", "gap"]);
            // A rank that has no processor in the middle third sends nothing, so the sent amount is not known here, nor
            // the number of parts, which is smaller for few messages.
            assert!(of[..2].iter().all(|one| (1..=100).contains(&one.samples.len())), "{of:?}");
        }
    }
}

#[test]
fn a_shared_stream_of_two_ranks_has_no_others() {
    let events = events(&["shared-stream"], 2, &brief("3000"));
    let all = measured(&events);
    let metrics: Vec<&str> = all[0].iter().map(|one| one.metric.as_str()).collect();
    assert_eq!(metrics, ["rate", "gap"]);
}

#[test]
fn victims_are_timed_alone_and_beside_congestors() {
    for ranks in [4, 5, 7] {
        let events = events(&["congestion-impact"], ranks, &brief("8,3000"));
        let all = measured(&events);
        // A ring and an allreduce of two sizes beside three loads.
        assert_eq!(all.len(), 2 * 2 * 3);
        for of in all {
            let metrics: Vec<&str> = of.iter().map(|one| one.metric.as_str()).collect();
            assert_eq!(metrics, ["time", "alone", "impact", "impact_99", "impact_99_9"]);
            let ratio = of[0].summary.mean / of[1].summary.mean;
            assert_eq!(of[2].summary.median, ratio);
        }
    }
}

#[test]
fn three_ranks_are_too_few_for_victims_and_congestors() {
    let events = events(&["congestion-impact"], 3, &brief("8"));
    assert!(measured(&events).is_empty());
    let skipped = skipped(&events);
    assert!(skipped.len() == 1 && skipped[0].1.contains("4 ranks or more"), "{skipped:?}");
}
