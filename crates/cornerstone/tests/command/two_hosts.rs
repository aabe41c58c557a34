//! Tests runs across two hosts, made of two network name spaces and a virtual cable with a set rate, over our own TCP
//! fabric and over an MPI. The fit must find the rate. If the system does not permit this, these tests are skipped.

use std::process::Command;

use crate::lab::{Lab, skip};
use crate::mpi;
use crate::spaces::Hosts;

/// Rate of the cable, in each direction: 5 MB/s on the wire. It is low enough that a processor, which the tests share
/// with others, works on the protocol for only a small part of a message's time, and that 1 MiB takes far longer than
/// any pause.
const RATE: &str = "40mbit";
/// Rate of the payload. Of 1514 bytes of a frame 1448 are the program's: 14 belong to Ethernet, 20 to IP, 32 to TCP
/// with its time stamps.
const PAYLOAD_MB_PER_S: f64 = 5.0 * 1448.0 / 1514.0;
/// Number of attempts. Other processes of this machine can delay the messages of a whole run, but never speed them up.
const ATTEMPTS: usize = 3;

/// Returns the rate of the line that `cornerstone fit` finds, in MB/s.
fn fitted_rate(lab: &Lab, file: &str) -> f64 {
    let text = lab.succeed(&["fit", file]).stdout;
    let line = text.lines().find(|line| line.contains("ping-pong, 2 ranks")).expect(&text);
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = words.iter().position(|word| *word == "MB/s").expect("a rate in MB/s");
    words[unit - 1].parse().expect("a number before its unit")
}

/// Checks that one of a few runs of `measure`, which is called with the name of its results file, shows the rate of the
/// cable.
fn finds_the_rate(lab: &Lab, measure: impl Fn(&str)) {
    let mut rates = Vec::new();
    while rates.len() < ATTEMPTS {
        let file = format!("{}.jsonl", rates.len());
        measure(&file);
        rates.push(fitted_rate(lab, &file));
        if (rates.last().unwrap() / PAYLOAD_MB_PER_S - 1.0).abs() < 0.1 {
            return;
        }
    }
    panic!("{rates:?} MB/s fitted, {PAYLOAD_MB_PER_S:.1} MB/s set");
}

// The token bucket passes 32 kB at once, so the line begins well beyond that.
const PING_PONG: [&str; 8] =
    ["run", "ping-pong", "--ranks", "2", "--sizes", "128KiB..1MiB", "--time-limit", "2s"];

#[test]
fn our_own_tcp_between_two_hosts_shows_the_rate_that_was_set() {
    let hosts = match Hosts::with_rate(1, RATE) {
        Ok(hosts) => hosts,
        Err(why) => return skip("our own TCP between two hosts shows the rate", &why),
    };
    let lab = Lab::new();
    let agent = hosts.agent(&lab);
    lab.write("hosts", &hosts.addresses.join("\n"));
    finds_the_rate(&lab, |file| {
        let more = ["--fabric", "tcp", "--hosts", "hosts", "--agent", &agent, "--out", file];
        let mut command = hosts.on_first(&lab.command(&[&PING_PONG[..], &more].concat()));
        command.current_dir(lab.path(""));
        let ended = lab.spawn(command).wait();
        assert_eq!(ended.status, Some(0), "{ended:#?}");
        assert!(lab.becomes_empty());
        let fabric = &lab.records(file)[0]["fabric"];
        assert_eq!(fabric["name"], "tcp");
        assert_eq!(fabric["details"]["address"], hosts.addresses[0].as_str());
    });
}

#[test]
fn a_host_that_cannot_be_reached_is_named() {
    let hosts = match Hosts::with_rate(2, RATE) {
        Ok(hosts) => hosts,
        Err(why) => return skip("a host that cannot be reached is named", &why),
    };
    let lab = Lab::new();
    let agent = hosts.agent(&lab);
    lab.write("hosts", &hosts.addresses.join("\n"));
    // The cable is cut at the far end: the second rank starts, and cannot connect.
    hosts.cut_cable();
    let more = ["--fabric", "tcp", "--hosts", "hosts", "--agent", &agent, "--out", "tcp.jsonl"];
    let mut command = hosts.on_first(&lab.command(&[&PING_PONG[..], &more].concat()));
    command.current_dir(lab.path(""));
    let ended = lab.spawn(command).wait();
    ended.refuses(1, &["rank 1", &hosts.addresses[1], "cannot be reached"]);
    assert!(lab.becomes_empty());
}

#[test]
fn an_mpi_between_two_hosts_shows_the_rate_that_was_set() {
    const NAME: &str = "an MPI between two hosts shows the rate";
    let Some(mpich) = mpi::mpich(NAME) else { return };
    let hosts = match Hosts::with_rate(3, RATE) {
        Ok(hosts) => hosts,
        Err(why) => return skip(NAME, &why),
    };
    let lab = Lab::new();
    let agent = hosts.agent(&lab);
    let library = mpich.library.as_ref().unwrap().to_str().unwrap();
    finds_the_rate(&lab, |file| {
        let out = lab.path(file).display().to_string();
        let more = ["--fabric", "mpi", "--mpi-library", library, "--out", &out];
        let rank = lab.command(&[&PING_PONG[..], &more].concat());
        let mut mpiexec = Command::new(&mpich.mpiexec);
        mpiexec.args(["-launcher", "ssh", "-launcher-exec", &agent]);
        mpiexec.args(["-hosts", &hosts.addresses.join(","), "-n", "2"]);
        mpiexec.arg(rank.get_program()).args(rank.get_args());
        mpiexec.envs(rank.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // Both hosts are one kernel, and the MPI would find its shared memory.
        mpiexec.env("MPIR_CVAR_NOLOCAL", "1").env("FI_PROVIDER", "tcp");
        mpiexec.env("FI_TCP_IFACE", "cable0");
        mpiexec.env("UCX_TLS", "tcp,self").env("UCX_NET_DEVICES", "cable0");
        let mut command = hosts.on_first(&mpiexec);
        command.current_dir(lab.path(""));
        let ended = lab.spawn(command).wait();
        assert_eq!(ended.status, Some(0), "{ended:#?}");
        assert!(lab.becomes_empty());
    });
}
