//! The words of an action, as numbers.

use contract::TimeSpan;

use super::Mistake;
use super::datatypes::element_bytes;

/// SimGrid's words for any rank in a receive or no rank in a send, and for any tag.
const UNDEFINED_RANK: &str = "-333";
const ANY_TAG: &str = "-444";

/// Maximum count: with any datatype, its bytes fit a 64-bit number.
const COUNT_MAX: f64 = (1_u64 << 40) as f64;

/// Operations per second of the host for which traces are written.
const OPERATIONS_PER_S: f64 = 1e9;

/// The words after an action's name.
pub(super) struct Words<'a> {
    pub(super) given: &'a [&'a str],
    pub(super) line: usize,
    /// Number of ranks of the trace.
    pub(super) ranks: usize,
    /// Length of an element without a datatype.
    pub(super) default_bytes: usize,
}

impl Words<'_> {
    /// Returns a number that is not negative.
    pub(super) fn real(&self, index: usize, what: &str) -> Result<f64, Mistake> {
        let word = self.word(index, what)?;
        let number = word.parse::<f64>().ok().filter(|one| one.is_finite() && *one >= 0.0);
        number.ok_or_else(|| (self.line, format!("{what} is '{word}', which is no such number")))
    }

    /// Returns a count, which may be written as `1e6`.
    pub(super) fn count(&self, index: usize, what: &str) -> Result<usize, Mistake> {
        let count = self.real(index, what)?;
        if count > COUNT_MAX {
            return Err((self.line, format!("{what} is {count:e}, which is too long")));
        }
        Ok(count as usize)
    }

    /// Returns a length in bytes: a count times the length of its datatype.
    pub(super) fn bytes(&self, count_at: usize, type_at: usize) -> Result<usize, Mistake> {
        Ok(self.count(count_at, "a length")? * self.element_bytes(type_at)?)
    }

    /// Returns the time of a number of operations.
    pub(super) fn operations(&self, index: usize) -> Result<TimeSpan, Mistake> {
        Ok(TimeSpan::from_s(self.real(index, "operations")? / OPERATIONS_PER_S))
    }

    /// Returns counts for each of `ranks`, the first at `index`.
    pub(super) fn counts(&self, index: usize, ranks: usize) -> Result<Vec<usize>, Mistake> {
        (index..index + ranks).map(|at| self.count(at, "a count of a rank")).collect()
    }

    /// Returns a rank of the trace, or `None` for [`UNDEFINED_RANK`].
    pub(super) fn partner(&self, index: usize) -> Result<Option<usize>, Mistake> {
        let rank = self.rank(index)?;
        match rank.filter(|&rank| rank >= self.ranks) {
            Some(rank) => Err((self.line, format!("rank {rank} has no actions in this trace"))),
            None => Ok(rank),
        }
    }

    /// Returns a rank, or `None` for [`UNDEFINED_RANK`].
    pub(super) fn rank(&self, index: usize) -> Result<Option<usize>, Mistake> {
        let word = self.word(index, "a rank")?;
        if word == UNDEFINED_RANK {
            return Ok(None);
        }
        let rank = word.trim_start_matches('p').parse::<u32>();
        let rank = rank.map_err(|_| (self.line, format!("a rank is '{word}', which is none")))?;
        Ok(Some(rank as usize))
    }

    /// Returns a tag, or `None` for any tag.
    pub(super) fn tag(&self, index: usize) -> Result<Option<u32>, Mistake> {
        let word = self.word(index, "a tag")?;
        if word == ANY_TAG {
            return Ok(None);
        }
        let tag = word.parse::<u32>();
        Ok(Some(tag.map_err(|_| (self.line, format!("a tag is '{word}', which is none")))?))
    }

    /// Returns the length of an element of the datatype at `index`, or the default length without one.
    pub(super) fn element_bytes(&self, index: usize) -> Result<usize, Mistake> {
        match self.given.get(index) {
            Some(word) => element_bytes(word, self.line),
            None => Ok(self.default_bytes),
        }
    }

    fn word(&self, index: usize, what: &str) -> Result<&str, Mistake> {
        let word = self.given.get(index).copied();
        word.ok_or_else(|| (self.line, format!("{what} is missing")))
    }
}
