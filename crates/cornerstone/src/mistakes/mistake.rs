//! A mistake of a program, and the calls that it consists of.

use crate::call_sites::NamedText;
use crate::source_place::SourcePlace;

use super::kind::MistakeKind;
use super::table::kind_of;

/// A call that has a part in a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    /// The rank of MPI_COMM_WORLD that has made the call, if it is known.
    pub(crate) rank: Option<usize>,
    /// The function of MPI, if it is known.
    pub(crate) call: Option<String>,
    pub(crate) place: SourcePlace,
}

/// A mistake that some ranks have made.
#[derive(Clone, Debug)]
pub(crate) struct Mistake {
    pub(crate) kind: &'static MistakeKind,
    /// What is wrong, in words.
    pub(crate) message: String,
    /// Its calls with known places, first the one at which it was found.
    pub(crate) sides: Vec<Side>,
    /// The ranks that report it, in ascending order.
    pub(crate) ranks: Vec<usize>,
    /// Number of times that these ranks have met it.
    pub(crate) times: u64,
}

impl Mistake {
    /// Creates a mistake that one rank reports, in words in which places have been named.
    pub(crate) fn reported(kind: &'static MistakeKind, rank: usize, named: NamedText) -> Self {
        let sides = sides(rank, &named);
        Mistake { kind, message: named.words, sides, ranks: vec![rank], times: 1 }
    }

    /// Creates a mistake that is in the records of a rank, which has met it so often.
    pub(crate) fn recorded(rank: usize, message: String, sides: Vec<Side>, times: u64) -> Self {
        Mistake { kind: kind_of(&message), message, sides, ranks: vec![rank], times }
    }

    /// Adds what another rank reports. Returns false if it is another mistake.
    pub(crate) fn merge(&mut self, other: &Mistake) -> bool {
        if self.kind.name != other.kind.name || self.message != other.message {
            return false;
        }
        // The message is the same at all these ranks, and so are the calls.
        for (own, other) in self.sides.iter_mut().zip(&other.sides) {
            own.rank = own.rank.filter(|rank| Some(*rank) == other.rank);
        }
        self.ranks.extend(&other.ranks);
        self.ranks.sort_unstable();
        self.ranks.dedup();
        self.times += other.times;
        true
    }
}

/// Returns the calls whose places stand in the words of a rank.
fn sides(rank: usize, NamedText { words, places }: &NamedText) -> Vec<Side> {
    let alone = places.len() == 1;
    let side = |(before, place): &(usize, SourcePlace)| {
        let text = &words[..*before];
        // The place of the call that failed stands at the end. Others follow what they are the place of.
        let is_own = alone && words[*before..].len() == format!(" ({place})").len();
        let named = text.rsplit([' ', '\n']).next().and_then(function_of_mpi);
        let first = || words.split_once(": ").and_then(|(call, _)| function_of_mpi(call));
        Side {
            rank: if is_own { Some(rank) } else { rank_before(text) },
            call: named.or_else(|| first().filter(|_| is_own)),
            place: place.clone(),
        }
    };
    places.iter().map(side).collect()
}

fn function_of_mpi(word: &str) -> Option<String> {
    word.starts_with("MPI_").then(|| word.to_owned())
}

/// Returns the rank that a text names last.
fn rank_before(text: &str) -> Option<usize> {
    let (_, after) = text.rsplit_once("rank ")?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mistakes::kind_of;

    /// Words in which each `@` is a place, with the line of its number.
    fn named(text: &str) -> NamedText {
        let (mut words, mut places) = (String::new(), Vec::new());
        for (index, part) in text.split('@').enumerate() {
            if index > 0 {
                let line = Some(("/home/user/a.c".into(), index as u32));
                let place = SourcePlace { function: Some("main".into()), line, code: None };
                places.push((words.len(), place.clone()));
                words += &format!(" ({place})");
            }
            words += part;
        }
        NamedText { words, places }
    }

    fn sides_of(text: &str) -> Vec<(Option<usize>, Option<String>, u32)> {
        let mistake = Mistake::reported(kind_of(text), 5, named(text));
        let side = |side: Side| (side.rank, side.call, side.place.line.unwrap().1);
        mistake.sides.into_iter().map(side).collect()
    }

    #[test]
    fn each_place_belongs_to_the_rank_and_the_call_that_the_words_name() {
        let call = |name: &str| Some(name.to_owned());
        assert_eq!(
            sides_of("MPI_Recv: MPI_ERR_TRUNCATE: 8 bytes of rank 0 for 4@"),
            [(Some(5), call("MPI_Recv"), 1)]
        );
        assert_eq!(
            sides_of(
                "MPI_Finalize: MPI_ERR_OTHER: datatypes do not match: rank 0 sends 6 integers@, which rank 1 receives as 6@"
            ),
            [(Some(0), None, 1), (Some(1), None, 2)]
        );
        assert_eq!(
            sides_of(
                "MPI_Finalize: MPI_ERR_OTHER: a message of rank 12@ was never received by rank 1"
            ),
            [(Some(12), None, 1)]
        );
        assert_eq!(sides_of("not freed at MPI_Finalize: 1 communicator@"), [(Some(5), None, 1)]);
    }

    #[test]
    fn ranks_that_report_the_same_are_one_mistake() {
        let at = |rank, text: &str| Mistake::reported(kind_of(text), rank, named(text));
        let mut first = at(3, "MPI_Send: MPI_ERR_TAG: tag -5@");
        assert!(first.merge(&at(1, "MPI_Send: MPI_ERR_TAG: tag -5@")));
        assert!(!first.merge(&at(1, "MPI_Send: MPI_ERR_TAG: tag -6@")));
        assert_eq!((first.ranks, first.times), (vec![1, 3], 2));
    }
}
