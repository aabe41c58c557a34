//! Spatial locality: the probabilities of destinations by their distance.

use std::fmt;
use std::str::FromStr;

use contract::{Error, Result};

/// A rule of spatial locality. It is written `uniform`, `sphere:L`, `sphere:L:PHI` or `decreasing:D`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// All other nodes with the same probability.
    Uniform,
    /// With the probability `inside` a node at no more than `radius` hops, otherwise another one. The nodes of each
    /// group have the same probability.
    Sphere {
        /// Maximum number of hops inside.
        radius: u32,
        /// The probability phi of a node inside.
        inside: f64,
    },
    /// A distance of l hops with a probability in proportion to `decay`^l. All nodes at l hops have the same
    /// probability.
    Decreasing {
        /// The factor d for each hop, between 0 and 1.
        decay: f64,
    },
}

/// Returns the number of hops between two nodes of a hypercube.
pub(super) fn hops(a: usize, b: usize) -> u32 {
    (a ^ b).count_ones()
}

impl Rule {
    /// Returns the probability of each of `nodes` nodes as the destination of node `me`; 0 for itself.
    ///
    /// # Errors
    /// [`Error::Program`] if the rule needs nodes that do not exist.
    pub fn weights(self, me: usize, nodes: usize) -> Result<Vec<f64>> {
        let distance = |to: usize| hops(me, to);
        let others = |at: &dyn Fn(u32) -> bool| {
            (0..nodes).filter(|&to| to != me && at(distance(to))).count() as f64
        };
        let farthest = (0..nodes).map(distance).max().unwrap_or(0);
        // If nodes are missing from the cube, there may be none at some distance.
        let levels = (1..=farthest).filter(|&l| others(&|d| d == l) > 0.0);
        let share = |to: usize| match self {
            _ if to == me => 0.0,
            Rule::Uniform => 1.0 / others(&|_| true),
            Rule::Sphere { radius, inside } if distance(to) <= radius => {
                inside / others(&|d| d <= radius)
            }
            Rule::Sphere { radius, inside } => (1.0 - inside) / others(&|d| d > radius),
            Rule::Decreasing { decay } => {
                let sum: f64 = levels.clone().map(|l| decay.powi(l as i32)).sum();
                decay.powi(distance(to) as i32) / sum / others(&|d| d == distance(to))
            }
        };
        let weights: Vec<f64> = (0..nodes).map(share).collect();
        let sum: f64 = weights.iter().sum();
        match (sum - 1.0).abs() < 1e-9 {
            true => Ok(weights),
            false => Err(Error::Program(format!(
                "the rule {self} sends {:.3} of all messages to nodes that {nodes} nodes do not have; take another radius",
                1.0 - sum
            ))),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Uniform => write!(f, "uniform"),
            Rule::Sphere { radius, inside } if *inside == 1.0 => write!(f, "sphere:{radius}"),
            Rule::Sphere { radius, inside } => write!(f, "sphere:{radius}:{inside}"),
            Rule::Decreasing { decay } => write!(f, "decreasing:{decay}"),
        }
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let share =
            |text: &str| text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
        let radius = |text: &str| text.parse::<u32>().ok().filter(|&radius| radius > 0);
        let rule = match parts[..] {
            ["uniform"] => Some(Rule::Uniform),
            ["sphere", hops] => radius(hops).map(|radius| Rule::Sphere { radius, inside: 1.0 }),
            ["sphere", hops, phi] => {
                radius(hops).zip(share(phi)).map(|(radius, inside)| Rule::Sphere { radius, inside })
            }
            ["decreasing", d] => share(d)
                .filter(|&decay| decay > 0.0 && decay < 1.0)
                .map(|decay| Rule::Decreasing { decay }),
            _ => None,
        };
        rule.ok_or_else(|| {
            format!(
                "'{text}' is no rule; there are uniform, sphere:L or sphere:L:PHI (L hops from 1, PHI a probability), and \
                 decreasing:D (D between 0 and 1)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_hops(rule: &str, nodes: usize) -> f64 {
        let weights = rule.parse::<Rule>().unwrap().weights(0, nodes).unwrap();
        weights.iter().enumerate().map(|(to, weight)| f64::from(hops(0, to)) * weight).sum()
    }

    /// A node of a cube of 16 has 4, 6, 4 and 1 others at 1 to 4 hops. On average all are 32/15 away, the nearest 4, 10
    /// and 14 are 1, (4 + 12) / 10 and (4 + 12 + 12) / 14.
    #[test]
    fn means_of_hops_are_those_of_a_cube_of_16() {
        let expected = [
            ("uniform", 32.0 / 15.0),
            ("sphere:1", 1.0),
            ("sphere:2", 1.6),
            ("sphere:3", 2.0),
            ("sphere:4", 32.0 / 15.0),
            // 0.9 x 1.6 + 0.1 x (12 + 4) / 5.
            ("sphere:2:0.9", 1.76),
        ];
        for (rule, mean) in expected {
            assert!((mean_hops(rule, 16) - mean).abs() < 1e-12, "{rule}: {}", mean_hops(rule, 16));
        }
    }

    /// The mean is (d + 2 d^2 + 3 d^3 + 4 d^4) / (d + d^2 + d^3 + d^4).
    #[test]
    fn a_decreasing_rule_is_anti_local_from_three_quarters_on() {
        for (decay, mean) in [(0.1, 1.111), (0.3, 1.396), (0.5, 1.733), (0.7, 2.069), (0.9, 2.369)]
        {
            let found = mean_hops(&format!("decreasing:{decay}"), 16);
            assert!((found - mean).abs() < 5e-4, "{decay}: {found}");
        }
        let uniform = mean_hops("uniform", 16);
        assert!(mean_hops("decreasing:0.739", 16) < uniform);
        assert!(mean_hops("decreasing:0.741", 16) > uniform);
    }

    #[test]
    fn every_node_of_every_cube_sends_all_its_messages_somewhere_else() {
        for nodes in 2..=20 {
            for rule in ["uniform", "sphere:1", "sphere:9", "decreasing:0.5"] {
                for me in 0..nodes {
                    let weights = rule.parse::<Rule>().unwrap().weights(me, nodes);
                    // In a cube that is not full some node may have no neighbour.
                    let Ok(weights) = weights else {
                        assert_eq!(rule, "sphere:1", "{nodes}");
                        continue;
                    };
                    assert_eq!(weights[me], 0.0);
                    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                }
            }
        }
        let outside = "sphere:4:0.9".parse::<Rule>().unwrap().weights(0, 16).unwrap_err();
        assert!(
            outside
                .to_string()
                .contains("0.100 of all messages to nodes that 16 nodes do not have")
        );
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["uniform", "sphere:3", "sphere:2:0.75", "decreasing:0.5"] {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        for wrong in
            ["", "sphere", "sphere:0", "sphere:1:2", "decreasing:1", "decreasing", "uniform:1"]
        {
            let refusal = wrong.parse::<Rule>().unwrap_err();
            assert!(refusal.starts_with(&format!("'{wrong}' is no rule")), "{refusal}");
        }
    }
}
