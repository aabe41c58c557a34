//! The library in a program that it is preloaded into.
//!
//! cargo builds the library for this test, and thereby for the tests of the command, which preload it too.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs()
}

#[test]
fn a_program_outside_a_simulated_run_keeps_the_clock_of_the_system() {
    let test = std::env::current_exe().expect("this program has a file");
    let library = test.with_file_name("libcornerstone_time.so");
    assert!(library.exists(), "{}", library.display());
    let before_s = now_s();
    let ended = Command::new("date").arg("+%s").env("LD_PRELOAD", &library).output().unwrap();
    let after_s = now_s();
    // The loader reports a library that it cannot use on standard error.
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    let said_s: u64 = String::from_utf8_lossy(&ended.stdout).trim().parse().unwrap();
    assert!((before_s..=after_s).contains(&said_s), "{said_s}");
}
