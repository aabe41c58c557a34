//! The flag network, and the network for sums and maxima: all cooperating processors contribute to an operation, and
//! all get the outcome.

/// Contribution of a processor to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contribution {
    Flag,
    Sum(i32),
    Maximum(i32),
}

/// An operation of all cooperating processors, one after another.
pub(super) struct GlobalOperation {
    contributions: Vec<Option<Contribution>>,
    /// Outcome of the last operation.
    pub(super) outcome: i32,
}

impl GlobalOperation {
    pub(super) fn new(cooperating: usize) -> Self {
        GlobalOperation { contributions: vec![None; cooperating], outcome: 0 }
    }

    pub(super) fn includes(&self, node: usize) -> bool {
        node < self.contributions.len()
    }

    /// Adds a processor's contribution. Returns whether it is the last; then the outcome is known and the next
    /// operation begins.
    ///
    /// # Errors
    /// A sentence, if it contributes to another operation than the processors before it.
    pub(super) fn contribute(
        &mut self,
        node: usize,
        contribution: Contribution,
    ) -> Result<bool, String> {
        let same = |other: &Contribution| {
            std::mem::discriminant(other) == std::mem::discriminant(&contribution)
        };
        if let Some(other) = self.contributions.iter().flatten().find(|other| !same(other)) {
            return Err(format!(
                "processor {node} brings {contribution:?} where another brought {other:?}"
            ));
        }
        self.contributions[node] = Some(contribution);
        if self.contributions.iter().any(Option::is_none) {
            return Ok(false);
        }
        let all = self.contributions.iter_mut().filter_map(Option::take);
        let joined = all.reduce(|a, b| match (a, b) {
            (Contribution::Sum(a), Contribution::Sum(b)) => Contribution::Sum(a.wrapping_add(b)),
            (Contribution::Maximum(a), Contribution::Maximum(b)) => Contribution::Maximum(a.max(b)),
            (first, _) => first,
        });
        self.outcome = match joined {
            Some(Contribution::Sum(value) | Contribution::Maximum(value)) => value,
            Some(Contribution::Flag) | None => 0,
        };
        Ok(true)
    }

    /// Returns the number of processors that cooperate.
    pub(super) fn size(&self) -> usize {
        self.contributions.len()
    }
}
