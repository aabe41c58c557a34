//! Tests the results of a run: the file, standard output, and failures to write them.

use std::path::Path;
use std::process::Command;

use crate::lab::{Lab, skip};

/// A brief run: 5 sizes, of which the empty one has only a time, so 9 metrics.
pub(crate) const BRIEF: [&str; 7] =
    ["run", "ping-pong", "--sizes", "0,8,64,1KiB,64KiB", "--time-limit", "50ms", "--out"];

pub(crate) const METRICS: usize = 9;

pub(crate) fn brief(lab: &Lab, file: &str) {
    let mut words = BRIEF.to_vec();
    words.push(file);
    lab.succeed(&words);
}

#[test]
fn a_run_leaves_a_header_its_measurements_an_end_and_a_report() {
    let lab = Lab::new();
    let mut words = BRIEF.to_vec();
    words.push("a.jsonl");
    let ended = lab.succeed(&words);
    let records = lab.records("a.jsonl");
    let kinds: Vec<&str> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "run");
    assert_eq!(kinds[1..=METRICS], ["measurement"; METRICS]);
    assert_eq!(kinds[METRICS + 1..], ["end"]);
    let header = &records[0];
    assert_eq!(header["fabric"]["name"], "local");
    assert_eq!(header["command"][1], "run");
    assert_eq!(header["time_limit_s"], 0.05);
    assert!(header["environment"]["processors_available"].as_u64().unwrap() > 0);
    assert!(!header["environment"]["kernel"].as_str().unwrap().is_empty());
    assert_eq!(records[METRICS + 1]["measurements"], METRICS);
    assert!(ended.stderr.contains("results  a.jsonl"), "{ended:#?}");
    assert!(ended.stderr.contains("report   a.html"), "{ended:#?}");
    assert!(ended.stdout.contains("ping-pong, 2 ranks"), "{ended:#?}");
    assert!(ended.stdout.contains("64 KiB"), "{ended:#?}");
    let report = std::fs::read_to_string(lab.path("a.html")).unwrap();
    assert!(report.contains("ping-pong"));
    assert!(!report.contains("did not end in order"));
    assert!(lab.becomes_empty());
}

#[test]
fn results_without_a_name_are_named_by_time_and_host() {
    let lab = Lab::new();
    lab.succeed(&["run", "ping-pong", "--sizes", "8", "--time-limit", "20ms"]);
    let mut names: Vec<String> = std::fs::read_dir(lab.path("results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    let stem = names[0].strip_suffix(".html").expect("a report");
    assert_eq!(names[1], format!("{stem}.jsonl"));
    let (time, host) = stem.split_once('-').unwrap();
    assert_eq!((time.len(), time.as_bytes()[8], time.as_bytes()[15]), (16, b'T', b'Z'));
    assert!(!host.is_empty());
}

#[test]
fn json_is_one_object_a_line_with_the_numbers_of_the_file() {
    let lab = Lab::new();
    let mut words = BRIEF.to_vec();
    words.extend(["a.jsonl", "--format", "json"]);
    let lines = lab.succeed(&words).json();
    let measurements = lab.measurements("a.jsonl");
    assert_eq!(lines.len(), METRICS);
    for (line, measurement) in lines.iter().zip(&measurements) {
        for name in [
            "benchmark",
            "fabric",
            "ranks",
            "size_bytes",
            "metric",
            "unit",
            "median",
            "ci_low",
            "ci_high",
            "p99",
            "max",
            "n",
            "stop_reason",
        ] {
            assert_eq!(line[name], measurement[name], "{name}");
            assert!(!line[name].is_null(), "{name}");
        }
        assert!(line.get("samples").is_none());
    }
}

#[test]
fn csv_has_a_header_and_a_line_for_each_number() {
    let lab = Lab::new();
    let mut words = BRIEF.to_vec();
    words.extend(["a.jsonl", "--format", "csv"]);
    let stdout = lab.succeed(&words).stdout;
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 1 + METRICS);
    let columns: Vec<&str> = lines[0].split(',').collect();
    let median = columns.iter().position(|column| *column == "median").unwrap();
    for (line, measurement) in lines[1..].iter().zip(lab.measurements("a.jsonl")) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), columns.len(), "{line}");
        assert_eq!(cells[median].parse::<f64>().unwrap(), measurement["median"].as_f64().unwrap());
    }
}

#[test]
fn a_results_file_is_never_overwritten() {
    let lab = Lab::new();
    lab.write("a.jsonl", "precious\n");
    let mut words = BRIEF.to_vec();
    words.push("a.jsonl");
    lab.run(&words).refuses(2, &["'a.jsonl' is already there", "--resume a.jsonl"]);
    assert_eq!(std::fs::read_to_string(lab.path("a.jsonl")).unwrap(), "precious\n");
}

#[test]
fn a_place_that_cannot_be_written_to_is_named_before_anything_is_measured() {
    let lab = Lab::new();
    for (place, words) in [
        ("missing/a.jsonl", ["missing/a.jsonl", "mkdir -p 'missing'"]),
        ("/proc/a.jsonl", ["/proc/a.jsonl", "--out FILE"]),
    ] {
        let mut command = BRIEF.to_vec();
        command.push(place);
        let ended = lab.run(&command);
        ended.refuses(2, &words);
        assert!(ended.stdout.is_empty(), "{ended:#?}");
    }
}

#[test]
fn a_report_that_cannot_be_written_does_not_cost_the_results() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("a.html")).unwrap();
    let mut words = BRIEF.to_vec();
    words.push("a.jsonl");
    let ended = lab.run(&words);
    assert_ne!(ended.status, Some(0));
    assert!(ended.stderr.contains("a.html"), "{ended:#?}");
    assert!(ended.stderr.contains("results  a.jsonl"), "{ended:#?}");
    assert!(ended.stdout.contains("ping-pong, 2 ranks"), "{ended:#?}");
    assert_eq!(lab.records("a.jsonl").last().unwrap()["kind"], "end");
}

/// A file system of a given size, which exists as long as this.
struct TinyDisk<'a>(&'a Path);

impl<'a> TinyDisk<'a> {
    fn mount(at: &'a Path, size: &str) -> Result<Self, String> {
        std::fs::create_dir(at).unwrap();
        mount(at, &format!("size={size}")).map(|()| TinyDisk(at))
    }

    fn grow(&self, size: &str) {
        mount(self.0, &format!("remount,size={size}")).unwrap();
    }
}

impl Drop for TinyDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

fn mount(at: &Path, options: &str) -> Result<(), String> {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at);
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_full_disk_ends_the_run_and_keeps_what_fitted() {
    let lab = Lab::new();
    let folder = lab.path("small");
    let disk = match TinyDisk::mount(&folder, "48k") {
        Ok(disk) => disk,
        Err(why) => return skip("a_full_disk_ends_the_run_and_keeps_what_fitted", &why),
    };
    // Samples of large messages come slowly, so the first measurements are short lines and fit; 8 bytes do not.
    let words = [
        "run",
        "ping-pong",
        "--sizes",
        "0..2MiB",
        "--time-limit",
        "20ms",
        "--precision",
        "0.01%",
        "--out",
        "small/a.jsonl",
    ];
    let ended = lab.run(&words);
    ended.refuses(1, &["small/a.jsonl", "No space left", "make room", "--resume small/a.jsonl"]);
    assert!(ended.stdout.contains("ping-pong, 2 ranks"), "what was measured is shown: {ended:#?}");
    assert!(lab.becomes_empty());
    let text = std::fs::read_to_string(lab.path("small/a.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "no line is cut off");
    disk.grow("64m");
    lab.succeed(&["run", "--resume", "small/a.jsonl"]);
    let sizes: std::collections::BTreeSet<u64> = lab
        .measurements("small/a.jsonl")
        .iter()
        .map(|measurement| measurement["size_bytes"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes.len(), 23, "0, 1, 2, 4 ... 2 MiB");
}

#[test]
fn a_line_that_is_cut_off_is_dropped_and_measured_again() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    let text = std::fs::read_to_string(lab.path("a.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // The header, the time at 0 bytes, time and rate at 8 bytes; then 64 bytes in the middle of a line.
    let kept = lines[..4].concat();
    lab.write("a.jsonl", &(kept.clone() + &lines[4][..lines[4].len() / 2]));
    let noted = lab.run(&["report", "a.jsonl"]).stderr;
    assert!(noted.contains("'a.jsonl' is cut off in the middle of its last line"), "{noted}");
    lab.succeed(&["run", "--resume", "a.jsonl"]);
    let now = std::fs::read_to_string(lab.path("a.jsonl")).unwrap();
    assert!(now.starts_with(&kept), "what was whole is untouched");
    let measurements = lab.measurements("a.jsonl");
    assert_eq!(measurements.len(), METRICS);
    let headers = lab.records("a.jsonl").iter().filter(|record| record["kind"] == "run").count();
    assert_eq!(headers, 2);
}

#[test]
fn resuming_a_run_that_lacks_nothing_changes_nothing() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    let before = std::fs::read(lab.path("a.jsonl")).unwrap();
    let ended = lab.succeed(&["run", "--resume", "a.jsonl"]);
    assert!(ended.stderr.contains("nothing is missing in a.jsonl"), "{ended:#?}");
    assert_eq!(std::fs::read(lab.path("a.jsonl")).unwrap(), before);
}

#[test]
fn what_is_no_results_file_is_said_to_be_none() {
    let lab = Lab::new();
    brief(&lab, "good.jsonl");
    lab.write("empty.jsonl", "");
    lab.write("notes.txt", "Dear diary,\ntoday I measured.\n");
    lab.write("one-line.txt", "no line's end");
    std::fs::write(lab.path("picture.png"), b"\x89PNG\r\n\x1a\n\xff\xfe\n").unwrap();
    std::fs::create_dir(lab.path("folder")).unwrap();
    let good = std::fs::read_to_string(lab.path("good.jsonl")).unwrap();
    lab.write("other.jsonl", &good.replacen("\"schema_version\":1", "\"schema_version\":9", 1));
    let broken = good.replacen("\"kind\":\"measurement\"", "\"kind\":\"sonnet\"", 1);
    lab.write("broken.jsonl", &broken);
    for (file, words) in [
        ("missing.jsonl", ["missing.jsonl", "No such file"]),
        ("empty.jsonl", ["empty.jsonl", "empty"]),
        ("notes.txt", ["notes.txt", "results file"]),
        ("one-line.txt", ["one-line.txt", "not a results file"]),
        ("picture.png", ["picture.png", "results file"]),
        ("folder", ["folder", "directory"]),
        ("other.jsonl", ["other.jsonl", "schema version 9"]),
        ("broken.jsonl", ["broken.jsonl", "line 2"]),
    ] {
        lab.run(&["run", "--resume", file]).refuses(2, &words);
        lab.run(&["report", file]).refuses(2, &words);
        lab.run(&["compare", "good.jsonl", file]).refuses(2, &words);
        lab.run(&["fit", file]).refuses(2, &words);
    }
    assert_eq!(std::fs::read_to_string(lab.path("notes.txt")).unwrap().lines().count(), 2);
}

#[test]
fn two_runs_do_not_write_into_one_file() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    let held = std::fs::File::open(lab.path("a.jsonl")).unwrap();
    held.lock().unwrap();
    lab.run(&["run", "--resume", "a.jsonl", "--sizes", "3"])
        .refuses(2, &["another run is writing", "a.jsonl"]);
}
