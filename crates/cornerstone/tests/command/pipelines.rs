//! Tests processing chains as a user runs them: the chains of these tests, and their common functions.

mod arithmetic;
mod endings;
mod files;
mod levels;
mod mappings;
mod oracle;
mod periods;
mod scenes;
mod turns;

use crate::lab::Lab;

const CHAIN: &str = "\
title = 'a small image'
[matrix]
rows = 32
columns = 16
[flow]
rows_per_message = 8
[[stage]]
name = 'range'
functions = ['weight', 'fft', 'corner-turn']
[[stage]]
functions = ['fft']
";

/// The chain on two ranks, each with a part of both stages.
pub(crate) const CHAIN_OF_TWO: &str = "\
title = 'a small image on two ranks'
[matrix]
rows = 32
columns = 16
[flow]
rows_per_message = 8
[source]
on = [0]
[[stage]]
on = [0, 1]
name = 'range'
functions = ['weight', 'fft', 'corner-turn']
[[stage]]
on = [0, 1]
functions = ['fft']
[sink]
on = [1]
";

/// Options for few instances of a period that any machine sustains, and a miss rate that they prove: with a share of 99 %
/// two instances miss at least once in 9999 of 10000 cases.
const SHORT: [&str; 6] = ["--period", "1s", "--instances", "2", "--miss-rate", "99%"];

/// A machine of two processors that stop together for 9 ms every 100 ms, and otherwise sustain 2 ms easily.
const STOPPING: &str = "\
name = \"stopping\"
title = \"a machine that stops now and then\"
[processor]
floating_point_mflops = 100
fft_mflops = 1000000
corner_turn_mb_per_s = 1000000
[endpoint]
send_us = 5
receive_us = 5
[network]
shape = \"line\"
link_mb_per_s = 100
[[pause]]
period_us = 100000
length_us = 9000
at_once = true
[[source]]
of = [\"processor\", \"endpoint\", \"network\", \"pause\"]
kind = \"assumed\"
from = \"a test\"
";

/// Writes the Paragon to `paragon.toml`, with a rate of scalar operations, which is not published. They take almost no time.
fn write_paragon(lab: &Lab) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/paragon-osf1-plain.toml");
    let text = std::fs::read_to_string(file).unwrap();
    let text = text.replace("fft_mflops", "floating_point_mflops = 1000000\nfft_mflops");
    let text = text.replace(
        "\"processor.floating_point_mflops = 1000000\nfft_mflops\"",
        "\"processor.fft_mflops\"",
    );
    let source = "[[source]]\nof = [\"processor.floating_point_mflops\"]\nkind = \"assumed\"\nfrom = \"a test\"\n";
    lab.write("paragon.toml", &format!("{text}\n{source}"));
}

/// Returns the measurements of the chain in `image.toml`, on a machine without disturbances.
/// The command ends with `status`.
fn simulated(lab: &Lab, words: &[&str], status: i32) -> Vec<serde_json::Value> {
    write_paragon(lab);
    let machine = ["pipeline", "image.toml", "--fabric", "sim:paragon.toml"];
    let ended = lab.run(&[&machine[..], words, &["--out", "run.jsonl"]].concat());
    assert_eq!(ended.status, Some(status), "{ended:#?}");
    let found = lab.measurements("run.jsonl");
    std::fs::remove_file(lab.path("run.jsonl")).unwrap();
    found
}

fn median_of(found: &[serde_json::Value], metric: &str, mode: &str) -> f64 {
    let is_it = |m: &&serde_json::Value| m["metric"] == metric && m["parameters"]["mode"] == mode;
    let found = found.iter().find(is_it).unwrap_or_else(|| panic!("{metric} {mode}: {found:#?}"));
    found["median"].as_f64().unwrap()
}
