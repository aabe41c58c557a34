//! The algorithms of collectives by messages, by the length of a call.

use collectives::{Algorithm, Collective};

use crate::choice::{benchmark_name, by_messages};
use crate::output::table;
use crate::wording::size;

/// Longest length that is examined, in bytes.
const MOST_BYTES: usize = 1 << 30;

/// An algorithm, and the length in bytes from which a collective uses it.
#[derive(Debug, PartialEq, Eq)]
struct Range {
    from_bytes: usize,
    algorithm: Algorithm,
}

/// Returns the table of the algorithms of blocking calls between `ranks` ranks, of the collectives that `is_wanted`
/// accepts.
pub(super) fn table_of(ranks: usize, is_wanted: impl Fn(&str) -> bool) -> String {
    let wanted = Collective::ALL.into_iter().filter(|(_, name)| is_wanted(name));
    let rows: Vec<Vec<String>> = wanted
        .flat_map(|(collective, name)| {
            ranges(collective, ranks).into_iter().enumerate().map(move |(index, range)| {
                let name = if index == 0 { benchmark_name(name) } else { String::new() };
                vec![name, range.algorithm.name().into(), size(range.from_bytes as u64)]
            })
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["collective", "algorithm", "from"].map(String::from);
    format!(
        "Blocking collectives by messages\n\n{}\nLengths are of all data, or of a member's block. docs/collectives.md \
         gives the reasons.\n\n",
        table(&header, 2, rows)
    )
}

/// Returns the algorithms of a collective in order of their lengths.
fn ranges(collective: Collective, ranks: usize) -> Vec<Range> {
    let at = |bytes| by_messages(collective, ranks, bytes);
    let mut ranges = vec![Range { from_bytes: 0, algorithm: at(0) }];
    let powers = (0..=MOST_BYTES.ilog2()).map(|power| 1 << power);
    let mut below = 0;
    for above in powers {
        // Several changes between two powers of two are found one after the other.
        let mut current = at(below);
        while at(above) != current {
            let from_bytes = first_other(below, above, |bytes| at(bytes) == current);
            current = at(from_bytes);
            ranges.push(Range { from_bytes, algorithm: current });
            below = from_bytes;
        }
        below = above;
    }
    ranges
}

/// Returns the least number above `below` for which `is_same` is false, if it is true up to some number and false from
/// there up to `above`.
fn first_other(mut below: usize, mut above: usize, is_same: impl Fn(usize) -> bool) -> usize {
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if is_same(middle) { below = middle } else { above = middle }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths are those of the table of docs/collectives.md: 16 KiB in all, and 16 KiB in each of eight blocks.
    /// The shortest data with such blocks are 8 x 16383 + 1 bytes, because the length of a block is rounded up.
    #[test]
    fn algorithms_change_at_the_documented_lengths() {
        let range = |from_bytes, algorithm| Range { from_bytes, algorithm };
        let expected = [
            range(0, Algorithm::Binomial),
            range(16 << 10, Algorithm::ScatterBruck),
            range(8 * 16383 + 1, Algorithm::ScatterRing),
        ];
        assert_eq!(ranges(Collective::Broadcast, 8), expected);
        assert_eq!(ranges(Collective::Broadcast, 4), expected[..1]);
        let to_all = [
            range(0, Algorithm::Bruck),
            range(257, Algorithm::Linear),
            range((4 << 20) / 8 + 1, Algorithm::Pairwise),
        ];
        assert_eq!(ranges(Collective::AllToAll, 8), to_all);
    }

    #[test]
    fn only_wanted_collectives_are_in_the_table() {
        let text = table_of(4, |name| name == "all_to_all");
        assert!(text.contains("all-to-all") && !text.contains("broadcast"), "{text}");
        assert_eq!(table_of(4, |_| false), "");
    }
}
