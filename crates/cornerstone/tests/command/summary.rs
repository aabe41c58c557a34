//! Tests the output at the end of a run: its tables if they fit two screens, else a summary that names the file with
//! them.

use crate::lab::Lab;

/// Five benchmarks at 22 sizes each, on a simulated machine: more than a hundred lines.
const LONG: [&str; 10] = [
    "run",
    "latencies",
    "--sizes",
    "0..1MiB",
    "--ranks",
    "2",
    "--fabric",
    "sim:cluster",
    "--out",
    "a.jsonl",
];

#[test]
fn a_long_run_ends_with_a_summary_that_says_where_its_tables_are() {
    let lab = Lab::new();
    let shown = lab.succeed(&LONG).stdout;
    assert!(shown.lines().count() <= 50, "{shown}");
    for part in [
        "the simulated machine cluster",
        " in short",
        "8 bytes, half a round trip",
        "Measured: 110 cases in 5 tables\n latencies    simple-transfer, ping-pong,",
        "Every table: cornerstone report --tables a.jsonl",
    ] {
        assert!(shown.contains(part), "no '{part}' in\n{shown}");
    }
    let tables = lab.succeed(&["report", "--tables", "a.jsonl"]).stdout;
    assert!(tables.lines().count() > 110, "{tables}");
    assert!(tables.contains("\nexchange, 2 ranks"), "{tables}");
}

#[test]
fn every_table_is_printed_on_request_and_where_all_fit() {
    let lab = Lab::new();
    let mut words = LONG.to_vec();
    words.push("--tables");
    let whole = lab.succeed(&words).stdout;
    assert!(whole.contains("\nexchange, 2 ranks"), "{whole}");
    assert_eq!(whole, lab.succeed(&["report", "--tables", "a.jsonl"]).stdout);
    let brief = ["run", "ping-pong", "--fabric", "sim:cluster", "--sizes", "8,64"];
    let short = lab.succeed(&brief).stdout;
    assert!(short.contains("\nping-pong, 2 ranks") && !short.contains("Every table"), "{short}");
}

#[test]
fn tables_of_runs_make_no_page() {
    let lab = Lab::new();
    lab.run(&["report", "--tables", "-o", "page.html", "a.jsonl"])
        .refuses(2, &["--tables", "--output"]);
    lab.run(&["report", "--tables", "missing.jsonl"]).refuses(2, &["missing.jsonl"]);
}
