//! What faster processors and links are worth, as a user asks.

use crate::lab::Lab;

#[test]
fn crossings_and_slopes_are_told_in_words_in_lines_and_as_data() {
    let lab = Lab::new();
    let words = ["tradeoff", "sharc-ring", "--clock", "3.75", "--links", "3.75"];
    let few =
        ["--calls", "allgather", "--sizes", "128,4KiB", "--ranks", "2,16", "--lengths", "4KiB"];
    let told = lab.succeed(&[&words[..], &few].concat()).stdout;
    // Section 6: from 11 nodes on.
    assert!(
        told.contains(
            "up to 10.7 ranks more is gained by a faster clock, beyond that by faster links"
        ),
        "{told}"
    );
    assert!(told.contains("26.7 % with both"), "{told}");
    let csv = lab.succeed(&[&words[..], &few, &["--format", "csv"]].concat()).stdout;
    // Two sizes and two numbers of ranks on four systems, and the header.
    assert_eq!(csv.lines().count(), 1 + 4 * 4, "{csv}");
    let json = lab.succeed(&[&words[..], &few, &["--format", "json"]].concat()).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["call"], "allgather");
    assert_eq!(json[0]["over_ranks"][0]["crossings"][0]["links_beyond"], true);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let lab = Lab::new();
    lab.run(&["tradeoff", "sharc-rink"]).refuses(2, &["(is it `sharc-ring`?)"]);
    lab.run(&["tradeoff", "sharc-ring", "--clock", "0"]).refuses(2, &["it must be above 0"]);
    lab.run(&["tradeoff", "sharc-ring", "--calls", "shout"]).refuses(2, &["no benchmark `shout`"]);
    lab.run(&["tradeoff", "sharc-ring", "--ranks", "64"])
        .refuses(2, &["does not have 64 ranks, but 2 to 32"]);
}

#[test]
fn parameters_of_few_ranks_predict_more_on_a_machine_whose_model_they_are() {
    let lab = Lab::new();
    let calls = ["run", "ping-pong", "broadcast", "allgather", "--fabric", "sim:sharc-ring"];
    let sizes =
        ["--ranks", "2,3,4,8,16", "--sizes", "4,128,2048,4KiB,8KiB,16KiB", "--out", "run.jsonl"];
    lab.succeed(&[&calls[..], &sizes].concat());
    let told = lab.succeed(&["fit", "run.jsonl", "--loggp"]).stdout;
    // The paper's own models deviate by 3.00 % at most from its machine. Full packets meet them.
    let errors = told.lines().skip_while(|line| !line.contains("largest error"));
    let errors: Vec<_> = errors.filter(|line| line.contains(" ranks: too ")).collect();
    assert_eq!(errors.len(), 3, "{told}");
    for line in errors {
        let mut shares = line
            .split_whitespace()
            .filter_map(|word| word.trim_end_matches('%').parse::<f64>().ok());
        let more = shares.nth(1).unwrap();
        assert!(more < 3.0, "{line}\n{told}");
    }
    lab.run(&["fit", "run.jsonl", "--loggp", "--packet", "0"]).refuses(2, &["--packet"]);
    lab.succeed(&[
        "run",
        "ping-pong",
        "--ranks",
        "2",
        "--sizes",
        "4,8,64",
        "--fabric",
        "sim:sharc-ring",
        "--out",
        "one.jsonl",
    ]);
    lab.run(&["fit", "one.jsonl", "--loggp"]).refuses(1, &["one number of ranks only"]);
}
