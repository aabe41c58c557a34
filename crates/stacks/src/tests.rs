//! Tests stacks in one mapping: their guards, their reuse and their release. A test that kills a process, or that other
//! tests' mappings must not disturb, runs in a child process.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use corosensei::{Coroutine, CoroutineResult};

use super::*;

const STACK_BYTES: usize = 64 * 1024;
/// Environment variable with the part of a test that a child process runs.
const PART: &str = "CORNERSTONE_TEST_OF_STACKS";

/// Runs the test `name` again in a separate process.
fn child(name: &str, part: &str) -> ExitStatus {
    let program = std::env::current_exe().unwrap();
    let name = format!("tests::{name}");
    let mut command = Command::new(program);
    command.args(["--exact", &name, "--test-threads", "1"]).env(PART, part);
    command.output().unwrap().status
}

fn part() -> Option<String> {
    std::env::var(PART).ok()
}

/// Counts down on the stack, with more than a hundred bytes a step.
fn depth(steps: u64) -> u64 {
    let room = std::hint::black_box([steps; 16]);
    if steps == 0 { room[0] } else { 1 + depth(room[15] - 1) }
}

/// Returns the result of a program that counts down from `steps` on `stack`.
fn on_stack(stack: PooledStack, steps: u64) -> u64 {
    match Coroutine::with_stack(stack, move |_: &corosensei::Yielder<(), ()>, ()| depth(steps))
        .resume(())
    {
        CoroutineResult::Return(steps) => steps,
        CoroutineResult::Yield(()) => unreachable!("it does not yield"),
    }
}

/// Returns the mappings of this process that overlap a range, from /proc/self/smaps, each with its lines.
fn mappings(start: usize, end: usize) -> Vec<String> {
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut found: Vec<String> = Vec::new();
    let mut inside = false;
    for line in smaps.lines() {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let address = |text| usize::from_str_radix(text, 16).ok();
        if let Some((Some(low), Some(high))) =
            range.map(|(low, high)| (address(low), address(high)))
        {
            inside = low < end && start < high;
            if inside {
                found.push(String::new());
            }
        }
        if inside && let Some(mapping) = found.last_mut() {
            mapping.push_str(line);
            mapping.push('\n');
        }
    }
    found
}

#[test]
fn a_program_runs_on_each_kind_of_stack() {
    for pool in [StackPool::new(2, STACK_BYTES).unwrap(), StackPool::separate(STACK_BYTES)] {
        assert_eq!(on_stack(pool.take().unwrap(), 100), 100);
    }
}

#[test]
fn too_deep_a_program_dies_of_the_guard_page() {
    match part().as_deref() {
        None => {
            for kind in ["carved", "separate"] {
                let status = child("too_deep_a_program_dies_of_the_guard_page", kind);
                assert_eq!(status.signal(), Some(libc::SIGSEGV), "{kind}: {status}");
            }
        }
        Some(kind) => {
            let pool = StackPool::new(3, STACK_BYTES).unwrap();
            let pool = if kind == "carved" { pool } else { StackPool::separate(STACK_BYTES) };
            // The neighbours above and below are writable, so only the guard can stop the program.
            let _neighbour = pool.take().unwrap();
            on_stack(pool.take().unwrap(), 1_000_000);
        }
    }
}

#[test]
fn the_lowest_page_faults_and_the_one_above_does_not() {
    let name = "the_lowest_page_faults_and_the_one_above_does_not";
    match part().as_deref() {
        None => {
            assert_eq!(child(name, "above").code(), Some(0));
            assert_eq!(child(name, "guard").signal(), Some(libc::SIGSEGV));
        }
        Some(kind) => {
            let pool = StackPool::new(3, STACK_BYTES).unwrap();
            let _below = pool.take().unwrap();
            let stack = pool.take().unwrap();
            let distance = if kind == "above" { page_bytes() } else { page_bytes() - 1 };
            let address = stack.limit().get() + distance;
            // SAFETY: one address is a byte of the stack, which is unused. The other must fault.
            unsafe { ptr::with_exposed_provenance_mut::<u8>(address).write_volatile(1) };
        }
    }
}

#[test]
fn a_stack_that_was_given_back_is_used_again() {
    let pool = StackPool::new(2, STACK_BYTES).unwrap();
    if !pool.is_one_mapping() {
        return;
    }
    let (first, second) = (pool.take().unwrap(), pool.take().unwrap());
    assert!(matches!(pool.take(), Err(StackError::Exhausted { count: 2 })));
    let (low, high) = (first.bounds(), second.bounds());
    assert_eq!(low.1, high.0, "they lie side by side");
    assert_eq!(high.1 - high.0, STACK_BYTES + page_bytes());
    drop(first);
    assert_eq!(pool.take().unwrap().bounds(), low);
    assert_eq!(on_stack(second, 100), 100);
}

#[test]
fn many_stacks_are_one_mapping_and_take_memory_only_where_they_are_touched() {
    const TOUCHED: usize = 64;
    let pool = StackPool::new(5_000, 512 * 1024).unwrap();
    if !pool.is_one_mapping() {
        return;
    }
    let stacks: Vec<PooledStack> = (0..5_000).map(|_| pool.take().unwrap()).collect();
    let (start, end) = (stacks[0].bounds().0, stacks[4_999].bounds().1);
    for stack in &stacks[..TOUCHED] {
        // SAFETY: this is the highest byte of an unused stack.
        unsafe { ptr::with_exposed_provenance_mut::<u8>(stack.base().get() - 1).write(1) };
    }
    let found = mappings(start, end);
    let [mapping] = &found[..] else { panic!("{found:?}") };
    let resident = mapping.lines().find_map(|line| line.strip_prefix("Rss:")).unwrap();
    let kib: usize = resident.trim().trim_end_matches(" kB").parse().unwrap();
    assert_eq!(kib * 1024, TOUCHED * page_bytes(), "one page for each stack that was touched");
}

#[test]
fn the_mapping_goes_with_the_pool_and_the_last_stack() {
    if part().is_none() {
        // Another test's mapping could take the place that became free.
        assert_eq!(
            child("the_mapping_goes_with_the_pool_and_the_last_stack", "it").code(),
            Some(0)
        );
        return;
    }
    let pool = StackPool::new(100, STACK_BYTES).unwrap();
    if !pool.is_one_mapping() {
        return;
    }
    let stack = pool.take().unwrap();
    let (start, end) = stack.bounds();
    drop(pool);
    assert_eq!(mappings(start, end).len(), 1, "a stack keeps it");
    drop(stack);
    assert_eq!(mappings(start, end), Vec::<String>::new());
}

#[test]
fn more_than_there_is_room_for_is_refused() {
    let error = StackPool::new(1 << 40, 1 << 30).unwrap_err().to_string();
    assert!(error.starts_with("no room for 1099511627776 stacks of 1073741824 bytes"), "{error}");
}
