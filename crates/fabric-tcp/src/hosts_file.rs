//! The hosts of a run, from a file.

use std::net::IpAddr;

/// A host, and the number of its ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name or address of the host.
    pub name: String,
    /// Maximum number of its ranks.
    pub slots: usize,
    /// Addresses at which its ranks listen for those of other hosts; the first ones of all hosts form a path, the
    /// second ones another, and so on. Empty for the address by which the host reaches the process that started the
    /// run.
    pub addresses: Vec<IpAddr>,
}

impl Host {
    /// Reads hosts, one per line: `NAME`, `NAME:SLOTS`, `NAME:SLOTS@ADDRESS,ADDRESS...`, or `NAME slots=SLOTS` as Open
    /// MPI has it. A name that is an IPv6 address is in brackets. `#` begins a comment.
    ///
    /// # Errors
    /// The line that is not a host, in words.
    pub fn parse_all(text: &str) -> Result<Vec<Host>, String> {
        let mut hosts = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                let host = Host::parse(line).map_err(|why| format!("line {}: {why}", index + 1))?;
                hosts.push(host);
            }
        }
        if hosts.is_empty() { Err("it names no host".into()) } else { Ok(hosts) }
    }

    /// Reads hosts separated by commas, each as a line of [`parse_all`](Host::parse_all). An address after a comma
    /// belongs to the host before it, if that has addresses.
    ///
    /// # Errors
    /// The entry that is not a host, in words.
    pub fn parse_list(text: &str) -> Result<Vec<Host>, String> {
        let mut words: Vec<String> = Vec::new();
        for word in text.split(',').map(str::trim) {
            match words.last_mut().filter(|last| has_addresses(last)) {
                Some(last) if word.parse::<IpAddr>().is_ok() => *last += &format!(",{word}"),
                _ => words.push(word.into()),
            }
        }
        words.iter().map(|word| Host::parse(word)).collect()
    }

    fn parse(line: &str) -> Result<Host, String> {
        let (line, addresses) = match line.rsplit_once('@').filter(|_| has_addresses(line)) {
            Some((line, addresses)) => (line, Some(addresses)),
            None => (line, None),
        };
        let mut host = Host::parse_name(line)?;
        for word in addresses.iter().flat_map(|list| list.split(',')) {
            let address: IpAddr =
                word.trim().parse().map_err(|_| format!("'{line}': '{word}' is no address"))?;
            if address.is_unspecified() || host.addresses.contains(&address) {
                return Err(format!("'{line}': '{word}' is no address of its own"));
            }
            host.addresses.push(address);
        }
        Ok(host)
    }

    fn parse_name(line: &str) -> Result<Host, String> {
        if let Some((name, words)) = line.split_once(char::is_whitespace) {
            return Host::parse_words(name, words);
        }
        let (name, slots) = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, "")) => (name, "1"),
            Some((name, rest)) => (name, rest.strip_prefix(':').unwrap_or("")),
            None => line.split_once(':').unwrap_or((line, "1")),
        };
        match slots.parse() {
            Ok(slots) if slots > 0 => Host::named(name, slots),
            _ if name.is_empty() => Host::named(line, 1),
            _ => Err(format!("'{line}': '{slots}' is not a number of ranks")),
        }
    }

    /// Reads the words after a name: `slots=SLOTS`, and an upper limit for ranks beyond the slots, which there are none of.
    fn parse_words(name: &str, words: &str) -> Result<Host, String> {
        let mut host = Host::parse_name(name)?;
        for word in words.split_whitespace() {
            match word.split_once('=') {
                Some(("slots", slots)) => host = Host::parse_name(&format!("{name}:{slots}"))?,
                Some(("max_slots" | "max-slots", _)) => {}
                _ => return Err(format!("'{name} {words}': '{word}' is not slots=NUMBER")),
            }
        }
        Ok(host)
    }

    /// Creates a host with this name.
    ///
    /// # Errors
    /// The name is invalid.
    pub fn named(name: &str, slots: usize) -> Result<Host, String> {
        // An agent must not take a name for an option, and a shell must not take it for more than a name.
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:@%".contains(c);
        if name.is_empty() || name.starts_with('-') || !name.chars().all(allowed) {
            return Err(format!("'{name}' is no host: write NAME or NAME:SLOTS"));
        }
        Ok(Host { name: name.into(), slots, addresses: Vec::new() })
    }

    /// Returns whether its name denotes this host: a loopback address, or the name that the system has.
    pub fn is_here(&self) -> bool {
        let address = self.name.parse::<IpAddr>();
        let is_own = || own_name().is_some_and(|own| is_same_name(&own, &self.name));
        self.name == "localhost"
            || address.map_or_else(|_| is_own(), |address| address.is_loopback())
    }
}

fn own_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns whether two names denote one host, of which one may lack the domain.
fn is_same_name(one: &str, other: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    one == other || short(one) == short(other) && (!one.contains('.') || !other.contains('.'))
}

/// Returns whether addresses follow a host's slots. Without slots, the part before the sign is a user, as agents have
/// it.
fn has_addresses(host: &str) -> bool {
    let Some((before, _)) = host.rsplit_once('@') else { return false };
    before.rsplit_once(':').is_some_and(|(_, slots)| slots.trim().parse::<usize>().is_ok())
}

/// Returns the host of each of `ranks` ranks: the first host gets as many as it has slots, then the next. Returns
/// `None` if there are too few.
pub fn places(hosts: &[Host], ranks: usize) -> Option<Vec<&Host>> {
    let places: Vec<&Host> =
        hosts.iter().flat_map(|host| std::iter::repeat_n(host, host.slots)).take(ranks).collect();
    (places.len() == ranks).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_names_and_slots() {
        let text =
            "# the lab\nalpha\n\nbeta.example:2  # two\n10.0.0.7:3\n[fe80::1%eth0]:4\n[::1]\n";
        let hosts = Host::parse_all(text).unwrap();
        let pairs: Vec<(&str, usize)> =
            hosts.iter().map(|host| (host.name.as_str(), host.slots)).collect();
        let expected =
            [("alpha", 1), ("beta.example", 2), ("10.0.0.7", 3), ("fe80::1%eth0", 4), ("::1", 1)];
        assert_eq!(pairs, expected);
        let names =
            |ranks| places(&hosts, ranks).map(|all| all.iter().map(|h| h.name.clone()).collect());
        let four: Vec<String> =
            ["alpha", "beta.example", "beta.example", "10.0.0.7"].map(String::from).into();
        assert_eq!(names(4), Some(four));
        assert_eq!(names(12), None::<Vec<String>>, "there are 11 slots");
        assert!(hosts[4].is_here() && !hosts[2].is_here());
        let own = own_name().expect("the system has a name");
        assert!(Host::named(&own, 1).unwrap().is_here());
        assert!(!Host::named(&format!("{own}2"), 1).unwrap().is_here());
    }

    #[test]
    fn a_name_without_its_domain_denotes_the_same_host() {
        for (one, other, expected) in [
            ("n1", "n1", true),
            ("n1.rack.example", "n1", true),
            ("n1", "n1.rack", true),
            ("n1.rack.example", "n1.other.example", false),
            ("n1", "n10", false),
            ("n1.rack", "n2", false),
        ] {
            assert_eq!(is_same_name(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn lines_that_are_no_hosts_are_named() {
        for (text, words) in [
            ("", "names no host"),
            ("# nothing\n", "names no host"),
            ("good\nbad:0\n", "line 2: 'bad:0': '0'"),
            ("bad:many", "'many'"),
            ("-oProxyCommand=x", "is no host"),
            ("a;rm", "is no host"),
            ("[::1]2", "''"),
        ] {
            let why = Host::parse_all(text).unwrap_err();
            assert!(why.contains(words), "{text:?}: {why}");
        }
        let words = Host::parse_all("a slots=4 max_slots=8\nb\tslots=1\n").unwrap();
        assert_eq!(words, Host::parse_all("a:4\nb:1\n").unwrap());
        for (text, why) in [("a slots=0", "'0'"), ("a b", "'b' is not slots=NUMBER")] {
            assert!(Host::parse_all(text).unwrap_err().contains(why), "{text}");
        }
        assert!(Host::parse_list("a:2,,b").unwrap_err().contains("'' is no host"));
        let listed = Host::parse_list("a:2@10.0.0.1, 10.1.0.1, me@10.0.0.2,[::1]:1@::1").unwrap();
        let lines = "a:2@10.0.0.1,10.1.0.1\nme@10.0.0.2\n[::1]:1@::1\n";
        assert_eq!(listed, Host::parse_all(lines).unwrap());
        let addresses = |index: usize| listed[index].addresses.iter().map(IpAddr::to_string);
        assert!(addresses(0).eq(["10.0.0.1", "10.1.0.1"]) && addresses(1).eq([""; 0]));
        assert_eq!((listed[0].slots, listed[1].name.as_str()), (2, "me@10.0.0.2"));
        for bad in ["a:1@10.0.0.1,10.0.0.1", "a:1@10.0.0.1,", "a:1@0.0.0.0", "a:1@beta"] {
            let why = Host::parse_all(bad).unwrap_err();
            assert!(why.contains("line 1: 'a:1'") && why.contains("is no address"), "{why}");
        }
        let listed = Host::parse_list("a:2, b").unwrap();
        assert_eq!(listed, Host::parse_all("a:2\nb\n").unwrap());
    }
}
