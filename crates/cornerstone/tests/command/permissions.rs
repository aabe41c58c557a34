//! Tests machines that refuse calls of a run: the run continues without them, and its record contains that.

use std::process::Command;

use crate::lab::{Lab, skip};

/// Builds a library, to be loaded before libc, that refuses the calls of these names as a machine without permission
/// does.
fn refusing(lab: &Lab, calls: &[&str]) -> Result<std::path::PathBuf, String> {
    let body: String = calls
        .iter()
        .map(|call| format!("long {call}() {{ errno = EPERM; return -1; }}\n"))
        .collect();
    lab.write("refuse.c", &format!("#include <errno.h>\n{body}"));
    let library = lab.path("refuse.so");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(lab.path("refuse.c"));
    match compile.output() {
        Ok(output) if output.status.success() => Ok(library),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("cc: {error}")),
    }
}

/// Runs a brief ping-pong while `calls` are refused, and returns the details of the fabric in the record.
fn details_without(lab: &Lab, calls: &[&str]) -> Result<serde_json::Value, String> {
    let library = refusing(lab, calls)?;
    let words =
        ["run", "ping-pong", "--sizes", "8,1MiB", "--time-limit", "50ms", "--out", "a.jsonl"];
    let mut command = lab.command(&words);
    command.env("LD_PRELOAD", library);
    let ended = lab.spawn(command).wait();
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    Ok(lab.records("a.jsonl")[0]["fabric"]["details"].clone())
}

#[test]
fn without_permission_to_pin_the_ranks_run_unbound_and_the_record_says_so() {
    let lab = Lab::new();
    match details_without(&lab, &["sched_setaffinity"]) {
        Ok(details) => {
            let binding = details["binding"].as_str().unwrap();
            assert!(binding.contains("not bound"), "{details}");
        }
        Err(why) => skip("without_permission_to_pin", &why),
    }
}

#[test]
fn without_permission_to_attach_long_messages_arrive_all_the_same() {
    let lab = Lab::new();
    match details_without(&lab, &["process_vm_readv", "process_vm_writev"]) {
        Ok(details) => {
            let attach = details["cross-memory attach"].as_str().unwrap();
            assert!(attach.contains("not permitted"), "{details}");
        }
        Err(why) => skip("without_permission_to_attach", &why),
    }
}
