//! Benchmarks that report rates over time.

use super::{brief, events, measured};

#[test]
fn a_steady_stream_has_its_rates_over_time_and_its_gaps() {
    for ranks in [2, 5] {
        let events = events(&["steady-stream"], ranks, &brief("0,3000"));
        let all = measured(&events);
        assert_eq!(all.len(), 2);
        for of in all {
            let metrics: Vec<&str> = of.iter().map(|one| one.metric.as_str()).collect();
            assert_eq!(metrics, ["rate", "gap", "longest_gap", "recovery"]);
            // A hundred parts of the time, and a gap for each pair.
            assert_eq!([of[0].samples.len(), of[1].samples.len()], [100, ranks / 2]);
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
            // A rank that gets no processor in the middle third sends nothing, so how much they sent is not known here.
            assert_eq!([of[0].samples.len(), of[1].samples.len()], [100, 100]);
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
