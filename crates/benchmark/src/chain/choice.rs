//! The user's choices about a chain, in addition to its file.

use record::Parameters;
use serde::{Deserialize, Serialize};

use super::definition::Chain;

/// The chain of the benchmark `pipeline`, and the way in which it runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The chain; `None` for the built-in one.
    pub chain: Option<Chain>,
    /// Numbers of rows in a message, each of which is measured. The chain's own if empty.
    pub rows_per_message: Vec<usize>,
    /// Timing of the stages that is measured.
    pub pacing: Pacing,
    /// Number of doublings of the chain: of its rows, and of the ranks of each part. Each is measured.
    #[serde(default)]
    pub doublings: u32,
    /// True if each stage is measured alone, too.
    #[serde(default)]
    pub stages_alone: bool,
    /// True if a copy of the original chain, with the doubled matrices, is measured beside each doubled chain. As many
    /// copies that take turns use the same ranks.
    #[serde(default)]
    pub copies: bool,
}

/// A chain that is measured, and the parameters that distinguish it from the others of its file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChainVariant {
    pub(crate) chain: Chain,
    /// The ranks of its first stage, and its part of the file; empty if there is only one chain.
    pub(crate) parameters: Parameters,
    /// Number of copies that would take turns.
    pub(crate) copies: usize,
}

/// Parameters that distinguish variants.
const NODES: &str = "nodes";
const PART: &str = "part";
/// Value of the part for the whole chain.
const WHOLE: &str = "chain";

/// The time at which a stage of a chain works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// As soon as its input is complete.
    #[default]
    SelfTimed,
    /// At prescribed instants of the clock that all ranks share.
    Synchronised,
    /// Both, one after the other.
    Both,
}

impl Pipeline {
    /// Returns the requested chain.
    pub fn chain(&self) -> Chain {
        self.chain.clone().unwrap_or_else(Chain::example)
    }

    /// Returns all chains that are measured.
    pub(crate) fn variants(&self) -> Vec<ChainVariant> {
        let chain = self.chain();
        if self.doublings == 0 && !self.stages_alone && !self.copies {
            return vec![ChainVariant { chain, parameters: Parameters::new(), copies: 1 }];
        }
        let mut all = Vec::new();
        let nodes = |chain: &Chain| chain.stages.first().map_or(0, |stage| stage.on.len()) as u64;
        for doubling in 0..=self.doublings {
            let times = 1 << doubling;
            let whole = chain.spread(times);
            let nodes = nodes(&whole);
            let mut add = |chain: Chain, part: String, copies: usize| {
                let parameters =
                    [(NODES.into(), nodes.into()), (PART.into(), part.as_str().into())];
                all.push(ChainVariant { chain, parameters: parameters.into(), copies });
            };
            if self.stages_alone {
                for (number, group) in whole.groups().into_iter().enumerate() {
                    let names = whole.stages[group.clone()].iter().map(|stage| stage.name.as_str());
                    let names = names.collect::<Vec<_>>().join(" + ");
                    add(whole.part(group), format!("{} {names}", number + 1), 1);
                }
            }
            if self.copies && doubling > 0 {
                add(chain.lengthened(times), format!("one of {times} copies"), times);
            }
            add(whole, WHOLE.into(), 1);
        }
        all
    }

    /// Returns why one of the chains is impossible, if one is.
    pub fn mistake(&self) -> Option<String> {
        let mistake = |variant: ChainVariant| {
            let mistake = variant.chain.mistake()?;
            let (rows, columns) = (variant.chain.rows, variant.chain.columns);
            Some(format!("with matrices of {rows} x {columns}, {mistake}"))
        };
        self.variants().into_iter().find_map(mistake)
    }

    /// Returns the numbers of ranks of all chains.
    pub fn ranks(&self) -> Vec<usize> {
        let mut ranks: Vec<usize> = Vec::new();
        for count in self.variants().iter().map(|variant| variant.chain.ranks()) {
            if !ranks.contains(&count) {
                ranks.push(count);
            }
        }
        ranks
    }
}
