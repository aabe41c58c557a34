use record::ParameterValue;

use super::*;
use crate::report::grouping::tests::measurement;

/// Returns the measurements of a processor with a pause of 112 µs every 10 ms for 2 s, and three of 3 ms.
fn processor(rank: u64) -> [Measurement; 2] {
    let tick = (0..200).map(|k| (0.003 + 0.01 * f64::from(k), 112.0));
    let rare = [(0.5551, 3000.0), (0.7004, 3000.0), (1.9217, 3000.0)];
    let mut all: Vec<(f64, f64)> = tick.chain(rare).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lost = measurement(2, 0, None);
    (lost.benchmark, lost.metric, lost.unit) = ("clock".into(), "lost".into(), "%".into());
    lost.parameters = [("rank".into(), ParameterValue::from(rank))].into();
    let mut pause = lost.clone();
    (pause.metric, pause.unit) = ("pause".into(), "us".into());
    pause.samples = all.iter().map(|pause| pause.1).collect();
    lost.pauses = Some(Pauses {
        processor: Some(rank as usize),
        threshold_us: 2.0,
        duration_s: 2.0,
        at_s: all.iter().map(|pause| pause.0).collect(),
        not_kept: 0,
        kinds: Vec::new(),
        summary: None,
    });
    [lost, pause]
}

fn run(measurements: Vec<Measurement>) -> Run {
    Run::of("run", Vec::new(), measurements)
}

#[test]
fn every_processor_has_a_lane_and_every_kind_a_colour_and_a_row() {
    let run = run([processor(0), processor(1)].concat());
    let page = pictures(std::slice::from_ref(&run)).into_string();
    for expected in [
        "processor 0: 203 pauses",
        "processor 1: 203 pauses",
        "every 10.0 ms",
        "irregular, 1.00 ms to 10.0 ms",
        "everywhere",
        // 400 ticks on two processors, and 224 µs in 20 ms.
        "<td>400</td>",
        "1 %",
    ] {
        assert!(page.contains(expected), "{expected} is not in {page}");
    }
    // Both kinds are on two lanes.
    assert_eq!(page.matches("<path class=\"mark kind-0\"").count(), 2);
    assert_eq!(page.matches("<path class=\"mark kind-none\"").count(), 2);
    // 112 µs lies in one bin of the histogram, 3 ms in another.
    assert_eq!(page.matches("<rect class=\"mark kind-").count(), 2);
    assert!(page.contains("<title>400</title>") && page.contains("<title>6</title>"));
}

#[test]
fn marks_of_a_crowded_lane_stay_few() {
    let mut crowd = processor(0);
    let at: Vec<f64> = (0..300_000).map(|k| f64::from(k) * 6.6e-6).collect();
    crowd[1].samples = (0..300_000i64).map(|k| 2.0 + (k * 7919 % 10_007) as f64).collect();
    crowd[0].pauses.as_mut().unwrap().at_s = at;
    let page = pictures(&[run(crowd.to_vec())]).into_string();
    assert!(page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn a_record_that_makes_no_sense_draws_nothing_and_breaks_nothing() {
    let mut odd = processor(0);
    odd[1].samples = vec![f64::NAN, -1.0, 0.0];
    assert_eq!(pictures(&[run(odd.to_vec())]).into_string(), "");
    assert_eq!(pictures(&[run(Vec::new())]).into_string(), "");
}
