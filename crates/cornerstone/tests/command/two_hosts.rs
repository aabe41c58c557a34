//! Runs across two hosts, made of two network name spaces and a virtual cable whose rate is set: over our own TCP
//! fabric and over an MPI; and the fit finds the rate. Where the system does not allow such things, these tests are
//! skipped.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::lab::{Lab, eventually, skip};
use crate::mpi;

/// The rate of the cable, each way: 5 MB/s on the wire. So slow that a processor, which the tests share with others, is
/// busy with the protocol for a small part of a message's time only, and that 1 MiB takes far longer than any pause.
const RATE: &str = "40mbit";
/// Of 1514 bytes of a frame 1448 are the program's: 14 go to Ethernet, 20 to IP, 32 to TCP with its time stamps.
const PAYLOAD_MB_PER_S: f64 = 5.0 * 1448.0 / 1514.0;
/// What else runs on this machine can delay messages for as long as one run takes, never speed them up.
const ATTEMPTS: usize = 3;

/// Two hosts, as far as the network knows.
pub(crate) struct TwoHosts {
    spaces: [String; 2],
    /// Those of the first cable.
    pub(crate) addresses: [String; 2],
    cables: Vec<Cable>,
}

/// A cable between both hosts, and their addresses there.
struct Cable {
    name: String,
    addresses: [String; 2],
}

impl TwoHosts {
    /// Makes them, or says why that cannot be.
    fn new(number: u8) -> Result<TwoHosts, String> {
        TwoHosts::with_rate(number, RATE)
    }

    /// The same with another rate of the cable.
    pub(crate) fn with_rate(number: u8, rate: &str) -> Result<TwoHosts, String> {
        TwoHosts::with_cables(number, rate, 1)
    }

    /// The same with so many cables, up to two.
    pub(crate) fn with_cables(number: u8, rate: &str, count: usize) -> Result<TwoHosts, String> {
        let spaces =
            ["a", "b"].map(|end| format!("cornerstone-{}-{number}{end}", std::process::id()));
        // A net of four addresses out of a range that is kept for measurements (RFC 2544), by process and cable.
        let part = std::process::id() % 16_000 * 4;
        let address = |cable: usize, host: u32| {
            format!("198.{}.{}.{}", 18 + cable, part / 256 % 256, part % 256 + host)
        };
        let cable = |index: usize| Cable {
            name: format!("cable{index}"),
            addresses: [address(index, 1), address(index, 2)],
        };
        let cables: Vec<Cable> = (0..count).map(cable).collect();
        let hosts = TwoHosts { spaces, addresses: cables[0].addresses.clone(), cables };
        hosts.make(rate).map(|()| hosts)
    }

    fn make(&self, rate: &str) -> Result<(), String> {
        for space in &self.spaces {
            run("ip", &["netns", "add", space])?;
            run("ip", &["-n", space, "link", "set", "lo", "up"])?;
        }
        self.cables.iter().try_for_each(|cable| self.lay(cable, rate))
    }

    fn lay(&self, cable: &Cable, rate: &str) -> Result<(), String> {
        let [a, b] = &self.spaces;
        let name = &cable.name;
        let ends = ["netns", a, "type", "veth", "peer", "name", name, "netns", b];
        run("ip", &[&["link", "add", name][..], &ends].concat())?;
        for (space, address) in self.spaces.iter().zip(&cable.addresses) {
            run("ip", &["-n", space, "address", "add", &format!("{address}/30"), "dev", name])?;
            run("ip", &["-n", space, "link", "set", name, "up"])?;
            // The queue holds more than TCP ever has under way here, so nothing is lost.
            let shape = ["rate", rate, "burst", "32kb", "limit", "16mb"];
            let start = ["-n", space, "qdisc", "add", "dev", name, "root", "tbf"];
            run("tc", &[&start[..], &shape].concat())?;
        }
        // The system takes note of a cable's state a while after it has both ends, and an MPI looks at that.
        let up = |space: &String| {
            let show = ["-n", space, "-brief", "link", "show", name];
            let output = Command::new("ip").args(show).output();
            output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(" UP "))
        };
        if eventually(|| self.spaces.iter().all(up)) {
            Ok(())
        } else {
            Err("the virtual cable does not come up".into())
        }
    }

    /// The addresses of a host, as a file of hosts has them.
    pub(crate) fn all_addresses(&self, host: usize) -> String {
        let of_host = |cable: &Cable| cable.addresses[host].clone();
        self.cables.iter().map(of_host).collect::<Vec<_>>().join(",")
    }

    /// Cuts a cable at the second host (`down`), or mends it (`up`).
    pub(crate) fn set_cable(&self, cable: usize, state: &str) {
        let name = &self.cables[cable].name;
        run("ip", &["-n", &self.spaces[1], "link", "set", name, state]).unwrap();
    }

    /// Cuts the only cable.
    pub(crate) fn cut_cable(&self) {
        self.set_cable(0, "down");
    }

    /// An agent, called as ssh is, that reaches both.
    pub(crate) fn agent(&self, lab: &Lab) -> String {
        let text = format!(
            "#!/bin/sh\nwhile [ \"${{1#-}}\" != \"$1\" ]; do shift; done\nhost=$1\nshift\n\
             if [ \"$host\" = {} ]; then space={}; else space={}; fi\n\
             exec ip netns exec $space sh -c \"$*\"\n",
            self.addresses[0], self.spaces[0], self.spaces[1]
        );
        lab.write("agent", &text);
        let path = lab.path("agent");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        path.display().to_string()
    }

    /// `program` with `words` on the first host.
    pub(crate) fn on_first(&self, program: &Command) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.spaces[0]]).arg(program.get_program());
        command.args(program.get_args());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }
}

impl Drop for TwoHosts {
    fn drop(&mut self) {
        for space in &self.spaces {
            // The cable goes with its ends.
            let _ = run("ip", &["netns", "delete", space]);
        }
    }
}

fn run(program: &str, words: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(words)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
    Err(format!("{program} {}: {said}", words.join(" ")))
}

/// The rate of the line that `cornerstone fit` finds, in MB/s.
fn fitted_rate(lab: &Lab, file: &str) -> f64 {
    let text = lab.succeed(&["fit", file]).stdout;
    let line = text.lines().find(|line| line.contains("ping-pong, 2 ranks")).expect(&text);
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = words.iter().position(|word| *word == "MB/s").expect("a rate in MB/s");
    words[unit - 1].parse().expect("a number before its unit")
}

/// Holds that one of a few runs of `measure`, which is given the name of its results file, shows the rate of the cable.
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

// The token bucket lets 32 kB pass at once, so the line begins well beyond that.
const PING_PONG: [&str; 8] =
    ["run", "ping-pong", "--ranks", "2", "--sizes", "128KiB..1MiB", "--time-limit", "2s"];

#[test]
fn our_own_tcp_between_two_hosts_shows_the_rate_that_was_set() {
    let hosts = match TwoHosts::new(1) {
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
    let hosts = match TwoHosts::new(2) {
        Ok(hosts) => hosts,
        Err(why) => return skip("a host that cannot be reached is named", &why),
    };
    let lab = Lab::new();
    let agent = hosts.agent(&lab);
    lab.write("hosts", &hosts.addresses.join("\n"));
    // The cable is cut at the far end: the second rank starts, and cannot call.
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
    let hosts = match TwoHosts::new(3) {
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
        // Both hosts are one kernel, whose shared memory the MPI would find.
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
