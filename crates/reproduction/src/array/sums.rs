//! The sums of 32 values of section 6, as programs.

use std::rc::Rc;

use contract::{Error, Result as RunResult};
use fabric_sim::Machine;
use fabric_sim::array::{ArrayNode, ArrayOptions, Medium, Wiring, run_array};
use serde::Deserialize;

use super::tree::rounds;
use super::{in_words, us};

/// A method of adding 32 values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sum {
    /// One processor adds them one after the other.
    OneProcessor,
    /// 16 in each of two.
    TwoProcessors,
    /// Two in each of sixteen.
    SixteenProcessors,
    /// One in each of 32 in a ring, which send only to the right.
    NearestNeighbour,
    /// One in each of 32, with the perfect shuffle beside the eight neighbours.
    PerfectShuffle,
}

const VALUES: usize = 32;
/// 1 + 2 + ... + 32.
const EXPECTED: f32 = 528.0;

impl Sum {
    fn processors(self) -> usize {
        match self {
            Sum::OneProcessor => 1,
            Sum::TwoProcessors => 2,
            Sum::SixteenProcessors => 16,
            Sum::NearestNeighbour | Sum::PerfectShuffle => VALUES,
        }
    }

    /// Returns the wiring of the processors.
    fn wiring(self, machine: &Machine) -> Vec<Wiring> {
        match self {
            Sum::NearestNeighbour => vec![Wiring::Ring],
            Sum::PerfectShuffle => {
                let own = machine.array.as_ref().map_or(&[][..], |array| &array.wiring);
                own.iter().copied().chain([Wiring::PerfectShuffle]).collect()
            }
            _ => machine.array.as_ref().map_or_else(Vec::new, |array| array.wiring.clone()),
        }
    }

    /// Returns the time from the beginning until all programs have ended. Then one processor, or each, has the sum.
    pub(super) fn time_us(self, machine: &Machine) -> Result<f64, String> {
        let nodes = self.processors();
        let wiring = self.wiring(machine);
        let sends = match self {
            Sum::NearestNeighbour => Vec::new(),
            _ => {
                let mut links = Vec::new();
                for wiring in &wiring {
                    links.extend(wiring.links(nodes)?);
                }
                rounds(&links, nodes)?
            }
        };
        let options = ArrayOptions { wiring: Some(wiring), ..ArrayOptions::new(nodes) };
        let sends = Rc::new(sends);
        let outcome = run_array(machine, &options, move |node| match self {
            Sum::NearestNeighbour => shift_and_add(node),
            _ => add_in_rounds(node, &sends),
        })
        .map_err(in_words)?;
        match outcome.results.contains(&EXPECTED) {
            true => Ok(us(outcome.end)),
            false => Err(format!("the sum is not {EXPECTED}: {:?}", outcome.results)),
        }
    }
}

/// Returns a value in single precision as two words.
fn words(value: f32) -> [u16; 2] {
    let bits = value.to_bits();
    [bits as u16, (bits >> 16) as u16]
}

fn value(words: &[u16]) -> RunResult<f32> {
    match *words {
        [low, high] => Ok(f32::from_bits(u32::from(low) | u32::from(high) << 16)),
        _ => Err(Error::Program(format!("{} words are no value", words.len()))),
    }
}

/// Adds this processor's part of the values, and then the sums that others send it, until it sends the sum itself.
fn add_in_rounds(node: &ArrayNode<'_>, rounds: &[Vec<(usize, usize)>]) -> RunResult<f32> {
    let (me, share) = (node.number(), VALUES / node.size());
    let own = me * share..(me + 1) * share;
    let mut values = own.map(|index| (index + 1) as f32);
    let mut sum = values.next().unwrap_or_default();
    for value in values {
        sum = node.add(sum, value);
    }
    for &(from, to) in rounds.iter().flatten() {
        if from == me {
            node.send(Medium::Local, to, &words(sum))?;
            return Ok(0.0);
        }
        if to == me {
            let other = value(&node.receive(Medium::Local, from)?)?;
            sum = node.add(sum, other);
        }
    }
    Ok(sum)
}

/// Sends values to the right, 1, 2, 4, 8 and 16 times, on all processors, and adds the received value after each of
/// these. All have the sum then.
fn shift_and_add(node: &ArrayNode<'_>) -> RunResult<f32> {
    let (me, size) = (node.number(), node.size());
    let (left, right) = ((me + size - 1) % size, (me + 1) % size);
    let mut sum = (me + 1) as f32;
    let mut distance = 1;
    while distance < size {
        let mut passing = sum;
        for _ in 0..distance {
            node.send(Medium::Local, right, &words(passing))?;
            passing = value(&node.receive(Medium::Local, left)?)?;
        }
        sum = node.add(sum, passing);
        distance *= 2;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::TimeSpan;
    use fabric_sim::array::{ReceiveMode, run_array};
    use fabric_sim::machine;

    /// Tests 31 additions of 475 µs, by hand.
    #[test]
    fn one_processor_only_adds() {
        let found = Sum::OneProcessor.time_us(&machine::find("fem").unwrap()).unwrap();
        assert!((found - 14_725.0).abs() < 1e-3, "{found}");
    }

    /// Tests that only additions remain if messages cost nothing: 16, 5, 5 and 5 in a row.
    #[test]
    fn a_machine_with_free_messages_takes_the_additions_alone() {
        let mut machine = machine::find("fem").unwrap();
        let array = machine.array.as_mut().unwrap();
        for cost in [
            &mut array.send_call,
            &mut array.receive_call,
            &mut array.send_interrupt,
            &mut array.receive_interrupt,
        ] {
            *cost = Default::default();
        }
        array.link_word = TimeSpan::ZERO;
        for (how, additions) in [
            (Sum::TwoProcessors, 16.0),
            (Sum::SixteenProcessors, 5.0),
            (Sum::NearestNeighbour, 5.0),
            (Sum::PerfectShuffle, 5.0),
        ] {
            let found = how.time_us(&machine).unwrap();
            assert!((found - additions * 475.0).abs() < 1e-3, "{how:?}: {found}");
        }
    }

    #[test]
    fn values_travel_as_two_words() {
        assert_eq!(value(&words(528.25)), Ok(528.25));
        assert!(value(&[1]).is_err());
        let machine = machine::find("fem").unwrap();
        let outcome = run_array(&machine, &ArrayOptions::new(2), |node| {
            if node.number() == 0 {
                node.send(Medium::Local, 1, &words(1.5)).map(|()| 0.0)
            } else {
                node.expect(Medium::Local, 0, ReceiveMode::Synchronous)?;
                value(&node.receive(Medium::Local, 0)?)
            }
        });
        assert_eq!(outcome.unwrap().results, [0.0, 1.5]);
    }
}
