//! The supported hints for files.

use crate::info::Info;

/// Enables the exchange of data in collective reads and writes: "true", "false", or any other value for the library's
/// choice.
const BUFFERING: &str = "collective_buffering";
/// Length of the buffer of each member that does it for the others, in bytes.
const BUFFER_BYTES: &str = "cb_buffer_size";
/// Number of members that do it.
const NODES: &str = "cb_nodes";
/// Permissions of a new file, as an octal number.
const PERMISSIONS: &str = "file_perm";

const DEFAULT_BUFFER_BYTES: i64 = 4 << 20;
const DEFAULT_PERMISSIONS: u32 = 0o666;

/// Returns the permissions of a new file, from which the system removes those in the user's mask.
pub(super) fn permissions(info: &Info) -> u32 {
    let given = info.get(PERMISSIONS).and_then(|words| u32::from_str_radix(words.trim(), 8).ok());
    given.filter(|&bits| bits <= 0o777).unwrap_or(DEFAULT_PERMISSIONS)
}

/// The hints for members that read or write together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    /// True if they exchange data; `None` without a hint.
    pub(super) wanted: Option<bool>,
    pub(super) buffer_bytes: i64,
    pub(super) nodes: usize,
}

fn number(info: &Info, key: &str) -> Option<i64> {
    info.get(key)?.trim().parse().ok().filter(|&number| number > 0)
}

impl Exchange {
    /// Returns the hints for `members` members.
    pub(super) fn new(info: &Info, members: usize) -> Self {
        let wanted = match info.get(BUFFERING).as_deref() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
        let buffer_bytes = number(info, BUFFER_BYTES).unwrap_or(DEFAULT_BUFFER_BYTES);
        // Offsets within a buffer are sent in 32 bits.
        let buffer_bytes = buffer_bytes.clamp(4096, 1 << 30);
        let nodes = number(info, NODES).map_or(members, |nodes| (nodes as usize).min(members));
        Exchange { wanted, buffer_bytes, nodes }
    }
}

/// Returns the hints in use: the given ones, and the supported ones with their values.
pub(super) fn in_use(given: &Info, members: usize) -> Info {
    let info = given.clone();
    let exchange = Exchange::new(given, members);
    info.set(BUFFER_BYTES, exchange.buffer_bytes.to_string());
    info.set(NODES, exchange.nodes.to_string());
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_that_mean_nothing_are_as_none() {
        let info = Info::new();
        assert_eq!(permissions(&info), 0o666);
        let plain = Exchange { wanted: None, buffer_bytes: 4 << 20, nodes: 3 };
        assert_eq!(Exchange::new(&info, 3), plain);
        for (key, value) in [(BUFFERING, "maybe"), (BUFFER_BYTES, "-1"), (NODES, "none")] {
            info.set(key, value);
        }
        info.set(PERMISSIONS, "9");
        assert_eq!((Exchange::new(&info, 3), permissions(&info)), (plain, 0o666));
        for (key, value) in [(BUFFERING, "false"), (BUFFER_BYTES, "8192"), (NODES, "9")] {
            info.set(key, value);
        }
        info.set(PERMISSIONS, "640");
        let said = Exchange { wanted: Some(false), buffer_bytes: 8192, nodes: 3 };
        assert_eq!((Exchange::new(&info, 3), permissions(&info)), (said, 0o640));
        assert_eq!(in_use(&info, 3).get(NODES), Some("3".into()));
    }
}
