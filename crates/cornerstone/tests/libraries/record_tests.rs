//! Whole, cut and broken results files.

use record::{Line, Run, RunEnd, RunError, RunHeader, Warning};

fn header() -> RunHeader {
    RunHeader { command: vec!["cornerstone".into(), "run".into()], ..RunHeader::default() }
}

fn warning() -> Warning {
    Warning { launch: 2, text: "the clock went back".into() }
}

fn file() -> String {
    let end = Line::End(RunEnd { measurements: 0, seconds: 1.5 });
    format!("{}\n{}\n", Line::Run(header()).to_json(), end.to_json())
}

#[test]
fn written_records_are_read_back_unchanged() {
    let warning_line = Line::Warning(warning()).to_json();
    let text = file().replacen('\n', &format!("\n{warning_line}\n"), 1);
    let run = Run::parse("a.jsonl", &text).unwrap();
    assert_eq!((run.header(), &run.warnings[..]), (&header(), &[warning()][..]));
    assert!(run.ended && !run.cut_off);
}

#[test]
fn texts_of_a_file_do_not_control_the_terminal() {
    let mut header = header();
    header.environment.host = "a\u{1b}[2J\u{202e}b\nc\td\u{e9}".into();
    let text = format!("{}\n", Line::Run(header).to_json());
    let run = Run::parse("a.jsonl", &text).unwrap();
    assert_eq!(run.header().environment.host, "a\\u001b[2J\\u202eb\nc\td\u{e9}");
}

#[test]
fn a_last_line_cut_off_is_left_out() {
    let text = file();
    let run = Run::parse("a.jsonl", &text[..text.len() - 9]).unwrap();
    assert!(run.cut_off && !run.ended);
}

#[test]
fn a_broken_line_in_the_middle_is_named() {
    let text = format!("{}{{\"kind\":\n{}", file(), file());
    let error = Run::parse("a.jsonl", &text).unwrap_err();
    assert!(error.to_string().starts_with("a.jsonl, line 3: not JSON"), "{error}");
}

#[test]
fn another_schema_is_refused_by_its_number() {
    let text = file().replace("\"schema_version\":1", "\"schema_version\":99");
    let found = Run::parse("a.jsonl", &text).unwrap_err();
    assert_eq!(found, RunError::OtherSchema { label: "a.jsonl".into(), found: 99 });
}

#[test]
fn an_empty_file_holds_no_run() {
    assert_eq!(Run::parse("a.jsonl", ""), Err(RunError::Empty { label: "a.jsonl".into() }));
}
