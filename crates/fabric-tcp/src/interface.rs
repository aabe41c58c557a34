//! The interfaces of a host, by which the addresses of its ranks can be named without knowing them.

mod listed;

use std::cell::LazyCell;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A network of a host, as users name it for all hosts at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The interface of this name, such as `eth1`.
    Named(String),
    /// The interface with an address in this network, such as `10.1.0.0/16`.
    Network {
        /// Any address in it.
        address: IpAddr,
        /// Number of leading bits that its addresses share.
        prefix_bits: u8,
    },
}

impl FromStr for Interface {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if let Some((address, bits)) = word.split_once('/') {
            let wrong = || format!("'{word}' is no network: write one as 10.1.0.0/16");
            let address: IpAddr = address.parse().map_err(|_| wrong())?;
            let prefix_bits: u8 = bits.parse().map_err(|_| wrong())?;
            if u32::from(prefix_bits) > bits_of(address).1 {
                return Err(wrong());
            }
            return Ok(Interface::Network { address, prefix_bits });
        }
        if word.parse::<IpAddr>().is_ok() {
            return Err(format!(
                "'{word}' is the address of one host: write it in the list of hosts, as NAME:SLOTS@{word}, or name its \
                 network, as {word}/24"
            ));
        }
        // The longest name that Linux gives an interface.
        const NAME_MAX_BYTES: usize = 15;
        let is_name = !word.is_empty()
            && word.len() <= NAME_MAX_BYTES
            && word.chars().all(|c| c.is_ascii_graphic());
        match is_name {
            true => Ok(Interface::Named(word.into())),
            false => Err(format!("'{word}' is no interface: name one as `ip address` lists it")),
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interface::Named(name) => to.write_str(name),
            Interface::Network { address, prefix_bits } => write!(to, "{address}/{prefix_bits}"),
        }
    }
}

impl Interface {
    /// Returns the address on it, of a host with these interfaces and addresses. IPv4 goes first, because a host often
    /// has several IPv6 addresses of which not all reach the other hosts.
    fn address(&self, found: &[(String, IpAddr)]) -> Result<IpAddr, String> {
        let of_interface = |name: &str, address: IpAddr| match self {
            Interface::Named(wanted) => name == wanted,
            Interface::Network { address: network, prefix_bits } => {
                shares_prefix(*network, address, *prefix_bits)
            }
        };
        let mut here = found.iter().filter(|(name, address)| of_interface(name, *address));
        let first = here.clone().find(|(_, address)| address.is_ipv4()).or_else(|| here.next());
        first.map(|(_, address)| *address).ok_or_else(|| {
            let listed: Vec<String> =
                found.iter().map(|(name, address)| format!("{name} {address}")).collect();
            let what = match self {
                Interface::Named(name) => format!("no interface '{name}' with an address"),
                Interface::Network { .. } => format!("no address in {self}"),
            };
            format!("this host has {what}, only {}", listed.join(", "))
        })
    }
}

/// Returns the addresses of this host that `words` name: addresses and interfaces with spaces between. Returns none for
/// no words.
pub(crate) fn addresses_here(words: &str) -> Result<Vec<IpAddr>, String> {
    // Listed once, and only if a word is no address.
    let here = LazyCell::new(interfaces_here);
    let mut addresses: Vec<IpAddr> = Vec::new();
    for word in words.split_whitespace() {
        let address = match word.parse() {
            Ok(address) => address,
            Err(_) => {
                let interface: Interface = word.parse()?;
                interface.address(here.as_ref().map_err(String::clone)?)?
            }
        };
        if addresses.contains(&address) {
            return Err(format!("'{word}' has the address {address} of another in the list"));
        }
        addresses.push(address);
    }
    Ok(addresses)
}

/// Returns the interfaces of this host that are up, each with each of its addresses. An IPv6 address that is valid on
/// one link only is left out: it cannot be given to another host.
fn interfaces_here() -> Result<Vec<(String, IpAddr)>, String> {
    let mut found = listed::interfaces_up()
        .map_err(|error| format!("the interfaces of this host cannot be listed: {error}"))?;
    found.retain(
        |(_, address)| !matches!(address, IpAddr::V6(address) if address.is_unicast_link_local()),
    );
    Ok(found)
}

/// Returns whether two addresses of one kind share so many leading bits.
fn shares_prefix(one: IpAddr, other: IpAddr, prefix_bits: u8) -> bool {
    let ((one, bits), (other, other_bits)) = (bits_of(one), bits_of(other));
    let behind = bits - u32::from(prefix_bits);
    // A prefix of no bits has all addresses of its kind; 128 bits cannot be shifted by 128.
    let shifted = |address: u128| address.checked_shr(behind).unwrap_or(0);
    bits == other_bits && shifted(one) == shifted(other)
}

/// Returns the bits of an address, and their number.
fn bits_of(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u32::from(address).into(), u32::BITS),
        IpAddr::V6(address) => (address.into(), u128::BITS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Vec<(String, IpAddr)> {
        [("lo", "127.0.0.1"), ("eth0", "2001:db8::7"), ("eth0", "10.0.0.7"), ("ib0", "10.1.3.7")]
            .map(|(name, address)| (name.into(), address.parse().unwrap()))
            .into()
    }

    fn address(word: &str) -> Result<String, String> {
        word.parse::<Interface>()?.address(&host()).map(|address| address.to_string())
    }

    #[test]
    fn an_interface_is_found_by_its_name_and_by_its_network() {
        assert_eq!(address("eth0").unwrap(), "10.0.0.7");
        assert_eq!(address("ib0").unwrap(), "10.1.3.7");
        assert_eq!(address("10.1.0.0/16").unwrap(), "10.1.3.7");
        assert_eq!(address("10.0.0.0/8").unwrap(), "10.0.0.7");
        assert_eq!(address("2001:db8::/32").unwrap(), "2001:db8::7");
        assert_eq!(address("0.0.0.0/0").unwrap(), "127.0.0.1");
        assert_eq!(address("::/0").unwrap(), "2001:db8::7");
    }

    #[test]
    fn what_the_host_lacks_is_said_with_what_it_has() {
        let why = address("eth1").unwrap_err();
        assert!(why.contains("no interface 'eth1'") && why.contains("ib0 10.1.3.7"), "{why}");
        // 10.1.3.7 and 10.1.2.0 differ in the 24th bit.
        assert!(address("10.1.2.0/24").unwrap_err().contains("no address in 10.1.2.0/24"));
        assert_eq!(address("10.1.2.0/23").unwrap(), "10.1.3.7");
    }

    #[test]
    fn what_is_neither_is_refused() {
        for word in ["", "10.0.0.0/33", "10.0.0.0/x", "eth0/8", "with space", "a-name-of-16-byte"] {
            assert!(word.parse::<Interface>().is_err(), "{word}");
        }
        assert!("10.0.0.7".parse::<Interface>().unwrap_err().contains("NAME:SLOTS@10.0.0.7"));
        assert!("::/128".parse::<Interface>().is_ok() && "::/129".parse::<Interface>().is_err());
    }

    #[test]
    fn addresses_and_interfaces_are_found_on_this_host_together() {
        assert_eq!(addresses_here("").unwrap(), [] as [IpAddr; 0]);
        let here = addresses_here("lo 10.9.8.7").unwrap();
        assert_eq!(
            here.iter().map(IpAddr::to_string).collect::<Vec<_>>(),
            ["127.0.0.1", "10.9.8.7"]
        );
        assert!(addresses_here("lo 127.0.0.1").unwrap_err().contains("127.0.0.1"));
    }
}
