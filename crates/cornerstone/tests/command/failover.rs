//! Tests two to four hosts with two cables each, which are cut at random moments while a program sends messages. If the
//! system does not permit network name spaces, these tests are skipped.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::lab::{Lab, Running, eventually, skip};
use crate::launching::{compile, library};
use crate::spaces::Hosts;

/// Number of cuts. The suite `cuts` of interop makes hundreds.
const CUTS: u64 = 6;

/// A run of the program on hosts of two ranks each, with cables that can be cut.
struct Run<'a> {
    lab: &'a Lab,
    hosts: Hosts,
    running: Running<'a>,
}

impl<'a> Run<'a> {
    /// Starts it, and waits until messages pass. Returns `None` if the system does not permit it.
    fn start(lab: &'a Lab, test: &str, number: u8, cables: usize, more: &[&str]) -> Option<Self> {
        Run::on(2, lab, test, number, cables, more)
    }

    /// As [`start`](Run::start), on this number of hosts.
    fn on(
        count: u32,
        lab: &'a Lab,
        test: &str,
        number: u8,
        cables: usize,
        more: &[&str],
    ) -> Option<Self> {
        let library = library(test)?;
        let hosts = match Hosts::with_cables(number, "200mbit", count, cables) {
            Ok(hosts) => hosts,
            Err(why) => {
                skip(test, &why);
                return None;
            }
        };
        compile(lab, &library, include_str!("cuts.c"));
        let lines: Vec<String> = (0..count as usize)
            .map(|host| match more.contains(&"--interfaces") {
                true => format!("{}:2\n", hosts.addresses[host]),
                false => format!("{}:2@{}\n", hosts.addresses[host], hosts.all_addresses(host)),
            })
            .collect();
        lab.write("hosts", &lines.concat());
        let agent = hosts.agent(lab);
        let ranks = (2 * count).to_string();
        let words = ["launch", "--hosts", "hosts", "--agent", &agent, "-n", &ranks];
        let program = ["./program", "stop", "counter", "7"];
        let mut command = hosts.on_first(&lab.command(&[&words, more, &program].concat()));
        command.current_dir(lab.path(""));
        let running = lab.spawn(command);
        let run = Run { lab, hosts, running };
        assert!(eventually(|| rounds(&run.lab.path("counter")) > 5), "messages pass");
        Some(run)
    }

    /// Returns the number of rounds in this time.
    fn rounds_in(&self, time: Duration) -> u64 {
        let before = rounds(&self.lab.path("counter"));
        std::thread::sleep(time);
        rounds(&self.lab.path("counter")) - before
    }

    fn goes_on(&self) -> bool {
        let before = rounds(&self.lab.path("counter"));
        eventually(|| rounds(&self.lab.path("counter")) > before + 2)
    }

    /// Ends the program, which has checked every byte.
    fn end(self) {
        self.lab.write("stop", "");
        let ended = self.running.wait();
        assert_eq!(ended.status, Some(0), "{ended:#?}");
        assert!(ended.stdout.contains("rounds,"), "{ended:#?}");
        assert!(self.lab.becomes_empty());
    }
}

fn rounds(counter: &Path) -> u64 {
    let bytes = std::fs::read(counter).unwrap_or_default();
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[test]
fn messages_go_on_over_the_other_cable_and_none_is_lost() {
    let lab = Lab::new();
    let test = "messages go on over the other cable";
    let Some(run) = Run::start(&lab, test, 6, 2, &[]) else { return };
    cut_at_random(run, 2, CUTS);
}

/// Tests cuts that the other hosts do not notice, because their cables lead to a switch.
#[test]
fn messages_between_three_and_four_hosts_go_on_over_the_other_network() {
    let test = "messages between three and four hosts go on";
    for (number, hosts) in [(14, 3), (15, 4)] {
        let lab = Lab::new();
        let Some(run) = Run::on(hosts, &lab, test, number, 2, &[]) else { return };
        cut_at_random(run, hosts, CUTS / 2);
    }
}

/// Cuts one cable of one host at a time, and repairs it.
fn cut_at_random(run: Run<'_>, hosts: u32, cuts: u64) {
    let mut state = u64::from(std::process::id());
    println!("seed {state}");
    for _ in 0..cuts {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (cable, host) = ((state >> 33) as usize % 2, (state >> 34) as usize % hosts as usize);
        run.hosts.set_cable(cable, host, "down");
        assert!(run.goes_on(), "with cable {cable} of host {host} cut");
        std::thread::sleep(Duration::from_millis(state >> 40 & 0xff));
        run.hosts.set_cable(cable, host, "up");
        assert!(run.goes_on(), "with cable {cable} of host {host} back");
        std::thread::sleep(Duration::from_millis(state >> 48 & 0xff));
    }
    run.end();
}

#[test]
fn interfaces_are_found_by_each_host_and_used_together() {
    let lab = Lab::new();
    // The first cable by its name, the second by the network of its addresses.
    let interfaces = ["--interfaces", "cable0,198.19.0.0/16"];
    let test = "interfaces are found by each host";
    let Some(run) = Run::start(&lab, test, 13, 2, &interfaces) else { return };
    for cable in 0..2 {
        run.hosts.set_cable(cable, 1, "down");
        assert!(run.goes_on(), "with cable {cable} cut");
        run.hosts.set_cable(cable, 1, "up");
        assert!(run.goes_on(), "with cable {cable} back");
    }
    run.end();
}

#[test]
fn a_single_cable_that_is_back_in_time_carries_everything_again() {
    let lab = Lab::new();
    let test = "a single cable that is back in time";
    let Some(run) = Run::start(&lab, test, 7, 1, &["--reconnect", "600s"]) else { return };
    run.hosts.set_cable(0, 1, "down");
    // What was under way arrives, and then nothing can pass.
    assert!(eventually(|| run.rounds_in(Duration::from_millis(300)) == 0), "messages pass");
    run.hosts.set_cable(0, 1, "up");
    assert!(run.goes_on());
    run.end();
}

#[test]
fn a_host_without_any_cable_is_a_dead_rank_by_name() {
    let lab = Lab::new();
    let test = "a host without any cable";
    let Some(run) = Run::start(&lab, test, 8, 2, &["--reconnect", "2s"]) else { return };
    let begin = Instant::now();
    (0..2).for_each(|cable| run.hosts.set_cable(cable, 1, "down"));
    let ended = run.running.wait();
    // The first that detects it reports it: a rank, with the exit status of its program.
    assert!(ended.status.is_some_and(|status| status != 0), "{ended:#?}");
    assert!(
        ended.stderr.contains("rank") && ended.stderr.contains("was out of reach for 2.0s"),
        "{ended:#?}"
    );
    assert!(begin.elapsed() >= Duration::from_secs(2));
    assert!(run.lab.becomes_empty());
}
