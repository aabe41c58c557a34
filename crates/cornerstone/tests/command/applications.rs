//! Tests applications, on every fabric that needs only this host.

use crate::lab::{Lab, signal};

/// Options of short runs of one launch.
const SHORT: [&str; 4] = ["--time-limit", "10ms", "--launches", "1"];

#[test]
fn applications_tell_their_efficiency_on_real_and_simulated_fabrics() {
    let lab = Lab::new();
    let all_ranks: [&[u64]; 4] = [&[1, 2, 3], &[3], &[3], &[1, 2, 3]];
    for (at, fabric) in ["local", "tcp", "cluster", "sim:cluster"].into_iter().enumerate() {
        let out = format!("{at}.jsonl");
        let of_fabric = all_ranks[at];
        let listed = of_fabric.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let mut words = vec!["run", "applications", "--sizes", "32KiB", "--ranks", &listed];
        words.extend(["--tables", "--fabric", fabric, "--out", &out]);
        // A simulated machine has one launch.
        words.extend(if fabric.starts_with("sim") { &SHORT[..2] } else { &SHORT[..] });
        let ended = lab.succeed(&words);
        let all = lab.measurements(&out);
        let count = |name: &str, ranks: u64| {
            let of = |one: &&serde_json::Value| {
                one["benchmark"] == name && one["ranks"] == ranks && one["metric"] == "efficiency"
            };
            all.iter().filter(of).count()
        };
        // Three ranks cannot form stages, which is reported.
        for &ranks in of_fabric {
            for (name, forms) in [("multiply", 4), ("parallel-sort", 3), ("sor", 8)] {
                assert_eq!(count(name, ranks), forms, "{fabric} {name} {ranks}");
            }
            let forms = if ranks == 3 { 1 } else { 3 };
            assert_eq!(count("parallel-fft", ranks), forms, "{fabric} {ranks}");
        }
        assert!(ended.stderr.contains("by 3 ranks"), "{ended:#?}");
        assert!(ended.stdout.contains("is fastest, efficiency"), "{ended:#?}");
        assert!(lab.becomes_empty());
    }
    let ended = lab.succeed(&["report", "0.jsonl", "3.jsonl", "--output", "both.html"]);
    let page = std::fs::read_to_string(lab.path("both.html")).unwrap();
    assert!(page.contains("Efficiency over ranks, 32 KiB"), "{ended:#?}");
    assert!(page.contains("\"ideal\""), "{ended:#?}");
}

#[test]
fn a_machine_without_rates_is_told_and_computes_nothing_for_free() {
    let lab = Lab::new();
    let words = ["run", "parallel-sort", "--sizes", "8KiB", "--ranks", "2", "--fabric", "sim:ipsc"];
    let ended = lab.run(&[&words[..], &["--out", "run.jsonl"]].concat());
    ended.refuses(1, &["nothing was measured", "its file lacks `copy_mb_per_s`, `sort_mops`"]);
    assert!(lab.measurements("run.jsonl").is_empty());
}

#[test]
fn what_cannot_be_asked_for_is_refused_with_what_can() {
    let lab = Lab::new();
    let words = ["run", "multiply", "--ranks", "2", "--only", "form=columns"];
    lab.run(&words).refuses(2, &["form=columns", "there are form=blocks,rows,rows-hcs", "--only"]);
    let words = ["run", "multiply", "--ranks", "2", "--only", "columns"];
    lab.run(&words).refuses(2, &["write grain=1,8"]);
    let words = ["run", "parallel-fft", "--ranks", "2", "--sizes", "4096GiB"];
    lab.run(&words).refuses(2, &["parallel-fft", "memory"]);
}

#[test]
fn a_worker_that_dies_while_the_master_waits_is_named_and_ends_the_run() {
    for form in ["form=rows", "form=rows-hcs"] {
        let lab = Lab::new();
        let words = ["run", "multiply", "--sizes", "2MiB", "--time-limit", "100s", "--only", form];
        let more = ["--precision", "1e-9", "--ranks", "3", "--out", "run.jsonl"];
        let running = lab.start(&[&words[..], &more].concat());
        signal(running.started(1), "KILL");
        running.wait().refuses(1, &["rank 1", "SIGKILL"]);
        assert!(lab.becomes_empty());
    }
}
