//! Values of options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::str::FromStr;

use clap::ValueEnum;

use benchmark::EVERY_ALGORITHM;
use contract::collective::Algorithm;

/// How results are written to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Table,
    /// JSON, for programs
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// Numbers of ranks: in ascending order, each once, never zero and never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RankCounts(pub(crate) Vec<usize>);

/// A share of a whole, more than 0 and less than 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

/// A time in seconds, more than 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seconds(pub(crate) f64);

/// A variable of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: OsString,
    pub(crate) value: OsString,
}

impl Variable {
    /// Reads `NAME=VALUE`, or `NAME` for the variable of this process with that name.
    pub(crate) fn read(text: OsString) -> Result<Variable, String> {
        let bytes = text.as_bytes();
        let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
            Some(place) => (&bytes[..place], OsStr::from_bytes(&bytes[place + 1..]).to_os_string()),
            None => {
                let unset = || format!("{} is not set here, and no value is given", text.display());
                (bytes, std::env::var_os(&text).ok_or_else(unset)?)
            }
        };
        if name.is_empty() {
            return Err(format!("'{}' names no variable", text.display()));
        }
        Ok(Variable { name: OsStr::from_bytes(name).into(), value })
    }
}

/// Names of algorithms of collectives. One of them may be `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AlgorithmNames(pub(crate) Vec<String>);

/// A parameter and its requested values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Only {
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
}

impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, values) = text
            .split_once('=')
            .filter(|(name, values)| !name.trim().is_empty() && !values.trim().is_empty())
            .ok_or_else(|| format!("'{text}' names no parameter and value: write grain=1,8"))?;
        let values = values.split(',').map(|value| value.trim().to_string()).collect();
        Ok(Only { name: name.trim().into(), values })
    }
}

/// Maximum of numbers in a list. No run needs more.
const COUNTS_MAX: usize = 1000;

impl FromStr for RankCounts {
    type Err = String;

    /// Reads counts and ranges between commas. A range doubles, as ranges of sizes do, and ends at or below its end.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut counts = Vec::new();
        for piece in text.split(',') {
            match piece.split_once("..") {
                None => counts.push(rank_count(piece)?),
                Some((from, to)) => {
                    let (from, to) = (rank_count(from)?, rank_count(to)?);
                    if from > to {
                        return Err(format!("'{piece}' ends before it begins"));
                    }
                    let doubled = |count: &usize| count.checked_mul(2);
                    let series = std::iter::successors(Some(from), doubled);
                    counts.extend(series.take_while(|count| *count <= to));
                }
            }
        }
        counts.sort_unstable();
        counts.dedup();
        if counts.len() > COUNTS_MAX {
            return Err(format!("{} different numbers are too many", counts.len()));
        }
        Ok(RankCounts(counts))
    }
}

fn rank_count(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(0) => Err("a run needs at least 1 rank".into()),
        Ok(count) => Ok(count),
        Err(_) => Err(format!("'{text}' is not a number of ranks: write a whole number such as 2")),
    }
}

impl FromStr for AlgorithmNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let check = |name: &str| match name == EVERY_ALGORITHM || Algorithm::named(name).is_some() {
            true => Ok(name.to_string()),
            false => {
                let names: Vec<&str> = Algorithm::ALL.iter().map(|(_, name)| *name).collect();
                Err(format!(
                    "there is no algorithm '{name}'; there are {}, and all",
                    names.join(", ")
                ))
            }
        };
        text.split(',').map(|name| check(name.trim())).collect::<Result<_, _>>().map(AlgorithmNames)
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let not_a_share = || format!("'{text}' is not a share: write 5% or 0.05");
        let (number, scale) = match text.trim().strip_suffix('%') {
            Some(number) => (number, 0.01),
            None => (text.trim(), 1.0),
        };
        let share = number.trim().parse::<f64>().map_err(|_| not_a_share())? * scale;
        if share > 0.0 && share < 1.0 {
            return Ok(Share(share));
        }
        let percent = if scale == 1.0 && (1.0..100.0).contains(&share) {
            format!("; did you mean {text}%?")
        } else {
            String::new()
        };
        Err(format!("'{text}' is not between 0 and 1 (0% and 100%){percent}"))
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let scale = match unit {
            "" | "s" => 1.0,
            "ns" => 1e-9,
            "us" => 1e-6,
            "ms" => 1e-3,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(format!("'{text}' is not a time: write 2, 2s, 500ms, 20us or 1min")),
        };
        let seconds = number
            .trim()
            .parse::<f64>()
            .map_err(|_| format!("'{text}' is not a time: write 2, 2s, 500ms, 20us or 1min"))?
            * scale;
        // 64 bits of picoseconds are 213 days. No measurement needs more than a day.
        if seconds > 0.0 && seconds <= 86_400.0 {
            Ok(Seconds(seconds))
        } else {
            Err(format!("'{text}' is not a time above 0 and of a day at most"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<T: FromStr<Err = String> + std::fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err()
    }

    #[test]
    fn shares_are_written_in_percent_or_plain() {
        assert_eq!("5%".parse(), Ok(Share(0.05)));
        assert_eq!("0.95".parse(), Ok(Share(0.95)));
        for bad in ["0", "1", "-0.1", "100%", "0%", "nan", "inf", "much"] {
            assert!(refusal::<Share>(bad).contains(bad));
        }
        assert!(refusal::<Share>("5").contains("did you mean 5%?"));
    }

    #[test]
    fn times_have_units_and_are_positive() {
        assert_eq!("2".parse(), Ok(Seconds(2.0)));
        assert_eq!("500ms".parse(), Ok(Seconds(0.5)));
        assert_eq!("1.5 min".parse(), Ok(Seconds(90.0)));
        assert_eq!("20us".parse(), Ok(Seconds(20.0 * 1e-6)));
        for bad in ["0", "-1s", "2 fortnights", "s", "nan", "2d", "25h", "1e9"] {
            assert!(refusal::<Seconds>(bad).contains(bad), "{bad}");
        }
    }

    #[test]
    fn a_parameter_has_a_name_and_values() {
        let found: Only = "grain= 1,8".parse().unwrap();
        assert_eq!((found.name.as_str(), found.values), ("grain", vec!["1".into(), "8".into()]));
        for bad in ["grain", "grain=", "=8", ""] {
            assert!(refusal::<Only>(bad).contains("write grain=1,8"), "{bad}");
        }
    }

    #[test]
    fn no_run_has_zero_ranks() {
        assert_eq!("8,2..6,3,2".parse(), Ok(RankCounts(vec![2, 3, 4, 8])));
        assert!(refusal::<RankCounts>("0").contains("at least 1 rank"));
        assert!(refusal::<RankCounts>("0..4").contains("at least 1 rank"));
        assert!(refusal::<RankCounts>("two").contains("'two'"));
        assert!(refusal::<RankCounts>("2,,4").contains("''"));
        assert!(refusal::<RankCounts>("8..4").contains("'8..4' ends before"));
    }
}
