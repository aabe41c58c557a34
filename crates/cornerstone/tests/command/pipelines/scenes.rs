//! Tests chains on data with known targets, which the sink must find, and functions that do not fit a chain.

use super::{SHORT, write_paragon};
use crate::lab::Lab;

/// A small radar image: chirps of 16 x 8 points raise a target by 21 dB.
const IMAGE: &str = "\
title = 'a small image'
[matrix]
rows = 32
columns = 64
[flow]
rows_per_message = 8
[scene]
kind = 'sar'
row_taps = 8
column_taps = 16
target = [{ row = 4, column = 10, db = 5 }]
[[stage]]
functions = [{ name = 'tdfir', taps = 16 }, 'corner-turn']
[[stage]]
functions = [{ name = 'fdfir', taps = 8 }, 'magnitude']
[sink]
extent = [16, 8]
[[sink.target]]
row = 25
column = 11
at_least_db = 20
";

/// Antennas with a jammer that is far louder than the target.
const ANTENNAS: &str = "\
title = 'a small radar'
[matrix]
rows = 256
columns = 16
[flow]
rows_per_message = 4
[scene]
kind = 'stap'
antennas = 4
target = [{ row = 40, column = 5, beam = 1, db = 10 }]
jammer = [{ beam = 2.3, db = 40 }]
[source]
on = [0, 1]
[[stage]]
on = [0, 1]
functions = ['fft', 'corner-turn']
[[stage]]
on = [0, 1]
functions = [
    { name = 'qr-weights', antennas = 4, beam = 1 },
    { name = 'inner-product', antennas = 4 },
]
[[stage]]
on = [1, 0]
functions = [{ name = 'cfar', guard = 2 }]
[sink]
on = [0, 1]
[[sink.target]]
row = 5
column = 40
at_least_db = 16
";

fn run_of(lab: &Lab, text: &str) -> String {
    lab.write("chain.toml", text);
    lab.succeed(&[&["pipeline", "chain.toml", "--out", "run.jsonl"][..], &SHORT].concat()).stdout
}

/// Returns the signal-to-noise ratio of the only target.
fn signal_to_noise_db(lab: &Lab) -> f64 {
    let found = lab.measurements("run.jsonl");
    let ratio =
        found.iter().find(|m| m["metric"] == "signal-to-noise").expect("a target was sought");
    assert_eq!((&ratio["unit"], &ratio["better"]), (&"dB".into(), &"higher".into()));
    ratio["median"].as_f64().unwrap()
}

#[test]
fn the_target_of_an_image_is_found_with_the_gain_of_its_chirps() {
    let lab = Lab::new();
    let printed = run_of(&lab, IMAGE);
    assert!(printed.contains("target at row 25, column 11: "), "{printed}");
    // 5 dB of the target and 10 log 128 of the chirps, within the effect of noise on an amplitude 20 times its own.
    // Near the edges the filters are not full yet, so the median power of noise, with which it is compared, is 1.6 dB
    // below that of full ones.
    let right = 5.0 + 10.0 * 128f64.log10() + 1.6;
    let found = signal_to_noise_db(&lab);
    assert!((found - right).abs() < 1.5, "{found} and not {right}");
}

#[test]
fn adaptive_weights_find_a_target_that_fixed_ones_lose_in_a_jammer() {
    let lab = Lab::new();
    run_of(&lab, ANTENNAS);
    assert!(signal_to_noise_db(&lab) >= 16.0);
    let fixed = "{ name = 'beamforming', antennas = 4, beam = 1 },\n]";
    let adaptive = &ANTENNAS[ANTENNAS.find("{ name = 'qr").unwrap()..];
    let adaptive = &adaptive[..=adaptive.find("\n]").unwrap() + 1];
    lab.write("fixed.toml", &ANTENNAS.replace(adaptive, fixed));
    let refused = lab.run(&[&["pipeline", "fixed.toml"][..], &SHORT].concat());
    refused.refuses(1, &["the target at row 5, column 40 is not found"]);
}

#[test]
fn a_target_that_is_elsewhere_or_faint_is_told() {
    let lab = Lab::new();
    lab.write("elsewhere.toml", &IMAGE.replace("column = 11", "column = 12"));
    lab.run(&[&["pipeline", "elsewhere.toml"][..], &SHORT].concat()).refuses(
        1,
        &["a point at row 25, column 11", "the target at row 25, column 12 is not found"],
    );
    lab.write("faint.toml", &IMAGE.replace("at_least_db = 20", "at_least_db = 40"));
    lab.run(&[&["pipeline", "faint.toml"][..], &SHORT].concat())
        .refuses(1, &["nothing else is 40 dB above the noise", "row 25, column 11 is not found"]);
}

#[test]
fn what_a_scene_or_a_function_cannot_be_is_told_with_its_line() {
    let lab = Lab::new();
    let cases = [
        ("row_taps = 8", "row_taps = 33", "line 7: the scene has chirps of 33 x 16 points"),
        (
            "row = 4,",
            "row = 25,",
            "a target whose echo begins at row 25, column 10; it fits up to row 24",
        ),
        ("'sar'", "'sonar'", "unknown variant `sonar`, expected `sar` or `stap`"),
        (
            "row = 25",
            "row = 64",
            "is to find a target at row 64, column 11 of a result of 64 x 32 elements",
        ),
        ("taps = 16 }, 'corner", "taps = 65 }, 'corner", "cannot do `tdfir`, which has 65 taps"),
        ("'magnitude'", "'cfarr'", "there is no function `cfarr`; there are `fft`, `weight`"),
        (
            "'magnitude'",
            "{ name = 'inner-product', antennas = 5 }",
            "which needs snapshots of 5 antennas, of which a row of 32 elements is no whole number",
        ),
        ("{ name = 'tdfir', taps = 16 }", "'tdfir'", "`tdfir` needs `taps`"),
    ];
    for (from, to, message) in cases {
        assert!(IMAGE.contains(from), "{from}");
        lab.write("chain.toml", &IMAGE.replacen(from, to, 1));
        lab.run(&["pipeline", "chain.toml", "--check"]).refuses(2, &[message]);
    }
}

/// Returns the measurements of the targets of a chain of the distribution.
fn targets_of(file: &str) -> Vec<serde_json::Value> {
    let lab = Lab::new();
    let path = format!("{}/../../pipelines/{file}.toml", env!("CARGO_MANIFEST_DIR"));
    let words = ["pipeline", &path, "--period", "2s", "--instances", "2"];
    let words = [&words[..], &["--miss-rate", "99%", "--out", "run.jsonl"]].concat();
    lab.succeed(&words);
    let found = lab.measurements("run.jsonl").into_iter();
    found.filter(|m| m["metric"] == "signal-to-noise").collect()
}

#[test]
fn the_synthetic_aperture_that_comes_along_finds_its_targets() {
    assert_eq!(targets_of("sar").len(), 2);
}

#[test]
fn the_adaptive_radar_that_comes_along_finds_its_targets() {
    assert_eq!(targets_of("stap").len(), 2);
}

#[test]
fn a_simulated_machine_finds_targets_unless_it_only_lets_time_pass() {
    let lab = Lab::new();
    lab.write("chain.toml", IMAGE);
    write_paragon(&lab);
    let words = ["pipeline", "chain.toml", "--fabric", "sim:paragon.toml", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &SHORT].concat());
    assert!(signal_to_noise_db(&lab) > 20.0);
    std::fs::remove_file(lab.path("run.jsonl")).unwrap();
    lab.succeed(&[&words[..], &SHORT, &["--check-results", "no"]].concat());
    assert!(lab.measurements("run.jsonl").iter().all(|m| m["metric"] != "signal-to-noise"));
}
