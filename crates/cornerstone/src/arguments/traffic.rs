//! The options of `traffic`: the model of a program's locality.

use std::str::FromStr;

use benchmark::TrafficSettings;
use clap::Args;

use super::Seconds;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Synthetic communication (traffic)")]
pub(crate) struct TrafficArguments {
    /// Who gets a message: any of uniform, sphere:L (those at up to L hops), sphere:L:PHI (those with the probability
    /// PHI, else others) and decreasing:D (in proportion to D^hops) [default: those of the paper's figures 7 and 8]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) rule: Vec<TrafficRule>,

    /// The probabilities that a message goes where the one before went: 0.9, or 0.5+0.2 to go where the last went and
    /// where the last but one did; several to compare, such as 0,0.3,0.9 [default: those of the paper's figures]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) hits: Vec<Hits>,

    /// How many messages all ranks send together in each run [default: 3000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) messages: Option<u64>,

    /// The mean time between the moments at which a rank makes two messages [default: as soon as it can]
    #[arg(long, value_name = "TIME")]
    pub(crate) gap: Option<Seconds>,

    /// Forget the last destinations after so many messages of a rank, as when the node goes over to another program
    /// [default: never]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) flush: Option<u64>,
}

/// A rule of spatial locality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrafficRule(String);

/// Probabilities of hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hits(String);

impl FromStr for TrafficRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        benchmark::check_traffic_rule(text).map(|()| TrafficRule(text.into()))
    }
}

impl FromStr for Hits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        benchmark::check_traffic_hits(text).map(|()| Hits(text.into()))
    }
}

impl TrafficArguments {
    /// Returns these arguments, completed with those of `earlier`.
    pub(crate) fn or(self, earlier: TrafficArguments) -> TrafficArguments {
        TrafficArguments {
            rule: if self.rule.is_empty() { earlier.rule } else { self.rule },
            hits: if self.hits.is_empty() { earlier.hits } else { self.hits },
            messages: self.messages.or(earlier.messages),
            gap: self.gap.or(earlier.gap),
            flush: self.flush.or(earlier.flush),
        }
    }

    /// Returns the settings of these arguments.
    pub(crate) fn settings(&self) -> TrafficSettings {
        let defaults = TrafficSettings::default();
        TrafficSettings {
            rules: self.rule.iter().map(|TrafficRule(text)| text.clone()).collect(),
            hits: self.hits.iter().map(|Hits(text)| text.clone()).collect(),
            messages: self.messages.unwrap_or(defaults.messages),
            // A gap below half a microsecond becomes 0, which means as soon as possible.
            gap_us: self.gap.map_or(defaults.gap_us, |Seconds(s)| (s * 1e6).round() as u64),
            flush: self.flush.unwrap_or(defaults.flush),
        }
    }
}
