//! Message sizes in the user's notation.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Message sizes in bytes, in ascending order, none twice, never empty.
///
/// Parses a list of sizes and ranges, such as `0..1MiB` or `8,64KiB,1MB`. A range doubles from its beginning (0, then
/// 1) and stops at or below its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct Sizes(Vec<u64>);

/// Error in sizes, with the wrong piece.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// Empty text between two commas, or no text at all.
    #[error("an empty size; write sizes as `8,64KiB` or `0..1MiB`")]
    Empty,
    /// A piece that does not begin with a whole number.
    #[error("`{piece}` is no size: it must be a whole number with a unit, such as 64KiB")]
    NoNumber {
        /// The piece.
        piece: String,
    },
    /// An unknown unit, or one with two meanings.
    #[error(
        "`{piece}`: there is no unit `{unit}`; use B, KiB, MiB, GiB (powers of 1024) or kB, MB, GB (powers of 1000)"
    )]
    NoUnit {
        /// The piece.
        piece: String,
        /// Its unit.
        unit: String,
    },
    /// More bytes than 64 bits can count.
    #[error("`{piece}` is more than any machine can hold")]
    TooLarge {
        /// The piece.
        piece: String,
    },
    /// A range with an end below its beginning.
    #[error("`{piece}` ends before it begins")]
    Backwards {
        /// The piece.
        piece: String,
    },
}

impl Sizes {
    /// Creates sizes from these, sorted.
    ///
    /// # Errors
    /// [`SizeError::Empty`] if there are none.
    pub fn new(mut sizes: Vec<u64>) -> Result<Self, SizeError> {
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.is_empty() { Err(SizeError::Empty) } else { Ok(Sizes(sizes)) }
    }

    /// Returns the sizes in bytes, ascending.
    pub fn bytes(&self) -> &[u64] {
        &self.0
    }

    /// Returns the largest size in bytes.
    pub fn largest(&self) -> u64 {
        *self.0.last().expect("sizes are never empty")
    }
}

impl FromStr for Sizes {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let mut sizes = Vec::new();
        for piece in text.split(',').map(str::trim) {
            match piece.split_once("..") {
                Some((from, to)) => {
                    doubling(piece, parse_size(from)?, parse_size(to)?, &mut sizes)?
                }
                None => sizes.push(parse_size(piece)?),
            }
        }
        Sizes::new(sizes)
    }
}

fn doubling(piece: &str, from: u64, to: u64, sizes: &mut Vec<u64>) -> Result<(), SizeError> {
    if from > to {
        return Err(SizeError::Backwards { piece: piece.into() });
    }
    let next = |&size: &u64| if size == 0 { Some(1) } else { size.checked_mul(2) };
    sizes.extend(std::iter::successors(Some(from), next).take_while(|&size| size <= to));
    Ok(())
}

/// Parses a number of bytes, such as `64KiB`, `1MB` or `8`.
///
/// # Errors
/// [`SizeError`] with the wrong piece.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let piece = text.trim();
    if piece.is_empty() {
        return Err(SizeError::Empty);
    }
    let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = piece.split_at(digits);
    if number.is_empty() || unit.starts_with('.') {
        return Err(SizeError::NoNumber { piece: piece.into() });
    }
    let too_large = || SizeError::TooLarge { piece: piece.into() };
    let number: u64 = number.parse().map_err(|_| too_large())?;
    let unit_bytes = match unit.trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        unit => return Err(SizeError::NoUnit { piece: piece.into(), unit: unit.into() }),
    };
    number.checked_mul(unit_bytes).ok_or_else(too_large)
}

impl TryFrom<Vec<u64>> for Sizes {
    type Error = SizeError;

    fn try_from(sizes: Vec<u64>) -> Result<Self, SizeError> {
        Sizes::new(sizes)
    }
}

impl From<Sizes> for Vec<u64> {
    fn from(sizes: Sizes) -> Self {
        sizes.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<u64> {
        text.parse::<Sizes>().unwrap().into()
    }

    fn message(text: &str) -> String {
        text.parse::<Sizes>().unwrap_err().to_string()
    }

    #[test]
    fn a_range_doubles_from_its_beginning() {
        assert_eq!(parsed("0..8"), [0, 1, 2, 4, 8]);
        assert_eq!(parsed("3..20B"), [3, 6, 12]);
        assert_eq!(parsed("1KiB..1KiB"), [1024]);
        assert_eq!(parsed(&format!("{}..{}", 1u64 << 63, u64::MAX)), [1 << 63]);
    }

    #[test]
    fn lists_and_ranges_mix_and_are_sorted() {
        assert_eq!(parsed("1MB, 64KiB,8 , 2..4,8"), [2, 4, 8, 65536, 1_000_000]);
        assert_eq!(parsed("1GiB,1GB,1MiB,1kB"), [1000, 1 << 20, 1_000_000_000, 1 << 30]);
    }

    #[test]
    fn a_wrong_piece_is_named() {
        assert!(message("8,64K").contains("`64K`: there is no unit `K`"));
        assert!(message("8,x").starts_with("`x` is no size"));
        assert!(message("-1").starts_with("`-1` is no size"));
        assert!(message("1.5MiB").starts_with("`1.5MiB` is no size"));
        assert!(message("8,,9").starts_with("an empty size"));
        assert!(message("").starts_with("an empty size"));
        assert!(message("0..").starts_with("an empty size"));
        assert!(message("8..4").starts_with("`8..4` ends before"));
        assert!(message("99999999999999999999").contains("more than any machine"));
        assert!(message("99999999999GiB").contains("more than any machine"));
    }

    #[test]
    fn they_travel_as_a_list() {
        let sizes: Sizes = "0..4".parse().unwrap();
        let json = serde_json::to_string(&sizes).unwrap();
        assert_eq!(json, "[0,1,2,4]");
        assert_eq!(serde_json::from_str::<Sizes>(&json).unwrap(), sizes);
        assert!(serde_json::from_str::<Sizes>("[]").is_err());
    }
}
