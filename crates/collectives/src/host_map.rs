//! Members of a collective by host.

use std::ops::Range;
use std::rc::Rc;

/// Host of each member. Hosts are numbered in the order of their first member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostMap {
    numbers: Rc<[u32]>,
    hosts: usize,
}

impl HostMap {
    /// Returns the map of members on the given hosts, which may have any numbers.
    pub fn new(hosts: impl IntoIterator<Item = usize>) -> Self {
        let mut distinct = Vec::new();
        let number = |host: usize| {
            let place = distinct.iter().position(|&one| one == host).unwrap_or(distinct.len());
            if place == distinct.len() {
                distinct.push(host);
            }
            place as u32
        };
        let numbers = hosts.into_iter().map(number).collect();
        HostMap { numbers, hosts: distinct.len() }
    }

    /// Returns groups of consecutive members, as many groups as each has members, for use if no host is known.
    pub(crate) fn squares(members: usize) -> Self {
        let width = (1..=members).find(|width| width * width >= members).unwrap_or(1);
        HostMap::new((0..members).map(|member| member / width))
    }

    /// Returns whether two levels are useful: there are several hosts, and one has several members.
    pub fn has_levels(&self) -> bool {
        (2..self.numbers.len()).contains(&self.hosts)
    }

    /// Returns whether the members of each host are consecutive.
    pub fn is_in_order(&self) -> bool {
        self.numbers.is_sorted()
    }

    /// Returns the number of hosts.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// Returns the host of a member.
    pub fn number(&self, member: usize) -> usize {
        self.numbers[member] as usize
    }

    /// Returns the members of a host.
    pub fn members(&self, host: usize) -> impl Iterator<Item = usize> {
        (0..self.numbers.len()).filter(move |&member| self.number(member) == host)
    }

    /// Returns the members of a host if those of each host are [consecutive](HostMap::is_in_order).
    pub fn consecutive_members(&self, host: usize) -> Range<usize> {
        let before = |host| self.numbers.partition_point(|&number| (number as usize) < host);
        before(host)..before(host + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_numbered_as_members_meet_them() {
        let map = HostMap::new([7, 2, 7, 9, 2]);
        assert_eq!((0..5).map(|member| map.number(member)).collect::<Vec<_>>(), [0, 1, 0, 2, 1]);
        assert_eq!(map.members(1).collect::<Vec<_>>(), [1, 4]);
        assert!(map.has_levels() && !map.is_in_order());
        let in_order = HostMap::new([4, 4, 1]);
        assert!(in_order.is_in_order());
        assert_eq!([0, 1].map(|host| in_order.consecutive_members(host)), [0..2, 2..3]);
        assert!(!HostMap::new([4, 1, 0]).has_levels() && !HostMap::new([4, 4]).has_levels());
    }
}
