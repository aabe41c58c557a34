//! Tests machines that refuse calls of a run: the run continues without them, and its record contains that, or it names the
//! call.

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

/// A program that refuses a system call to the program that it becomes, as filters of containers do.
const FILTER: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    int call = strcmp(words[1], "pidfd_open") ? SYS_memfd_create : SYS_pidfd_open;
    int answer = strcmp(words[2], "EPERM") ? ENOSYS : EPERM;
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 99;
    execv(words[3], words + 3);
    return 98;
}
"#;

/// Kernels before 5.3 have no pidfd_open, and filters of older containers do not know it.
#[test]
fn ranks_run_and_end_where_a_filter_refuses_descriptors_of_processes() {
    let name = "a filter of system calls";
    let lab = Lab::new();
    lab.write("filter.c", FILTER);
    let mut compile = Command::new("cc");
    compile.args(["-o", "filter", "filter.c"]).current_dir(lab.path(""));
    let compiled = compile.output().unwrap();
    if !compiled.status.success() {
        return skip(name, &String::from_utf8_lossy(&compiled.stderr));
    }
    let run = |refused: &[&str], script: &str| {
        let mut command = lab.marked(Command::new(lab.path("filter")));
        command.args(refused).arg(env!("CARGO_BIN_EXE_cornerstone"));
        command.args(["mpiexec", "-n", "2", "sh", "-c", script]);
        lab.spawn(command).wait()
    };
    if run(&["pidfd_open", "EPERM"], "true").status == Some(99) {
        return skip(name, "the system takes no filters");
    }
    for answer in ["EPERM", "ENOSYS"] {
        let ended = run(&["pidfd_open", answer], "echo $PMI_RANK");
        assert_eq!((ended.status, ended.stdout.lines().count()), (Some(0), 2), "{ended:#?}");
        let failed = run(&["pidfd_open", answer], "[ $PMI_RANK = 1 ] && exit 42; exec sleep 1000");
        failed.refuses(42, &["rank 1", "42"]);
        run(&["memfd_create", answer], "true")
            .refuses(1, &["the system refuses the call memfd_create"]);
    }
    assert!(lab.becomes_empty());
}
