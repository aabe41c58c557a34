//! Tests the gain of faster processors and links, as a user requests it.

use crate::lab::Lab;

#[test]
fn crossings_and_slopes_are_told_in_words_in_lines_and_as_data() {
    let lab = Lab::new();
    let words = ["tradeoff", "sharc-ring", "--clock", "3.75", "--links", "3.75"];
    let few =
        ["--calls", "allgather", "--sizes", "128,4KiB", "--ranks", "2,16", "--lengths", "4KiB"];
    let printed = lab.succeed(&[&words[..], &few].concat()).stdout;
    // Section 6: from 11 nodes on.
    assert!(
        printed.contains(
            "up to 10.7 ranks more is gained by a faster clock, beyond that by faster links"
        ),
        "{printed}"
    );
    assert!(printed.contains("26.7 % with both"), "{printed}");
    let csv = lab.succeed(&[&words[..], &few, &["--format", "csv"]].concat()).stdout;
    // Two sizes and two numbers of ranks on four systems, and the header.
    assert_eq!(csv.lines().count(), 1 + 4 * 4, "{csv}");
    let json = lab.succeed(&[&words[..], &few, &["--format", "json"]].concat()).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["call"], "allgather");
    assert_eq!(json[0]["over_ranks"][0]["crossings"][0]["links_beyond"], true);
}

/// A chain of two stages with one buffer, in which receiving, computing and sending do not overlap.
const SINGLE: &str = "title = \"single buffers\"\n[matrix]\nrows = 64\ncolumns = 64\n[flow]\nrows_per_message = 8\n\
    buffers = 1\n[[stage]]\nfunctions = [\"weight\"]\n[[stage]]\nfunctions = [\"magnitude\"]\n";

#[test]
fn the_buffers_that_limit_a_chain_are_named_before_and_after_it_runs() {
    let lab = Lab::new();
    lab.write("single.toml", SINGLE);
    let slow = "name = \"slow\"\ntitle = \"slow links\"\n[processor]\nfloating_point_mflops = 1000\n[network]\n\
        shape = \"switch\"\nlink_mb_per_s = 2500\n[[source]]\nof = [\"processor\", \"network\"]\n\
        kind = \"assumed\"\nfrom = \"a test\"\n";
    lab.write("slow.toml", slow);
    let words = ["tradeoff", "slow.toml", "--pipeline", "single.toml", "--buffers", "8"];
    let printed = lab.succeed(&words).stdout;
    assert!(
        printed.contains("the buffers limit the chain: with 8, a matrix would take"),
        "{printed}"
    );
    assert!(printed.contains("stage 2 (magnitude) 2 times as fast"), "{printed}");
    let csv = lab.succeed(&[&words[..], &["--format", "csv"]].concat()).stdout;
    // As it is, two stages, links, buffers, source and sink, and the header.
    assert_eq!(csv.lines().count(), 8, "{csv}");
    // The file of the machine is in the results, and need not exist any more.
    let run = ["pipeline", "single.toml", "--fabric", "sim:slow.toml", "--period", "1ms"];
    let more = ["--instances", "3", "--miss-rate", "90%", "--out", "run.jsonl"];
    let ran = lab.run(&[&run[..], &more].concat()).stdout;
    // Twice the links or the buffers save as much.
    assert!(ran.contains(" limit the chain: "), "{ran}");
    std::fs::remove_file(lab.path("slow.toml")).unwrap();
    let again = lab.succeed(&["report", "--tables", "run.jsonl"]).stdout;
    assert!(again.contains(" limit the chain: "), "{again}");
    lab.write("without.toml", &slow.replace("floating_point_mflops = 1000\n", ""));
    lab.run(&["tradeoff", "without.toml", "--pipeline", "single.toml"])
        .refuses(2, &["does not know how long", "floating_point_mflops"]);
}

#[test]
fn a_machine_of_few_ranks_is_compared_at_those_that_it_has() {
    let lab = Lab::new();
    let csv = lab.succeed(&["tradeoff", "scale-atm", "--calls", "ping-pong", "--format", "csv"]);
    // Ten sizes, and two sizes for 2, 4 and 8 ranks, on four systems.
    assert_eq!(csv.stdout.lines().count(), 1 + 4 * (10 + 2 * 3), "{csv:#?}");
    lab.run(&["tradeoff", "scale-atm", "--at", "16"])
        .refuses(2, &["scale-atm does not have 16 ranks, but 2 to 8"]);
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
    let printed = lab.succeed(&["fit", "run.jsonl", "--loggp"]).stdout;
    // The paper's own models deviate by at most 3.00 % from its machine. Full packets agree with them.
    let errors = printed.lines().skip_while(|line| !line.contains("largest error"));
    let errors: Vec<_> = errors.filter(|line| line.contains(" ranks: too ")).collect();
    assert_eq!(errors.len(), 3, "{printed}");
    for line in errors {
        let mut shares = line
            .split_whitespace()
            .filter_map(|word| word.trim_end_matches('%').parse::<f64>().ok());
        let more = shares.nth(1).unwrap();
        assert!(more < 3.0, "{line}\n{printed}");
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

/// A program in which rank 0 computes for 100 us and sends, and rank 1 waits for the message and computes for 50 us
/// (1000 operations are a microsecond).
const PROGRAM: &str = "0 init\n0 compute 100000\n0 send 1 0 8\n0 finalize\n\
    1 init\n1 recv 0 0 8\n1 compute 50000\n1 finalize\n";

#[test]
fn a_recorded_program_is_replayed_on_other_systems() {
    let lab = Lab::new();
    std::fs::write(lab.path("program.ti"), PROGRAM).unwrap();
    let words = ["tradeoff", "cluster", "--program", "program.ti"];
    let printed = lab.succeed(&[&words[..], &["--report", "page.html"]].concat()).stdout;
    assert!(printed.contains("the most is gained by processors x 2 (2.0"), "{printed}");
    assert!(printed.contains("cluster has no noise"), "{printed}");
    let page = std::fs::read_to_string(lab.path("page.html")).unwrap();
    assert!(page.contains("<svg viewBox") && page.contains("links x 2: computing 150 µs"));
    let more = ["--machines", "paragon-osf1", "--topologies", "ring,bus", "--format", "json"];
    let json = lab.succeed(&[&words[..], &more].concat()).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let of = |index: usize, field: &str| {
        json["systems"][index]["critical_path"][field].as_f64().unwrap()
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} and not {b}: {json:#}");
    // The path contains all work of both ranks; the machine's file has 0.3 us at each end of a message.
    close(of(0, "computing_us"), 150.0);
    close(of(0, "library_us"), 0.6);
    close(of(0, "changes"), 1.0);
    close(of(1, "computing_us"), 75.0);
    close(of(1, "library_us"), 0.3);
    // The message passes two links of 0.15 us.
    close(of(0, "moving_us") - of(2, "moving_us"), 0.15);
    let names = |index: usize| json["systems"][index]["system"].as_str().unwrap();
    let all = [
        "as it is",
        "processors x 2",
        "latency / 2",
        "links x 2",
        "all of these",
        "ring",
        "bus",
        "sim:paragon-osf1",
    ];
    all.iter().enumerate().for_each(|(index, name)| assert_eq!(names(index), *name));
    for system in json["systems"].as_array().unwrap() {
        let path = &system["critical_path"];
        let parts = ["computing_us", "library_us", "moving_us", "sleeping_us"];
        let sum: f64 = parts.iter().map(|part| path[part].as_f64().unwrap()).sum();
        close(sum, system["time_us"].as_f64().unwrap());
    }
    let csv = lab.succeed(&[&words[..], &["--format", "csv"]].concat()).stdout;
    assert_eq!(csv.lines().count(), 6, "{csv}");
}

/// Tests a machine whose operating system takes a part of the computing time.
#[test]
fn noise_is_taken_away_where_a_machine_has_some() {
    let lab = Lab::new();
    std::fs::write(lab.path("program.ti"), "0 init\n0 compute 1000000000\n0 finalize\n").unwrap();
    let words = ["tradeoff", "paragon-osf1", "--program", "program.ti", "--format", "csv"];
    let csv = lab.succeed(&words).stdout;
    let speedup = |name: &str| {
        let line = csv.lines().find(|line| line.starts_with(name)).unwrap();
        line.split(',').nth(4).unwrap().parse::<f64>().unwrap()
    };
    assert!(speedup("no noise") > 1.0 && speedup("all of these") > 2.0, "{csv}");
}

#[test]
fn programs_that_cannot_be_compared_are_refused() {
    let lab = Lab::new();
    let write = |name: &str, text: &str| std::fs::write(lab.path(name), text).unwrap();
    write("cut", "cornerstone-recording 1\n4 x\n");
    write("other", "cornerstone-recording 2\n4 x\n");
    write("program.ti", PROGRAM);
    write("many.ti", &(0..33).map(|rank| format!("{rank} barrier\n")).collect::<String>());
    let refused = |words: &[&str], status, why: &str| {
        lab.run(&[&["tradeoff"], words].concat()).refuses(status, &[why]);
    };
    refused(&["cluster", "--program", "cut"], 2, "'cut' is cut off or damaged");
    refused(&["cluster", "--program", "other"], 2, "is of another version");
    refused(&["cluster", "--program", "nowhere"], 2, "'nowhere'");
    refused(&["--program", "program.ti"], 2, "does not say on which machine it was recorded");
    refused(&["sharc-ring", "--program", "many.ti"], 2, "has at most 32 ranks, not 33");
    let small = ["cluster", "--program", "many.ti", "--machines", "sharc-ring"];
    refused(&small, 2, "sharc-ring has at most 32 ranks, not 33");
    let grid = ["cluster", "--program", "program.ti", "--topologies", "torus:1x1"];
    refused(&grid, 2, "torus:1x1: ");
    refused(
        &["cluster", "--program", "program.ti", "--calls", "broadcast"],
        2,
        "cannot be used with",
    );
    refused(&["cluster", "--compute", "none"], 2, "--compute is for programs");
    refused(&["cluster", "--latency", "4"], 2, "--program");
    write("page.html", "somebody else's");
    let page = ["cluster", "--program", "program.ti", "--report", "page.html"];
    refused(&page, 2, "is not a file of this kind");
}
