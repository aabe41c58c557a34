//! The flag network, and the network for sums and maxima: all cooperating processors contribute to an operation, and
//! all get the outcome.

/// Contribution of a processor to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brought {
    Flag,
    Sum(i32),
    Maximum(i32),
}

/// An operation of all cooperating processors, one after another.
pub(super) struct Meeting {
    brought: Vec<Option<Brought>>,
    /// Outcome of the last operation.
    pub(super) outcome: i32,
}

impl Meeting {
    pub(super) fn new(cooperating: usize) -> Self {
        Meeting { brought: vec![None; cooperating], outcome: 0 }
    }

    pub(super) fn is_of(&self, node: usize) -> bool {
        node < self.brought.len()
    }

    /// Adds a processor's contribution. Returns whether it is the last; then the outcome is known and the next
    /// operation begins.
    ///
    /// # Errors
    /// A sentence, if it contributes to another operation than the processors before it.
    pub(super) fn come(&mut self, node: usize, brought: Brought) -> Result<bool, String> {
        let same =
            |other: &Brought| std::mem::discriminant(other) == std::mem::discriminant(&brought);
        if let Some(other) = self.brought.iter().flatten().find(|other| !same(other)) {
            return Err(format!(
                "processor {node} brings {brought:?} where another brought {other:?}"
            ));
        }
        self.brought[node] = Some(brought);
        if self.brought.iter().any(Option::is_none) {
            return Ok(false);
        }
        let all = self.brought.iter_mut().filter_map(Option::take);
        let joined = all.reduce(|a, b| match (a, b) {
            (Brought::Sum(a), Brought::Sum(b)) => Brought::Sum(a.wrapping_add(b)),
            (Brought::Maximum(a), Brought::Maximum(b)) => Brought::Maximum(a.max(b)),
            (first, _) => first,
        });
        self.outcome = match joined {
            Some(Brought::Sum(value) | Brought::Maximum(value)) => value,
            Some(Brought::Flag) | None => 0,
        };
        Ok(true)
    }

    /// Returns the number of processors that cooperate.
    pub(super) fn size(&self) -> usize {
        self.brought.len()
    }
}
