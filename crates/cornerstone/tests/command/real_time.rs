//! Tests `clock` and `hartstone` as a user runs them, and a machine that is made from measured pauses.

use serde_json::Value;

use crate::lab::Lab;

/// A machine with two processors that pause for 2 ms every 50 ms at the same moments. The second also pauses for 5 ms
/// every 170 ms. Its clock takes 20 us to read, so that little is simulated.
pub(crate) const PAUSING: &str = "\
name = \"pausing\"
title = \"a machine with known pauses\"
ranks_max = 2
[processor]
polling_us = 20
[endpoint]
send_us = 5
receive_us = 5
[network]
shape = \"switch\"
link_mb_per_s = 100
[[pause]]
period_us = 50000
length_us = 2000
length_jitter_us = 200
at_once = true
[[pause]]
period_us = 170000
length_us = 5000
length_jitter_us = 300
processors = [1]
[[source]]
of = [\"processor\", \"endpoint\", \"network\", \"pause\"]
kind = \"assumed\"
from = \"a test\"
";

/// Returns the kinds of pauses of each rank in a results file.
fn kinds(lab: &Lab, file: &str) -> Vec<Vec<Value>> {
    let found = lab.measurements(file);
    let of_rank = |rank: u64| {
        let lost = |m: &&Value| m["metric"] == "lost" && m["parameters"]["rank"] == rank;
        found.iter().find(lost).expect("every rank looks")["pauses"]["kinds"].clone()
    };
    [0, 1].map(|rank| of_rank(rank).as_array().unwrap().clone()).to_vec()
}

/// Returns period and median length in milliseconds of the regular kinds.
fn regular(kinds: &[Value]) -> Vec<[f64; 2]> {
    let ms = |kind: &Value, field: &str| (kind[field].as_f64().unwrap() / 100.0).round() / 10.0;
    let regular = kinds.iter().filter(|kind| kind["regular"] == true);
    regular.map(|kind| [ms(kind, "period_us"), ms(kind, "length_median_us")]).collect()
}

/// On a machine without pauses no trial is repeated, and one ends when its instances repeat: 16 of each period that is
/// tried, and then as many as prove 1 % without a miss in a first attempt: ln 0.025 / ln 0.99 = 368.
#[test]
fn a_search_on_a_machine_without_pauses_makes_no_trial_twice() {
    let lab = Lab::new();
    lab.succeed(&["corner-turn", "--ranks", "4", "--fabric", "sim:cluster", "--out", "turn.jsonl"]);
    let found = lab.measurements("turn.jsonl");
    let period = found.iter().find(|m| m["metric"] == "period").unwrap();
    let trials = period["search"]["trials"].as_array().unwrap();
    let mut periods: Vec<f64> = trials.iter().map(|t| t["period_us"].as_f64().unwrap()).collect();
    let count = periods.len();
    periods.sort_by(f64::total_cmp);
    periods.dedup();
    assert_eq!(periods.len(), count, "{trials:#?}");
    assert!(trials.iter().all(|trial| trial["instances"] == 16), "{trials:#?}");
    let confirmation = &period["search"]["confirmation"];
    assert_eq!((&confirmation["instances"], &confirmation["missed"]), (&368.into(), &0.into()));
}

#[test]
fn pauses_that_were_measured_are_those_of_the_twin_made_from_them() {
    let lab = Lab::new();
    lab.write("pausing.toml", PAUSING);
    let measure_pauses = |fabric: &str, out: &str, more: &[&str]| {
        let words =
            ["run", "clock", "--ranks", "2", "--duration", "4s", "--fabric", fabric, "--out", out];
        lab.succeed(&[&words[..], more].concat());
    };
    let more = ["ping-pong", "bandwidth", "clock-cost", "--sizes", "8,1KiB"];
    measure_pauses("sim:pausing.toml", "measured.jsonl", &more);
    let before = kinds(&lab, "measured.jsonl");
    assert_eq!(regular(&before[0]), [[50.0, 2.0]], "{before:#?}");
    // A pause of the second kind may be within one of the first and lengthen it: the medians are unchanged.
    let second = regular(&before[1]);
    assert!(second.len() == 2 && second[0][0] == 50.0 && second[1][0] == 170.0, "{before:#?}");

    let made = lab.succeed(&["calibrate", "measured.jsonl", "-o", "twin.toml"]);
    for words in
        ["every 50000 us, 20", "on every processor, at once", "every 170000 us", "on processor 1"]
    {
        assert!(made.stdout.contains(words), "{words}: {made:#?}");
    }
    measure_pauses("sim:twin.toml", "again.jsonl", &[]);
    let after = kinds(&lab, "again.jsonl");
    for (before, after) in before.iter().zip(&after) {
        let (before, after) = (regular(before), regular(after));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before[0], after[0], "the period");
            // Lengths are drawn anew within 0.3 ms.
            assert!((before[1] - after[1]).abs() <= 0.3, "{before:?} {after:?}");
        }
    }
}

#[test]
fn a_twin_of_a_run_without_clock_says_that_it_has_no_pauses() {
    let lab = Lab::new();
    lab.write("pausing.toml", PAUSING);
    let words = ["run", "ping-pong", "--ranks", "2", "--sizes", "8,1KiB"];
    lab.succeed(&[&words[..], &["--fabric", "sim:pausing.toml", "--out", "a.jsonl"]].concat());
    let made = lab.succeed(&["calibrate", "a.jsonl", "-o", "twin.toml"]);
    assert!(made.stdout.contains("no pauses: the run contains no `clock`"), "{made:#?}");
    assert!(!std::fs::read_to_string(lab.path("twin.toml")).unwrap().contains("[[pause]]"));
}

#[test]
fn pauses_are_told_by_kind_in_words_and_shown_over_time_in_the_report() {
    let lab = Lab::new();
    lab.write("pausing.toml", PAUSING);
    let words =
        ["run", "clock", "--ranks", "2", "--duration", "2s", "--fabric", "sim:pausing.toml"];
    let ended = lab.succeed(&[&words[..], &["--out", "a.jsonl"]].concat());
    for words in ["processor 0: pauses over", "every 50.0 ms: 2.", "every 170 ms: "] {
        assert!(ended.stdout.contains(words), "{words}: {ended:#?}");
    }
    let page = std::fs::read_to_string(lab.path("a.html")).unwrap();
    for shown in ["processor 1: ", "Pauses over time", "Kinds of pauses", "mark kind-1\""] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn every_processor_here_is_looked_at_and_nothing_counts_below_the_threshold() {
    let lab = Lab::new();
    let words = ["run", "clock", "--duration", "20ms", "--threshold", "1000s", "--out", "a.jsonl"];
    let ended = lab.succeed(&words);
    let found = lab.measurements("a.jsonl");
    let processors = std::thread::available_parallelism().unwrap().get();
    assert_eq!(found.len(), processors, "{found:#?}");
    assert!(found.iter().all(|m| m["metric"] == "lost" && m["median"] == 0.0), "{found:#?}");
    assert!(ended.stdout.contains("no pause over"), "{ended:#?}");
}

#[test]
fn hartstone_gives_an_interval_of_periods_with_and_without_priorities_or_says_why_not() {
    let lab = Lab::new();
    let words = ["run", "hartstone", "--fabric", "sim:paragon-osf1", "--duration", "200ms"];
    let ended = lab.succeed(&[&words[..], &["--ranks", "6", "--out", "a.jsonl"]].concat());
    assert!(ended.stdout.contains("is refused, and what lies between"), "{ended:#?}");
    let found = lab.measurements("a.jsonl");
    for priority in ["none", "rate-monotonic"] {
        let of = |m: &&Value| m["parameters"]["priority"] == priority && m["metric"] == "period";
        let period = found.iter().find(of).expect(priority);
        assert!(period["ci_low"].as_f64() < period["median"].as_f64(), "{period:#?}");
        assert_eq!(period["size_bytes"], 256 << 10);
    }
}

/// Tests periods against theory. A task's period is long enough if its work is done within it at the worst moment, when
/// all three are due (Liu and Layland, *Scheduling algorithms for multiprogramming in a hard-real-time environment*,
/// 1973). Each computes 10 ms in periods of T, 2T and 4T. In turns of 0.1 ms the three share the processor and the
/// first is done after 30 ms: T = 30, 58 % of the processor. With rate-monotonic priorities and periods that divide
/// each other nothing is lost: 10 (1 + 1/2 + 1/4) = 17.5 ms.
#[test]
fn tasks_that_compute_keep_the_periods_that_theory_allows() {
    let lab = Lab::new();
    let machine = "name = \"tasks\"\ntitle = \"tasks that compute\"\n[processor]\npolling_us = 1\n\
                   time_slice_us = 100\nfloating_point_mflops = 10\n[endpoint]\nsend_us = 1\nreceive_us = 1\n\
                   [network]\nshape = \"line\"\nlink_mb_per_s = 1000\n[[source]]\n\
                   of = [\"processor\", \"endpoint\", \"network\"]\nkind = \"assumed\"\nfrom = \"a test\"\n";
    lab.write("tasks.toml", machine);
    let words = ["run", "hartstone", "--ranks", "6", "--ranks-per-processor", "3", "--sizes", "8"];
    let rest = ["--load", "100000", "--duration", "500ms", "--guess", "20ms"];
    lab.succeed(&[&words[..], &rest, &["--fabric", "sim:tasks.toml", "--out", "a.jsonl"]].concat());
    let found = lab.measurements("a.jsonl");
    for load in ["senders", "receivers"] {
        for (priority, least_ms) in [("none", 30.0), ("rate-monotonic", 17.5)] {
            let of = |m: &&Value| {
                let parameters = &m["parameters"];
                m["metric"] == "period"
                    && parameters["load"] == load
                    && parameters["priority"] == priority
            };
            let search = &found.iter().find(of).expect(priority)["search"];
            let ms = |end: &str| search[end].as_f64().unwrap() / 1e3;
            let (refused, sustained) = (ms("longest_refused_us"), ms("shortest_sustained_us"));
            // Messages take some microseconds; the interval is 2 % wide.
            assert!(
                refused < least_ms + 0.2 && sustained >= least_ms,
                "{load} {priority}: {refused} {sustained}"
            );
            assert!(sustained < 1.03 * least_ms, "{load} {priority}: {refused} {sustained}");
        }
    }
}

#[test]
fn a_load_is_put_at_either_end_and_makes_the_period_longer() {
    let lab = Lab::new();
    let machine = PAUSING.replace("polling_us = 20", "polling_us = 1\nfloating_point_mflops = 10");
    let machine = machine.split("[[pause]]").next().unwrap().to_string()
        + "[[source]]\nof = [\"processor\", \"endpoint\", \"network\"]\nkind = \"assumed\"\nfrom = \"a test\"\n";
    lab.write("quiet.toml", &machine);
    let words = ["run", "hartstone", "--ranks", "2", "--sizes", "1KiB", "--duration", "50ms"];
    let rest = ["--load", "2000", "--fabric", "sim:quiet.toml", "--out", "a.jsonl"];
    lab.succeed(&[&words[..], &rest].concat());
    let found = lab.measurements("a.jsonl");
    let period_us = |load: &str| {
        let of = |m: &&Value| m["parameters"]["load"] == load && m["metric"] == "period";
        found.iter().find(of).expect(load)["median"].as_f64().unwrap()
    };
    // 2000 operations take 200 µs at 10 a microsecond; a message of 1 KiB takes about 20.
    assert!(period_us("none") < 100.0, "{}", period_us("none"));
    for load in ["senders", "receivers"] {
        assert!((200.0..320.0).contains(&period_us(load)), "{load}: {}", period_us(load));
    }
}

#[test]
fn what_is_wrong_with_a_period_or_its_search_is_told_before_anything_runs() {
    let lab = Lab::new();
    for (words, names) in [
        (&["--duration", "soon"][..], &["--duration", "soon"][..]),
        (&["--duration", "0s"], &["--duration"]),
        (&["--threshold", "often"], &["--threshold", "often"]),
        (&["--period", "5parsec"], &["--period", "5parsec"]),
        (&["--miss-rate", "200%"], &["--miss-rate"]),
        (&["--miss-rate=-1%"], &["--miss-rate"]),
        (&["--width", "0"], &["--width"]),
        (&["--instances", "0"], &["--instances"]),
        (&["--search-limit", "never"], &["--search-limit", "never"]),
        (&["--confirm", "1001"], &["--confirm", "0..=1000"]),
        (&["--searches", "many"], &["--searches", "many"]),
        (&["--period", "5ms", "--searches", "2"], &["--period", "--searches"]),
        (&["--hygiene", "soap"], &["--hygiene", "'soap' is none of lock, pin, fifo"]),
        (&["--load", "0"], &["--load"]),
        (&["--period", "5ms", "--guess", "1ms"], &["--period", "--guess"]),
        (&["--duration", "1s", "--instances", "5"], &["--duration", "--instances"]),
    ] {
        lab.run(&[&["run", "hartstone"], words].concat()).refuses(2, names);
    }
    lab.run(&["run", "hartstone", "--ranks", "1"]).refuses(2, &["hartstone", "1"]);
    assert!(!lab.path("results").exists(), "nothing was measured, so nothing is written");
}

#[test]
fn several_searches_are_compared_and_what_they_found_is_kept_up_once_more() {
    let lab = Lab::new();
    let words =
        ["run", "hartstone", "--ranks", "2", "--fabric", "sim:paragon-osf1", "--duration", "100ms"];
    let ended = lab.succeed(
        &[&words[..], &["--searches", "2", "--confirm", "3", "--out", "a.jsonl"]].concat(),
    );
    for words in [
        "1 of 1 pairs of 2 searches overlap",
        "confirmed: tested for",
        "2 of 2 searches ended with a confirmed period",
    ] {
        assert!(ended.stdout.contains(words), "{words}: {ended:#?}");
    }
    let found = lab.measurements("a.jsonl");
    let period = found.iter().find(|m| m["metric"] == "period").unwrap();
    assert_eq!(period["parameters"]["search"], 1);
    let (again, trial) = (&period["search"]["confirmation"], &period["search"]["trials"]);
    assert_eq!(again["period_us"], period["search"]["shortest_sustained_us"]);
    assert!(again["instances"].as_u64() > trial[0]["instances"].as_u64(), "{again}");
}

#[test]
fn a_search_ends_in_time_and_says_so() {
    let lab = Lab::new();
    let words = ["run", "hartstone", "--ranks", "2", "--sizes", "8", "--search-limit", "1ms"];
    let ended = lab.run(&[&words[..], &["--duration", "20ms", "--out", "a.jsonl"]].concat());
    // Whether a period is found in this time depends on the machine.
    assert_eq!(ended.status, Some(lab.status_of_periods("a.jsonl")), "{ended:#?}");
    assert!(ended.stdout.contains("its limit of 1.00 ms"), "{ended:#?}");
    let found = lab.measurements("a.jsonl");
    let search = &found.iter().find(|m| m["search"].is_object()).unwrap()["search"];
    assert_eq!((&search["end"], &search["limit_s"]), (&"time-limit".into(), &0.001.into()));
}

#[test]
fn a_miss_rate_of_nothing_forgives_no_miss() {
    let lab = Lab::new();
    // The shortest period at which a trial misses some instances, because the machine stops for 112 us every 10 ms.
    let period = ["pmp", "pair.pmp", "--fabric", "sim:paragon-osf1", "--search-limit", "5s"];
    lab.write("pair.pmp", "0: S 1 1024 R E\n1: R S 0 0 E\n");
    let shortest_us = |rate: &str| {
        let words =
            [&period[..], &["--miss-rate", rate, "--instances", "500", "--out", "run.jsonl"]]
                .concat();
        lab.succeed(&words);
        let found = lab.measurements("run.jsonl");
        std::fs::remove_file(lab.path("run.jsonl")).unwrap();
        let median = |metric: &str| {
            found.iter().find(|m| m["metric"] == metric).unwrap()["median"].as_f64().unwrap()
        };
        (median("period"), median("miss-rate"))
    };
    let (strict_us, missed) = shortest_us("0");
    assert_eq!(missed, 0.0);
    assert!(strict_us >= shortest_us("20%").0, "{strict_us}");
}
