//! Tests the arithmetic of chains on a machine without noise against an independent recursion.

use benchmark::Chain;

use super::levels::Rates;
use super::median_of;
use super::oracle::ends_us;
use crate::lab::{Lab, words};

/// Messages cost no time of processors.
const EVEN: &str = "
name = \"even\"
title = \"a machine without noise\"
[processor]
polling_us = 0.02
floating_point_mflops = 400
fft_mflops = 1000
copy_mb_per_s = 500
corner_turn_mb_per_s = 300
[endpoint]
send_us = 0.001
receive_us = 0.001
[network]
shape = \"switch\"
link_mb_per_s = LINK
latency_us = 0.001
[[source]]
of = [\"processor\", \"endpoint\", \"network\"]
kind = \"assumed\"
from = \"a test\"
";

/// Pulse Doppler: 128 pulses of 1024 range gates on two ranks.
const PULSE_DOPPLER: &str = "
title = \"Pulse Doppler: pulse compression -> corner turn -> Doppler FFT -> CFAR\"
[matrix]
rows = 128
columns = 1024
[flow]
rows_per_message = 16
[source]
on = [0, 1]
[[stage]]
functions = [{ name = \"fdfir\", taps = 64 }]
on = [0, 1]
[[stage]]
functions = [\"corner-turn\"]
on = [0, 1]
[[stage]]
functions = [\"weight\", \"fft\"]
on = [0, 1]
[[stage]]
functions = [{ name = \"cfar\", guard = 4, cells = 8 }]
on = [0, 1]
[sink]
on = [0, 1]
";

/// The same over 16 ranks: 2 inject, 8 compress, 2 transform, 2 detect, 2 receive.
const OVER_16: &str = "
title = \"Pulse Doppler on 16 ranks\"
[matrix]
rows = 512
columns = 4096
[flow]
rows_per_message = 16
[source]
ranks = 2
[[stage]]
functions = [{ name = \"fdfir\", taps = 128 }, \"corner-turn\"]
ranks = 8
[[stage]]
functions = [\"weight\", \"fft\"]
ranks = 2
[[stage]]
functions = [{ name = \"cfar\", guard = 4, cells = 8 }]
ranks = 2
[sink]
ranks = 2
";

/// The shipped chains, and one that a user brought.
fn chains() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../pipelines");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.map(read).chain([("pd.toml".into(), PULSE_DOPPLER.into())]).collect()
}

/// Links of 500 MB/s: where ranks wait for messages, and where they do not.
#[test]
fn every_chain_takes_what_its_work_its_links_and_its_buffers_make() {
    let wrong: String = chains().iter().map(|chain| differences(chain, 500.0)).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
#[ignore = "long"]
fn every_chain_and_one_of_16_ranks_takes_that_with_faster_links() {
    let over_16 = ("pd16.toml".into(), OVER_16.into());
    let wrong: String =
        chains().iter().chain([&over_16]).map(|chain| differences(chain, 5000.0)).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Returns the numbers of a chain that are not within 2 % of what is predicted, a line each.
fn differences((name, text): &(String, String), link: f64) -> String {
    let lab = Lab::new();
    let chain = Chain::parse(name, text).unwrap();
    lab.write(name, text);
    lab.write("even.toml", &EVEN.replace("LINK", &link.to_string()));
    let rates = Rates { operations: 400.0, transforms: 1000.0, copies: 500.0, turns: 300.0, link };
    // The first matrices fill the buffers, and the last ones empty them. Between, matrices take as many turns as there are
    // buffers.
    let (few, more) = (24, 8 * chain.buffers);
    let span_us = ends_us(&chain, &rates, few + more) - ends_us(&chain, &rates, few);
    let each_us = span_us / more as f64;
    let alone_us = ends_us(&chain, &rates, 1);
    // A matrix is alone if the next one comes later.
    let period_us = alone_us.max(each_us) * 1.1;
    lab.run(&words(&format!(
        "pipeline {name} --fabric sim:even.toml --check-results no --period {period_us}us --instances 3 --miss-rate 90% \
         --out run.jsonl"
    )));
    let found = lab.measurements("run.jsonl");
    let of = |(metric, predicted_us): (&str, f64)| {
        let us = median_of(&found, metric, "self-timed");
        let is_wrong = (us / predicted_us - 1.0).abs() > 0.02;
        is_wrong.then(|| format!("{name}: {metric} {us} us, predicted {predicted_us}\n"))
    };
    let functions_us = median_of(&found, "busiest-processor", "self-timed");
    let whole_us = median_of(&found, "back-to-back", "self-timed");
    assert!(whole_us >= 0.9999 * functions_us, "{name} is faster than its computing");
    [("back-to-back", each_us), ("latency", alone_us)].into_iter().filter_map(of).collect()
}

/// A chain whose work has no rate is refused; transforms may have that of all floating-point operations.
#[test]
fn work_without_a_rate_is_never_free() {
    let lab = Lab::new();
    lab.write("pd.toml", PULSE_DOPPLER);
    let even = EVEN.replace("LINK", "500");
    let without = |rate: &str| {
        let lines = even.lines().filter(|line| !line.starts_with(rate));
        lab.write("without.toml", &lines.collect::<Vec<_>>().join("\n"));
        let line = "pipeline pd.toml --fabric sim:without.toml --check-results no --period 200ms --instances 3";
        lab.run(&words(&format!("{line} --miss-rate 90% --format json")))
    };
    for rate in ["floating_point_mflops", "corner_turn_mb_per_s"] {
        without(rate).refuses(1, &["nothing was measured", &format!("its file lacks `{rate}`")]);
    }
    let found = without("fft_mflops").json();
    let busiest = found.iter().find(|m| m["metric"] == "busiest-processor").unwrap();
    // Half a matrix is 64 x 1024 elements: 64 filters of 110592 operations, 2 + 35 + 7 an element, at 400 MFLOP/s; and its
    // bytes turned at 300 MB/s.
    let expected_us = (64.0 * 110_592.0 + 65_536.0 * 44.0) / 400.0 + 65_536.0 * 8.0 / 300.0;
    let us = busiest["median"].as_f64().unwrap();
    assert!((us / expected_us - 1.0).abs() < 1e-3, "{us} {expected_us}");
    let turn = "corner-turn --ranks 2 --matrix 8x8 --fabric sim:sharc-ring --period 1s";
    lab.run(&words(turn)).refuses(1, &["its file lacks `corner_turn_mb_per_s`"]);
}
