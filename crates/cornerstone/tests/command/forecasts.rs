//! Tests the predictions of a search before its trials, on a simulated machine with known pauses.

use serde_json::Value;

use crate::lab::{Ended, Lab, words};

/// A machine with two processors that pause for 400 us every 10 ms at the same moments: 4 % of the time.
const PAUSING: &str = "\
name = \"pausing\"
title = \"a machine with known pauses\"
ranks_max = 2
[endpoint]
send_us = 5
receive_us = 5
[network]
shape = \"switch\"
link_mb_per_s = 100
[[pause]]
period_us = 10000
length_us = 400
at_once = true
[[source]]
of = [\"endpoint\", \"network\", \"pause\"]
kind = \"assumed\"
from = \"a test\"
";

/// A message of 4 KiB and its empty answer: some 100 us.
const PAIR: &str = "block = 4 KiB\n0: S 1 block R E\n1: R S 0 0 E\n";

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write("pair.pmp", PAIR);
    lab.write("pausing.toml", PAUSING);
    let (machine, source) =
        (PAUSING.find("[[pause]]").unwrap(), PAUSING.find("[[source]]").unwrap());
    let quiet = format!("{}{}", &PAUSING[..machine], &PAUSING[source..]);
    lab.write("quiet.toml", &quiet.replace(", \"pause\"", ""));
    lab
}

fn pair(lab: &Lab, machine: &str, more: &[&str]) -> Ended {
    let fabric = format!("sim:{machine}.toml");
    judged(lab, &[&["pmp", "pair.pmp", "--fabric", &fabric, "--miss-rate", "6%"], more].concat())
}

/// Runs a command that ends with the name of its results file, and expects the status of its periods.
fn judged(lab: &Lab, words: &[&str]) -> Ended {
    let ended = lab.run(words);
    let expected = lab.status_of_periods(words[words.len() - 1]);
    assert_eq!(ended.status, Some(expected), "{ended:#?}");
    ended
}

/// Returns the search in a results file.
fn search(lab: &Lab, file: &str) -> Value {
    let found = lab.measurements(file);
    found.iter().find(|m| m["search"].is_object()).expect("a search")["search"].clone()
}

#[test]
fn what_is_predicted_is_what_trials_of_these_periods_miss() {
    let lab = lab();
    let limited =
        ["--search-limit", "4s", "--duration", "200ms", "--explain", "--out", "run.jsonl"];
    let shown = pair(&lab, "pausing", &limited).stdout;
    for part in [
        "predicted: ",
        "was lost to pauses",
        "without those of every 10.0 ms",
        "without any pause: ",
    ] {
        assert!(shown.contains(part), "no '{part}' in\n{shown}");
    }
    let forecast = search(&lab, "run.jsonl")["forecast"].clone();
    let curve = forecast["curve"].as_array().unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    assert!((0.035..0.045).contains(&number(&forecast["lost_share"])), "{forecast}");
    for (index, wanted_us) in [110.0, 160.0, 300.0, 600.0].into_iter().enumerate() {
        let point = curve.iter().find(|point| number(&point["period_us"]) > wanted_us).unwrap();
        let (period, out) = (format!("{}us", point["period_us"]), format!("trial-{index}.jsonl"));
        pair(&lab, "pausing", &["--period", &period, "--duration", "1s", "--out", &out]);
        let trial = search(&lab, &out)["trials"][0].clone();
        let missed = number(&trial["missed"]) / number(&trial["instances"]);
        let bounds = number(&point["miss_rate_min"])..=number(&point["miss_rate_max"]);
        assert!(bounds.contains(&missed), "{missed} of {period} for {point}");
        assert_eq!(point["by_work"], 0.0);
    }
    let page = std::fs::read_to_string(lab.path("run.html")).unwrap();
    assert!(page.contains("Predicted and tried miss rates") && page.contains("without any pause"));
}

#[test]
fn a_quiet_machine_gives_the_same_answer_with_and_without_a_prediction() {
    let lab = lab();
    pair(&lab, "quiet", &["--duration", "20ms", "--out", "plain.jsonl"]);
    pair(&lab, "quiet", &["--duration", "20ms", "--search-limit", "2s", "--out", "limited.jsonl"]);
    let [plain, limited] = ["plain.jsonl", "limited.jsonl"].map(|file| search(&lab, file));
    assert!(plain["forecast"].is_null() && plain["no_forecast"].is_null());
    let us = |value: &Value| value.as_f64().unwrap();
    let ratio = us(&limited["shortest_sustained_us"]) / us(&plain["shortest_sustained_us"]);
    // Each interval is at most 2 % wide.
    assert!((0.98..=1.02).contains(&ratio), "{ratio}");
    let forecast = &limited["forecast"];
    assert_eq!(us(&forecast["lost_share"]), 0.0);
    // Steps of the curve are 9 %.
    let predicted = us(&forecast["shortest_us"]) / us(&plain["shortest_sustained_us"]);
    assert!((0.98..=1.1).contains(&predicted), "{predicted}");
}

#[test]
fn a_search_too_short_to_record_anything_says_so_and_searches_all_the_same() {
    let lab = lab();
    let shown =
        pair(&lab, "quiet", &["--duration", "1ms", "--search-limit", "8ms", "--out", "run.jsonl"])
            .stdout;
    assert!(shown.contains("nothing was predicted: 0.004 s to find a period within"), "{shown}");
    assert!(!search(&lab, "run.jsonl")["trials"].as_array().unwrap().is_empty());
}

/// Two processors with pauses of two kinds, each at its own moments: 16 % of the time.
const DIFFERENT_MOMENTS: &str = "\
name = \"apart\"
title = \"a machine whose processors pause at different moments\"
ranks_max = 2
[endpoint]
send_us = 5
receive_us = 5
[processor]
polling_us = 1
fft_mflops = 1000000
corner_turn_mb_per_s = 1000000
[network]
shape = \"switch\"
link_mb_per_s = 64
[[pause]]
period_us = 7000
length_us = 700
[[pause]]
period_us = 31000
length_us = 2000
[[source]]
of = [\"endpoint\", \"network\", \"pause\", \"processor\"]
kind = \"assumed\"
from = \"a test\"
";

/// Two ranks that share every stage. Each sends the other 32 KiB of a matrix, half a millisecond on the slow link, and
/// its two transforms are 573 440 operations.
const CHAIN: &str = "\
title = \"two transforms\"
[matrix]
rows = 128
columns = 128
[flow]
rows_per_message = 16
[source]
on = [0, 1]
[[stage]]
functions = [\"fft\"]
on = [0, 1]
[[stage]]
functions = [\"corner-turn\"]
on = [0, 1]
[[stage]]
functions = [\"fft\"]
on = [0, 1]
[sink]
on = [0, 1]
";

fn chain(lab: &Lab, machine: &str, more: &[&str]) -> Ended {
    let fabric = format!("sim:{machine}.toml");
    judged(
        lab,
        &[&["pipeline", "chain.toml", "--fabric", &fabric, "--miss-rate", "5%"], more].concat(),
    )
}

#[test]
fn a_chain_on_processors_that_pause_at_different_moments_misses_what_is_predicted() {
    misses_what_is_predicted("messages", DIFFERENT_MOMENTS);
}

/// With a rate of computing and a faster link, the processors are the bottleneck instead of the link.
#[test]
#[ignore = "long"]
fn a_chain_that_computes_on_such_processors_misses_what_is_predicted() {
    let computing = DIFFERENT_MOMENTS
        .replace("fft_mflops = 1000000", "fft_mflops = 1000")
        .replace("link_mb_per_s = 64", "link_mb_per_s = 400");
    misses_what_is_predicted("computing", &computing);
}

fn misses_what_is_predicted(machine: &str, file: &str) {
    let lab = Lab::new();
    lab.write("chain.toml", CHAIN);
    lab.write(&format!("{machine}.toml"), file);
    let out = format!("{machine}.jsonl");
    let limited = "--search-limit 4s --instances 40 --confirm 0 --explain --out";
    let shown = chain(&lab, machine, &[&words(limited)[..], &[&out]].concat()).stdout;
    assert!(shown.contains("without those of every "), "{shown}");
    let forecast = search(&lab, &out)["forecast"].clone();
    let curve = forecast["curve"].as_array().unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    // A third of a second contains ten of the long pauses, each found to within half a matrix.
    let is_long = |without: &Value| {
        let kind = &without["kind"];
        kind["regular"] == true && (number(&kind["period_us"]) / 31_000.0 - 1.0).abs() < 0.01
    };
    let without = forecast["without"].as_array().unwrap();
    assert!(without.iter().any(is_long), "{forecast}");
    for (index, times) in [1.4, 1.9, 2.5].into_iter().enumerate() {
        let is_it =
            |point: &&Value| number(&point["period_us"]) > times * number(&forecast["each_us"]);
        let point = curve.iter().find(is_it).unwrap();
        let period = format!("{}us", point["period_us"]);
        let out = format!("trial-{machine}-{index}.jsonl");
        chain(&lab, machine, &["--period", &period, "--duration", "1s", "--out", &out]);
        let trial = search(&lab, &out)["trials"][0].clone();
        let missed = number(&trial["missed"]) / number(&trial["instances"]);
        let bounds = number(&point["miss_rate_min"])..=number(&point["miss_rate_max"]);
        assert!(bounds.contains(&missed), "{machine}: {missed} of {period} for {point}");
    }
}
