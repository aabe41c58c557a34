//! Tests ranks that a real `ssh` starts: by a server of its own, on a port of its own, with keys created for one test.
//! If there is no `sshd`, or it does not start, the tests are skipped by name.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::cluster::{PROGRAM, sorted};
use crate::lab::{Lab, eventually, signal, skip};
use crate::launching::{compile, library};

/// Name of the host in our file and in ssh's settings. No resolver has it.
const HOST: &str = "elsewhere";

/// An ssh server on this host's loopback address, ended when it is dropped.
struct Server {
    process: Child,
    /// Agent, called as ssh is, that reaches this server as [`HOST`].
    agent: PathBuf,
}

impl Server {
    fn start(lab: &Lab, test: &str) -> Option<Server> {
        let Some(sshd) = found("sshd").filter(|_| found("ssh").is_some()) else {
            skip(test, "there is no sshd or no ssh");
            return None;
        };
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(lab.path(key))
                .status();
            assert!(made.expect("ssh-keygen comes with ssh").success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let path = |name: &str| lab.path(name).display().to_string();
        lab.write(
            "sshd_config",
            &format!(
                "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
                 UsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nSetEnv {}\n",
                path("host"),
                path("user.pub"),
                lab.mark()
            ),
        );
        lab.write(
            "ssh_config",
            &format!(
                "Host {HOST}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {}\n IdentitiesOnly yes\n BatchMode yes\n \
                 StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n",
                path("user")
            ),
        );
        let agent = lab.path("agent");
        lab.write("agent", &format!("#!/bin/sh\nexec ssh -F '{}' \"$@\"\n", path("ssh_config")));
        std::fs::set_permissions(&agent, PermissionsExt::from_mode(0o755)).unwrap();
        // A server that root starts needs this folder, which is on a file system that every boot empties.
        let _ = std::fs::create_dir("/run/sshd");
        let mut process = Command::new(sshd)
            .args(["-D", "-f"])
            .arg(lab.path("sshd_config"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let answers = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        if !eventually(|| answers() || matches!(process.try_wait(), Ok(Some(_)))) || !answers() {
            let _ = process.kill();
            let _ = process.wait();
            skip(test, "sshd does not start here");
            return None;
        }
        Some(Server { process, agent })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a program in PATH, or in a folder of servers.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    places.map(|place| place.join(name)).find(|file| file.is_file())
}

/// Returns the command line of a run on this host and, through ssh, once more on it.
fn run<'a>(agent: &'a Path, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["run", "ping-pong", "--sizes", "8,64KiB", "--ranks", "2"];
    words.extend(["--fabric", "tcp", "--hosts", "hosts", "--agent", agent.to_str().unwrap()]);
    // Which of our addresses an invented host can reach cannot be determined.
    words.extend(["--listen", "127.0.0.1:0", "--out", out]);
    words.extend(more);
    words
}

#[test]
fn ranks_that_ssh_starts_measure_and_end() {
    let lab = Lab::new();
    let Some(server) = Server::start(&lab, "ranks that ssh starts measure and end") else { return };
    for (out, hosts) in [("both.jsonl", "localhost\nelsewhere\n"), ("there.jsonl", "elsewhere:2\n")]
    {
        lab.write("hosts", hosts);
        lab.succeed(&run(&server.agent, out, &["--time-limit", "50ms"]));
        let times = lab.measurements(out);
        assert_eq!(times.iter().filter(|one| one["metric"] == "time").count(), 2, "{hosts}");
        assert!(lab.becomes_empty(), "{hosts}");
    }
}

#[test]
fn mpi_programs_run_on_a_host_that_ssh_reaches() {
    let test = "MPI programs run on a host that ssh reaches";
    let lab = Lab::new();
    let Some(library) = library(test) else { return };
    let Some(server) = Server::start(&lab, test) else { return };
    let program = compile(&lab, &library, PROGRAM).display().to_string();
    lab.write("hosts", "localhost:2\nelsewhere:2\n");
    let agent = server.agent.display().to_string();
    let words = ["launch", "-n", "4", "--hosts", "hosts", "--agent", &agent];
    let ended = lab.succeed(&[&words[..], &["--listen", "127.0.0.1:0", &program]].concat());
    // Two of the four ranks share a host with each other.
    let expected: Vec<String> = (0..4).map(|rank| format!("rank {rank} of 4, one of 2")).collect();
    assert_eq!(sorted(&ended.stdout), expected, "{ended:#?}");
    assert!(lab.becomes_empty());
}

#[test]
fn what_ssh_says_of_a_host_that_it_cannot_log_in_to_is_shown() {
    let lab = Lab::new();
    let test = "what ssh says of a host that it cannot log in to is shown";
    let Some(server) = Server::start(&lab, test) else { return };
    lab.write("hosts", "localhost\nelsewhere\n");
    lab.write("user.pub", "");
    lab.run(&run(&server.agent, "a.jsonl", &[])).refuses(1, &["Permission denied", "elsewhere"]);
    assert!(lab.becomes_empty());
}

#[test]
fn a_run_through_ssh_that_is_ended_leaves_no_rank_on_the_other_host() {
    let lab = Lab::new();
    let test = "a run through ssh that is ended leaves no rank on the other host";
    let Some(server) = Server::start(&lab, test) else { return };
    lab.write("hosts", "localhost\nelsewhere\n");
    let long = ["--time-limit", "60s", "--precision", "0.0001%"];
    for (name, status) in [("INT", Some(130)), ("KILL", None)] {
        let out = format!("{name}.jsonl");
        let running = lab.start(&run(&server.agent, &out, &long));
        assert!(eventually(|| !lab.records(&out).is_empty()), "the ranks have not begun");
        signal(running.id(), name);
        assert_eq!(running.wait().status, status, "{name}");
        assert!(lab.becomes_empty(), "{name}");
    }
}
