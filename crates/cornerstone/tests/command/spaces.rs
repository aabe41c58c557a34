//! Hosts of network name spaces, joined by cables of a set rate, which can be cut. Two hosts are joined by each cable
//! directly, so both notice that it is cut. Each of more hosts has a cable to a switch of every network, and the others
//! do not notice.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::lab::{Lab, eventually};

/// Several hosts in the view of the network.
pub(crate) struct Hosts {
    spaces: Vec<String>,
    /// The name space with the switches, if there are more than two hosts.
    switch: Option<String>,
    /// Addresses in the first network.
    pub(crate) addresses: Vec<String>,
    networks: Vec<Network>,
}

/// A cable between two hosts, or a cable from each host to a switch, and the addresses there.
struct Network {
    /// Name of the cable at each host.
    cable: String,
    addresses: Vec<String>,
}

impl Hosts {
    /// Creates two hosts with a cable of this rate, or returns the reason why the system does not permit it. `number`
    /// differs in each test.
    pub(crate) fn with_rate(number: u8, rate: &str) -> Result<Hosts, String> {
        Hosts::with_cables(number, rate, 2, 1)
    }

    /// As [`with_rate`](Hosts::with_rate), for up to six hosts with up to two cables each.
    pub(crate) fn with_cables(
        number: u8,
        rate: &str,
        hosts: u32,
        cables: usize,
    ) -> Result<Hosts, String> {
        let space = |end: &str| format!("cornerstone-{}-{number}{end}", std::process::id());
        let spaces = ["a", "b", "c", "d", "e", "f"].iter().take(hosts as usize);
        let spaces: Vec<String> = spaces.map(|end| space(end)).collect();
        // A net of eight addresses in a range that is reserved for measurements (RFC 2544), by process and network.
        let part = std::process::id() % 8_000 * 8;
        let address = |network: usize, host: u32| {
            format!("198.{}.{}.{}", 18 + network, part / 256, part % 256 + host)
        };
        let network = |index: usize| Network {
            cable: format!("cable{index}"),
            addresses: (1..=hosts).map(|host| address(index, host)).collect(),
        };
        let networks: Vec<Network> = (0..cables).map(network).collect();
        let switch = (hosts > 2).then(|| space("switch"));
        let made = Hosts { spaces, switch, addresses: networks[0].addresses.clone(), networks };
        made.make(rate).map(|()| made)
    }

    fn make(&self, rate: &str) -> Result<(), String> {
        for space in self.spaces.iter().chain(&self.switch) {
            run("ip", &["netns", "add", space])?;
            run("ip", &["-n", space, "link", "set", "lo", "up"])?;
        }
        self.networks.iter().try_for_each(|network| self.lay(network, rate))
    }

    fn lay(&self, network: &Network, rate: &str) -> Result<(), String> {
        let name = &network.cable;
        match &self.switch {
            Some(switch) => self.lay_to(switch, name, rate)?,
            None => link((name, &self.spaces[0]), (name, &self.spaces[1]))?,
        }
        for (space, address) in self.spaces.iter().zip(&network.addresses) {
            run("ip", &["-n", space, "address", "add", &format!("{address}/29"), "dev", name])?;
            run("ip", &["-n", space, "link", "set", name, "up"])?;
            limit(space, name, rate)?;
        }
        // The system updates a cable's state some time after it has both ends, and an MPI reads that state.
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

    /// Connects each host to the switch of a network by a cable. The ports of the switch have the rate of the cables,
    /// too.
    fn lay_to(&self, switch: &str, name: &str, rate: &str) -> Result<(), String> {
        let bridge = format!("switch-{name}");
        run("ip", &["-n", switch, "link", "add", &bridge, "type", "bridge"])?;
        run("ip", &["-n", switch, "link", "set", &bridge, "up"])?;
        for (host, space) in self.spaces.iter().enumerate() {
            let port = format!("{name}-{host}");
            link((name, space), (&port, switch))?;
            run("ip", &["-n", switch, "link", "set", &port, "master", &bridge, "up"])?;
            limit(switch, &port, rate)?;
        }
        Ok(())
    }

    /// Returns the addresses of a host in the form of a file of hosts.
    pub(crate) fn all_addresses(&self, host: usize) -> String {
        let of_host = |network: &Network| network.addresses[host].clone();
        self.networks.iter().map(of_host).collect::<Vec<_>>().join(",")
    }

    /// Cuts a cable at a host (`down`), or repairs it (`up`).
    pub(crate) fn set_cable(&self, cable: usize, host: usize, state: &str) {
        let name = &self.networks[cable].cable;
        run("ip", &["-n", &self.spaces[host], "link", "set", name, state]).unwrap();
    }

    /// Cuts the only cable, at the second host.
    pub(crate) fn cut_cable(&self) {
        self.set_cable(0, 1, "down");
    }

    /// Creates an agent, called as ssh is, that reaches all hosts.
    pub(crate) fn agent(&self, lab: &Lab) -> String {
        let lines = self.addresses.iter().zip(&self.spaces);
        let lines = lines.map(|(address, space)| format!("{address}) space={space};;\n"));
        let text = format!(
            "#!/bin/sh\nwhile [ \"${{1#-}}\" != \"$1\" ]; do shift; done\ncase $1 in\n{}esac\nshift\n\
             exec ip netns exec $space sh -c \"$*\"\n",
            lines.collect::<String>()
        );
        lab.write("agent", &text);
        let path = lab.path("agent");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        path.display().to_string()
    }

    /// Returns `program` with its words, to run on the first host.
    pub(crate) fn on_first(&self, program: &Command) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.spaces[0]]).arg(program.get_program());
        command.args(program.get_args());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for space in self.spaces.iter().chain(&self.switch) {
            // The cables are removed with their ends.
            let _ = run("ip", &["netns", "delete", space]);
        }
    }
}

/// Joins two name spaces by a cable with these names at its ends.
fn link((name, space): (&str, &str), (other, other_space): (&str, &str)) -> Result<(), String> {
    let ends = ["netns", space, "type", "veth", "peer", "name", other, "netns", other_space];
    run("ip", &[&["link", "add", name][..], &ends].concat())
}

/// Limits the rate at which a cable accepts data at one end.
fn limit(space: &str, name: &str, rate: &str) -> Result<(), String> {
    // The queue is longer than the data that TCP ever has under way here, so nothing is lost.
    let shape = ["rate", rate, "burst", "32kb", "limit", "16mb"];
    let start = ["-n", space, "qdisc", "add", "dev", name, "root", "tbf"];
    run("tc", &[&start[..], &shape].concat())
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
