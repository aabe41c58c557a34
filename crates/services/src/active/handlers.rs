//! The functions that are called for the numbers in messages.

use contract::Rank;

use super::call::Call;
use super::registered::{NUMBERS, Registered};
use crate::{Error, Result};

/// A function that is called when a message arrives which names it. It receives the program's state and the message.
///
/// It cannot wait, because its [`Call`] has no operation that waits. If it returns an error, the call that polled
/// returns [`Error::Handler`].
pub type Handler<S> = fn(&mut S, &mut Call<'_>) -> Result<()>;

/// The handlers of a program, by number. All ranks must register the same numbers.
pub struct Handlers<S> {
    functions: Vec<Option<Handler<S>>>,
    registered: Registered,
}

impl<S> Default for Handlers<S> {
    fn default() -> Self {
        Handlers { functions: vec![None; NUMBERS], registered: Registered::default() }
    }
}

impl<S> Handlers<S> {
    /// Creates an empty table.
    pub fn new() -> Self {
        Handlers::default()
    }

    /// Adds `function` as handler `number`, or replaces the handler with that number.
    #[must_use]
    pub fn with(mut self, number: u8, function: Handler<S>) -> Self {
        self.functions[usize::from(number)] = Some(function);
        self.registered.insert(number);
        self
    }

    pub(super) fn registered(&self) -> Registered {
        self.registered
    }

    /// Returns the handler with this number.
    pub(super) fn find(&self, number: u8) -> Result<Handler<S>> {
        self.functions[usize::from(number)].ok_or(Error::NotRegistered { handler: number })
    }

    /// Compares the registered numbers of all ranks, as a collective.
    pub(super) fn compare(&self, rank: &mut dyn Rank) -> Result<()> {
        let own = self.registered.to_bytes();
        let mut all = vec![0; own.len() * rank.size()];
        rank.allgather(&own, &mut all)?;
        let all: Vec<Registered> =
            all.as_chunks::<{ NUMBERS / 8 }>().0.iter().map(Registered::from_bytes).collect();
        for handler in 0..=u8::MAX {
            let with = all.iter().position(|one| one.contains(handler));
            let without = all.iter().position(|one| !one.contains(handler));
            if let (Some(with), Some(without)) = (with, without) {
                return Err(Error::HandlersDiffer { handler, with, without });
            }
        }
        Ok(())
    }
}
