//! The call id that the messages of a collective carry.

use collectives::{Algorithm, Call, Collective};

use crate::{Element, Error, Operation, Reduction, Result, Tag};

/// A collective with the properties on which all ranks must agree, except the length.
#[derive(Clone, Copy)]
pub(super) struct CallId {
    pub(super) collective: Collective,
    pub(super) tag: Tag,
}

// Bits of a reserved tag from the top: 5 of collective and algorithm, 5 of reduction, 10 of root (the lowest ones).
const ROOT_BITS: u32 = 10;
const REDUCTION_BITS: u32 = 5;
const NO_REDUCTION: u32 = (1 << REDUCTION_BITS) - 1;

/// Returns each collective with each of its algorithms, so that ranks with different choices detect it.
fn choices() -> impl Iterator<Item = (Collective, Algorithm)> {
    Collective::ALL.into_iter().flat_map(|(collective, _)| {
        collective.algorithms().iter().map(move |&algorithm| (collective, algorithm))
    })
}

impl CallId {
    /// Returns the id of a call by an algorithm.
    pub(super) fn new(call: &Call, algorithm: Algorithm, reduction: Option<Reduction>) -> Self {
        let collective = call.collective();
        let choice = choices().position(|choice| choice == (collective, algorithm));
        let choice = choice.expect("a collective is made by an algorithm of its own") as u32;
        let root = call.root().unwrap_or(0) as u32 & ((1 << ROOT_BITS) - 1);
        let reduction = reduction.map_or(NO_REDUCTION, reduction_code);
        CallId {
            collective,
            tag: Tag::reserved((choice << REDUCTION_BITS | reduction) << ROOT_BITS | root),
        }
    }
}

/// Returns the error for a wrong length.
pub(super) fn unequal<T>(
    collective: Collective,
    what: impl Into<String>,
    expected_bytes: usize,
    found_bytes: usize,
) -> Result<T> {
    let (collective, what) = (collective.name(), what.into());
    Err(Error::UnequalCounts { collective, what, expected_bytes, found_bytes })
}

/// Fails unless `buffer`, with the name `what`, is `expected_bytes` long.
pub(super) fn expect_bytes(
    collective: Collective,
    what: &str,
    expected_bytes: usize,
    buffer: &[u8],
) -> Result<()> {
    if buffer.len() == expected_bytes {
        Ok(())
    } else {
        unequal(collective, what, expected_bytes, buffer.len())
    }
}

/// Fails unless `buffer` has a whole number of `unit_bytes`.
pub(super) fn expect_multiple(
    collective: Collective,
    what: &str,
    unit_bytes: usize,
    buffer: &[u8],
) -> Result<()> {
    let broken = buffer.len() % unit_bytes;
    expect_bytes(collective, what, buffer.len() - broken, buffer)
}

fn reduction_code(reduction: Reduction) -> u32 {
    let element = Element::ALL.iter().position(|&e| e == reduction.element);
    let operation = Operation::ALL.iter().position(|&o| o == reduction.operation);
    let known = "ALL lists every element and operation";
    (element.expect(known) * Operation::ALL.len() + operation.expect(known)) as u32
}

/// Describes the call of the sender of a reserved tag.
pub(crate) fn describe(tag: Tag) -> String {
    let id = tag.value() & Tag::MAX;
    let root = id & ((1 << ROOT_BITS) - 1);
    let reduction = (id >> ROOT_BITS) & NO_REDUCTION;
    let Some((collective, algorithm)) =
        choices().nth((id >> (ROOT_BITS + REDUCTION_BITS)) as usize)
    else {
        return format!("a collective of its fabric ({id})");
    };
    let of = match Element::ALL.get(reduction as usize / Operation::ALL.len()) {
        Some(element) => {
            let operation = Operation::ALL[reduction as usize % Operation::ALL.len()];
            format!(" ({})", Reduction::new(*element, operation))
        }
        None => String::new(),
    };
    let at = if collective.has_root() { format!(" with root {root}") } else { String::new() };
    let by = if collective.algorithms().len() > 1 {
        format!(" by {}", algorithm.name())
    } else {
        String::new()
    };
    format!("{}{of}{at}{by}", collective.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use collectives::Order;

    #[test]
    fn a_tag_encodes_the_call_of_its_sender() {
        let call = Call::Reduce { root: 3, length: 1, order: Order::Any };
        let id = CallId::new(&call, Algorithm::Rabenseifner, Some(Reduction::SUM_F64));
        assert_eq!(
            describe(id.tag),
            "reduce (sum of double-precision numbers) with root 3 by rabenseifner"
        );
        assert!(id.tag.value() & Tag::MAX < 1 << 20);
        let barrier = CallId::new(&Call::Barrier, Algorithm::Dissemination, None);
        assert_eq!(describe(barrier.tag), "barrier by dissemination");
    }

    #[test]
    fn every_choice_fits_in_a_tag() {
        assert!(choices().count() <= 1 << 5, "{}", choices().count());
    }
}
