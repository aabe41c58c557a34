use super::step::step;
use super::*;
use crate::case::Scope;
use crate::catalogue::{catalogue, select};
use crate::ranks::Placement;
use crate::settings::RealTime;

fn planned(names: &[&str], ranks: Option<&[usize]>, settings: &Settings) -> Vec<Launch> {
    let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
    plan(&select(&names).unwrap(), ranks, 4, settings, &BTreeSet::new()).unwrap()
}

fn sizes(text: &str) -> Settings {
    Settings { sizes: Some(text.parse().unwrap()), ..Settings::default() }
}

fn keys(launches: &[Launch]) -> Vec<Key> {
    launches
        .iter()
        .flat_map(|launch| launch.job.steps.iter().map(move |step| launch.key(step)))
        .collect()
}

#[test]
fn steps_share_launches_by_ranks_and_places() {
    let kinds = |names: &[&str]| -> Vec<_> {
        let launches = planned(names, None, &Settings::quick());
        launches.iter().map(|launch| (launch.ranks, launch.placement)).collect()
    };
    let unasked = [
        (1, Placement::Spread),
        // The pairs of processors, which keep their places in all launches.
        (4, Placement::InOrder),
        (2, Placement::OneProcessor),
        (2, Placement::Spread),
        (4, Placement::Spread),
    ];
    assert_eq!(kinds(&["everything"]), unasked);
    assert_eq!(kinds(&["hartstone"]), [(6, Placement::TwoProcessors)]);
    // The parts of the built-in chain of `pipeline` share two ranks.
    assert_eq!(kinds(&["pipeline"]), [(2, Placement::Spread)]);
}

#[test]
fn every_measurement_is_planned_once() {
    let all: Vec<&str> = catalogue().iter().map(|benchmark| benchmark.name).collect();
    for settings in [Settings::quick(), sizes("0,1,8..4KiB")] {
        let keys = keys(&planned(&all, None, &settings));
        let mut seen = BTreeSet::new();
        let twice: Vec<_> = keys.iter().filter(|key| !seen.insert(*key)).collect();
        assert!(twice.is_empty(), "planned twice: {twice:?}");
        // A pattern comes from a file only.
        for benchmark in catalogue().iter().filter(|benchmark| benchmark.name != "pmp") {
            assert!(keys.iter().any(|key| key.benchmark == benchmark.name), "{benchmark:?}");
        }
    }
}

#[test]
fn each_wanted_number_of_ranks_gets_its_launch() {
    let launches = planned(&["ping-pong", "copy"], Some(&[2, 8]), &sizes("8"));
    let ranks: Vec<_> = launches.iter().map(|launch| launch.ranks).collect();
    assert_eq!(ranks, [1, 2, 8]);
}

#[test]
fn ranks_that_will_not_do_are_refused_by_name() {
    let selection = select(&["barrier".into()]).unwrap();
    let refused = plan(&selection, Some(&[1]), 4, &Settings::quick(), &BTreeSet::new());
    let words = refused.unwrap_err().to_string();
    assert_eq!(words, "`barrier` runs with 2 ranks or more, not with 1");
}

#[test]
fn what_is_done_is_left_out_and_the_rest_stays_in_order() {
    let settings = Settings::quick();
    let selection = select(&["everything".into()]).unwrap();
    let all = keys(&planned(&["everything"], None, &settings));
    let done: BTreeSet<Key> = all.iter().step_by(3).cloned().collect();
    let left = keys(&plan(&selection, None, 4, &settings, &done).unwrap());
    let expected: Vec<_> = all.iter().filter(|key| !done.contains(key)).cloned().collect();
    let differing: Vec<_> = left.iter().filter(|key| !expected.contains(key)).collect();
    assert_eq!((left.len(), differing), (expected.len(), Vec::new()));
    assert_eq!(plan(&selection, None, 4, &settings, &all.into_iter().collect()).unwrap(), []);
}

#[test]
fn memory_counts_every_ranks_blocks() {
    // At 4 ranks a scatter of 1 KiB has 4 blocks to send at the root, and one to receive on each rank.
    let scatter = &planned(&["scatter"], Some(&[4]), &sizes("1KiB"))[0];
    assert_eq!(scatter.memory_per_rank_bytes(), 5 * 1024);
    assert_eq!(scatter.memory_bytes(), (5 + 3) * 1024);
    // 64 messages each way fill 64 KiB.
    let streams = &planned(&["two-way-bandwidth"], Some(&[4]), &sizes("512"))[0];
    assert_eq!(streams.memory_per_rank_bytes(), 2 * 64 * 512);
    assert_eq!(streams.memory_bytes(), 2 * 2 * 64 * 512);
    let huge = &planned(&["all-to-all"], Some(&[4]), &sizes("17179869183GiB"))[0];
    assert_eq!(huge.memory_bytes(), u64::MAX);
}

#[test]
fn the_time_for_all_is_shared_by_estimates() {
    let launches = planned(&["everything"], None, &Settings::quick());
    let shares: f64 = launches.iter().filter_map(|launch| launch.job.limit_s).sum();
    assert!((shares - Settings::quick().suite_limit_s.unwrap()).abs() < 1e-9);
    let [first, second] = [0, 1].map(|index| &launches[index]);
    let per_estimate = |launch: &Launch| launch.job.limit_s.unwrap() / launch.estimate_s();
    assert!((per_estimate(first) - per_estimate(second)).abs() < 1e-9);
    assert!(planned(&["copy"], None, &Settings::default())[0].job.limit_s.is_none());
}

#[test]
fn unasked_blocks_of_many_ranks_stay_small() {
    let largest = |ranks| {
        let launches = planned(&["all-to-all"], Some(&[ranks]), &Settings::quick());
        launches[0].job.steps.last().unwrap().size_bytes
    };
    assert_eq!([2, 4, 16, 64].map(largest), [4 << 20, 4 << 20, 1 << 20, 256 << 10]);
    let requested = planned(&["all-to-all"], Some(&[64]), &sizes("4MiB"));
    assert_eq!(requested[0].job.steps.len(), 1);
}

#[test]
fn labels_read_well() {
    let steps = &planned(&["adjacent-pair"], None, &sizes("64KiB"))[0].job.steps;
    assert_eq!(steps[0].label(), "adjacent-pair acknowledgement=no 64 KiB");
    assert_eq!(steps[1].label(), "adjacent-pair acknowledgement=no packet bytes=128 64 KiB");
}

#[test]
fn the_hand_over_is_measured_again_after_each_group() {
    let launches =
        planned(&["hand-over", "ping-pong", "collectives", "barrier"], None, &sizes("8"));
    let labels = |ranks: usize, placement: Placement| -> Vec<String> {
        let is_it = |one: &&Launch| one.ranks == ranks && one.placement == placement;
        let launch = launches.iter().find(is_it).unwrap();
        launch.job.steps.iter().map(Step::label).collect()
    };
    assert_eq!(
        labels(2, Placement::Spread),
        ["ping-pong 8 B", "hand-over after=latencies from=0 to=1"]
    );
    // The pairs of 4 processors are measured once, and nothing is measured after them.
    let pairs = labels(4, Placement::InOrder);
    assert_eq!((pairs.len(), pairs[5].as_str()), (6, "hand-over from=2 to=3"));
    let of_four = labels(4, Placement::Spread);
    assert_eq!(of_four[0], "barrier");
    assert_eq!(of_four.last().unwrap(), "hand-over after=collectives from=0 to=1");
    assert_eq!(of_four.iter().filter(|label| label.contains("after")).count(), 1);
    let oversubscribed = planned(&["limits", "barrier"], Some(&[8]), &Settings::quick());
    assert!(
        !oversubscribed.iter().any(|launch| launch
            .job
            .steps
            .iter()
            .any(|step| step.label().contains("after")))
    );
}

#[test]
fn a_selection_without_the_limits_gets_none() {
    let launches = planned(&["ping-pong"], None, &sizes("8"));
    assert_eq!(launches[0].job.steps.len(), 1);
}

#[test]
fn a_processor_benchmark_brings_what_it_is_read_against() {
    let labels = |names: &[&str]| -> Vec<String> {
        let launches = planned(names, None, &Settings::default());
        assert_eq!(launches.len(), 1, "a yardstick runs where the benchmark runs");
        launches[0].job.steps.iter().map(Step::label).collect()
    };
    let steps = labels(&["fft"]);
    assert_eq!(steps[0], "peak precision=single");
    assert!(steps[1..].iter().all(|step| step.starts_with("fft ")), "{steps:?}");
    assert_eq!(labels(&["linpack"])[0], "peak precision=double");
    assert_eq!(
        labels(&["linpack", "foldfft"])[..2],
        ["peak precision=double", "peak precision=single"]
    );
    // 128 x 128, 512 x 512, 1000 x 1000 and 4096 x 4096 elements of 8 bytes.
    assert_eq!(
        labels(&["corner-turn-memory"])[..5],
        [
            "copy 128 KiB",
            "copy 2 MiB",
            "copy 8000000 B",
            "copy 128 MiB",
            "corner-turn-memory side=128 way=out-of-place"
        ]
    );
    assert_eq!(labels(&["stream"])[0], "copy 64 MiB");
    assert_eq!(labels(&["sieve"]).len(), 1, "a sieve has no floating point");
}

#[test]
fn a_yardstick_that_is_asked_for_is_not_measured_twice() {
    let count = |names: &[&str], name: &str| {
        keys(&planned(names, None, &sizes("8"))).iter().filter(|k| k.benchmark == name).count()
    };
    assert_eq!(count(&["peak", "fft"], "peak"), 2, "single and double");
    assert_eq!(count(&["copy", "stream"], "copy"), 1, "the size that was asked for");
    let once = planned(&["fft"], None, &Settings::default());
    let done = [keys(&once)[0].clone()].into();
    let left = plan(&select(&["fft".into()]).unwrap(), None, 4, &Settings::default(), &done);
    assert_eq!(keys(&left.unwrap()), keys(&once)[1..], "a run that goes on has its peak");
}

#[test]
fn what_keeps_a_period_up_lasts_as_long_as_it_is_asked_to() {
    let lasts_s = |real_time: RealTime, name: &str| {
        let settings = Settings { real_time, ..Settings::default() };
        let scope = Scope { ranks: 2, sizes: None, settings: &settings };
        let benchmark = find(name).unwrap();
        let case = (benchmark.cases)(&scope).remove(0);
        step(benchmark, 2, case, &settings).estimate_s
    };
    let searching = RealTime { search_limit_s: Some(30.0), ..RealTime::default() };
    assert_eq!(lasts_s(searching.clone(), "hartstone"), 30.0);
    // Tested for ten times the length of a trial of a second.
    let confirming = RealTime { confirm: Some(10), ..searching.clone() };
    assert_eq!(lasts_s(confirming, "hartstone"), 40.0);
    // The limit includes the turns of a chain with its messages and its functions; it is profiled for half a second.
    assert!((lasts_s(searching, "pipeline") - 30.5).abs() < 1e-9);
    // Without one they take 9 x 3 tenths of a second.
    let unlimited = |name| lasts_s(RealTime::default(), name);
    assert!((unlimited("pipeline") - unlimited("hartstone") - 3.2).abs() < 1e-9);
    let one = RealTime { period_s: Some(0.005), instances: Some(1000), ..RealTime::default() };
    assert_eq!(lasts_s(one, "hartstone"), 5.0);
    let watching = RealTime { duration_s: Some(40.0), ..RealTime::default() };
    assert_eq!(lasts_s(watching, "clock"), 40.0);
}

#[test]
fn benchmarks_without_a_wanted_algorithm_are_known() {
    let of = |names: &[&str], algorithms: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        let algorithms = algorithms.iter().map(|&one| one.into()).collect();
        let (selection, settings) =
            (select(&names).unwrap(), Settings { algorithms, ..Settings::quick() });
        let left_out = without_wanted_algorithm(&selection, &settings);
        let planned = plan(&selection, None, 4, &settings, &BTreeSet::new());
        (left_out.iter().map(|one| one.name).collect::<Vec<_>>(), planned.map(|_| ()))
    };
    assert_eq!(of(&["allreduce", "broadcast"], &["ring"]), (vec!["broadcast"], Ok(())));
    assert_eq!(of(&["allreduce", "broadcast"], &["ring", "binomial"]), (vec![], Ok(())));
    assert_eq!(of(&["allreduce", "ping-pong"], &["all"]), (vec![], Ok(())));
    // No benchmark has the second algorithm.
    let (left_out, planned) = of(&["allreduce"], &["ring", "bruck"]);
    assert_eq!(left_out, Vec::<&str>::new());
    assert!(matches!(planned, Err(PlanError::Algorithms { wanted, .. }) if wanted == "bruck"));
}
