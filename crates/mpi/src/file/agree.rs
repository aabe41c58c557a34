//! Agreement of the members of a file on outcomes and values.

use collectives::{CallId, LibraryCall};
use contract::Endpoint;

use crate::collective::allgather_bytes;
use crate::communicator::Communicator;
use crate::error::{Error, ErrorClass, Result};
use crate::schedule::CollectiveContext;

/// The classes of failures that members exchange; all others become [`ErrorClass::Other`].
const EXCHANGED: &[ErrorClass] = &[
    ErrorClass::Other,
    ErrorClass::Access,
    ErrorClass::Amode,
    ErrorClass::Argument,
    ErrorClass::BadFile,
    ErrorClass::FileExists,
    ErrorClass::FileInUse,
    ErrorClass::InputOutput,
    ErrorClass::NoSpace,
    ErrorClass::NoSuchFile,
    ErrorClass::NotSame,
    ErrorClass::Quota,
    ErrorClass::ReadOnly,
    ErrorClass::Type,
    ErrorClass::Unsupported,
    ErrorClass::UnsupportedRepresentation,
];

/// Returns the word for an outcome: 0 for success.
pub(super) fn word_of(outcome: &Result) -> i64 {
    let Err(error) = outcome else { return 0 };
    let place = EXCHANGED.iter().position(|&one| one == error.class);
    place.map_or(1, |place| place as i64 + 1)
}

/// Gathers N words of every member.
pub(super) fn gather<E: Endpoint + 'static, const N: usize>(
    of: &Communicator<E>,
    mine: [i64; N],
) -> Result<Vec<[i64; N]>> {
    let at = CollectiveContext::next(of.context(), CallId::of_library(LibraryCall::File));
    let all = allgather_bytes(at, mine.map(i64::to_ne_bytes).as_flattened())?;
    let (words, _) = all.as_chunks::<8>();
    let words: Vec<i64> = words.iter().map(|&word| i64::from_ne_bytes(word)).collect();
    Ok(words.as_chunks::<N>().0.to_vec())
}

/// Returns this member's own failure, otherwise that of the first member that has one.
pub(super) fn first_failure(mine: Result, words: impl Iterator<Item = i64>) -> Result {
    mine?;
    let failed = words.enumerate().find(|(_, word)| *word != 0);
    let Some((rank, word)) = failed else { return Ok(()) };
    let class = EXCHANGED.get(word as usize - 1).copied().unwrap_or(ErrorClass::Other);
    Err(Error::new(class, format!("it failed at rank {rank}")))
}

/// Fails at all members if it has failed at one.
pub(super) fn agree<E: Endpoint + 'static>(of: &Communicator<E>, mine: Result) -> Result {
    let all = gather(of, [word_of(&mine)])?;
    first_failure(mine, all.into_iter().map(|[word]| word))
}

/// Fails at all members if it has failed at one, or if they pass different values.
pub(super) fn agree_on<E: Endpoint + 'static>(
    of: &Communicator<E>,
    (what, value): (&str, i64),
    mine: Result,
) -> Result {
    let all = gather(of, [word_of(&mine), value])?;
    first_failure(mine, all.iter().map(|[word, _]| *word))?;
    let differs = all.iter().position(|[_, other]| *other != value);
    let Some(rank) = differs else { return Ok(()) };
    let said = format!("{what} is {value} here and {} at rank {rank}", all[rank][1]);
    Err(Error::new(ErrorClass::NotSame, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failure_of_one_is_that_of_all() {
        let full: Result = Err(Error::new(ErrorClass::NoSpace, "full"));
        let word = word_of(&full);
        let failure = first_failure(Ok(()), [0, 0, word].into_iter()).unwrap_err();
        assert_eq!(failure.class, ErrorClass::NoSpace);
        assert!(failure.message.contains("rank 2"), "{failure}");
        let own = first_failure(full.clone(), [0, word_of(&full)].into_iter()).unwrap_err();
        assert_eq!(own.message, "full");
        assert_eq!(first_failure(Ok(()), [0, 0].into_iter()), Ok(()));
        let strange = Err(Error::new(ErrorClass::Internal, "odd"));
        assert_eq!(
            first_failure(Ok(()), [word_of(&strange)].into_iter()).unwrap_err().class,
            ErrorClass::Other
        );
    }
}
