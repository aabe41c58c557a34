//! Bindings of other languages. In a Fortran program all calls come from the library of the bindings, and the line of
//! the program is that of its caller.

use std::ops::Range;

/// Beginnings of the file names of such libraries.
const BINDINGS: [&str; 3] = ["libmpif", "libmpi_mpifh", "libmpi_usempi"];

/// The code of all libraries of bindings in this process.
pub(crate) struct Bindings {
    code: Vec<Range<u64>>,
}

impl Bindings {
    /// Finds those of this process, if there are any.
    pub(crate) fn find() -> Option<Self> {
        let code = code_of(&std::fs::read_to_string("/proc/self/maps").ok()?);
        (!code.is_empty()).then_some(Bindings { code })
    }

    fn contains(&self, address: u64) -> bool {
        // A call may be the last instruction of its function.
        self.code.iter().any(|range| range.contains(&(address - 1)))
    }

    /// Returns the return address of the program's own call, for a call that returns to `address`: that, or the return
    /// address of the caller of the bindings.
    pub(crate) fn caller(&self, address: u64) -> u64 {
        if !self.contains(address) {
            return address;
        }
        let (mut is_inside, mut found) = (false, None);
        call_stack::walk(|next| {
            let next = next as u64;
            is_inside |= next == address;
            if is_inside && !self.contains(next) {
                found = Some(next);
            }
            found.is_none()
        });
        found.unwrap_or(address)
    }
}

/// Returns the addresses of code of such libraries, from the list of a process's mappings.
fn code_of(maps: &str) -> Vec<Range<u64>> {
    let range = |line: &str| {
        let (place, rest) = line.split_once(' ')?;
        let name = rest.rsplit('/').next()?;
        let is_code = rest.as_bytes().get(2) == Some(&b'x');
        if !is_code || !BINDINGS.iter().any(|start| name.starts_with(start)) {
            return None;
        }
        let (start, end) = place.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(number(start)?..number(end)?)
    };
    maps.lines().filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_bindings_is_found_by_the_name_of_their_library() {
        let maps = "1000-2000 r--p 00000000 08:01 77   /usr/lib/libmpif.so.1\n\
                    2000-3000 r-xp 00001000 08:01 77   /usr/lib/libmpif.so.1\n\
                    5000-6000 r-xp 00001000 08:01 78   /usr/lib/libmpif_own/libother.so\n\
                    7000-8000 r-xp 00000000 00:00 0\n\
                    f000-ff00 r-xp 00001000 08:01 79   /lib/libmpi_mpifh.so.40\n";
        assert_eq!(code_of(maps), [0x2000..0x3000, 0xf000..0xff00]);
        let bindings = Bindings { code: code_of(maps) };
        assert!(bindings.contains(0x3000) && !bindings.contains(0x2000));
        // An address of the program is returned unchanged.
        assert_eq!(bindings.caller(0x5500), 0x5500);
        assert!(Bindings::find().is_none());
    }
}
