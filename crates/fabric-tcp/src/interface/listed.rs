//! The list of a host's interfaces from the C library.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io::{Error, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns each address of each interface that is up, with the interface's name.
pub(super) fn interfaces_up() -> Result<Vec<(String, IpAddr)>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: the call writes the head of its list, or fails.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Err(Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut next = first;
    // SAFETY: the list ends with null, and is not freed before the loop has ended.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        // SAFETY: an address is null, or one of the kind that its family says.
        let address = unsafe { ip_address(entry.ifa_addr) };
        if let Some(address) = address
            && entry.ifa_flags & libc::IFF_UP as libc::c_uint != 0
        {
            // SAFETY: each entry has a name that ends with zero.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) };
            found.push((name.to_string_lossy().into_owned(), address));
        }
    }
    // SAFETY: the list came from `getifaddrs`, and nothing refers to it any more: names and addresses were copied.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// Returns the address, if it is one of IPv4 or IPv6.
///
/// # Safety
/// `address` is null, or points to an address of the kind that its family says.
unsafe fn ip_address(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: null is no reference; the caller guarantees the rest.
    let family = unsafe { address.as_ref() }?.sa_family;
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: the family says that it is this structure.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that it is this structure.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}
