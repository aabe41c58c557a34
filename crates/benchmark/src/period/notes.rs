//! The records of a rank about a trial, in addition to its responses: the latest ends, and the longest pauses.

use contract::{Time, TimeSpan};
use record::{Broken, During};

/// An end after its deadline, or one that breaks another requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LateEnd {
    /// Time beyond the limit.
    pub(super) late: TimeSpan,
    pub(super) broken: Broken,
    pub(super) instance: u64,
    pub(super) stage: u64,
    pub(super) at: Time,
}

/// A pause: a time in which this rank should have worked and did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interruption {
    pub(super) at: Time,
    pub(super) length: TimeSpan,
    pub(super) during: During,
    /// The stage for which this rank computed, of a job that has stages.
    pub(super) stage: Option<u64>,
}

/// Inserts `one` into a list of the `most` longest, the longest first.
pub(super) fn keep_longest<T>(
    kept: &mut Vec<T>,
    most: usize,
    one: T,
    length: impl Fn(&T) -> TimeSpan,
) {
    let place = kept.partition_point(|other| length(other) >= length(&one));
    if place < most {
        kept.insert(place, one);
        kept.truncate(most);
    }
}

/// A note that is sent to rank 0 as words.
pub(super) trait Note: Copy {
    fn to_words(self) -> [u64; NOTE_WORDS];
    fn from_words(words: [u64; NOTE_WORDS]) -> Self;
    /// Returns its length. Zero means no entry.
    fn length(&self) -> TimeSpan;
}

/// Number of words of a note.
pub(super) const NOTE_WORDS: usize = 4;

/// What an end may break, in the order of their numbers in words.
const BROKEN: [Broken; 3] = [Broken::Deadline, Broken::Latency, Broken::Jitter];

impl Note for LateEnd {
    fn to_words(self) -> [u64; NOTE_WORDS] {
        let kinds = BROKEN.len() as u64;
        let broken = BROKEN.iter().position(|one| *one == self.broken).unwrap_or(0) as u64;
        [self.late.as_ps(), self.instance, kinds * self.stage + broken, self.at.as_ps()]
    }

    fn from_words(words: [u64; NOTE_WORDS]) -> Self {
        let [late, instance, stage, at] = words;
        let (late, at, kinds) = (TimeSpan::from_ps(late), Time::from_ps(at), BROKEN.len() as u64);
        let broken = BROKEN[(stage % kinds) as usize];
        LateEnd { late, broken, instance, stage: stage / kinds, at }
    }

    fn length(&self) -> TimeSpan {
        self.late
    }
}

impl Note for Interruption {
    fn to_words(self) -> [u64; NOTE_WORDS] {
        let computing = u64::from(self.during == During::Computing);
        let stage = self.stage.map_or(0, |stage| stage + 1);
        [self.length.as_ps(), self.at.as_ps(), computing, stage]
    }

    fn from_words([length, at, computing, stage]: [u64; NOTE_WORDS]) -> Self {
        let during = if computing == 1 { During::Computing } else { During::Waiting };
        let (at, length) = (Time::from_ps(at), TimeSpan::from_ps(length));
        Interruption { at, length, during, stage: stage.checked_sub(1) }
    }

    fn length(&self) -> TimeSpan {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + TimeSpan::from_us(us)
    }

    #[test]
    fn a_late_end_survives_the_wire() {
        for broken in BROKEN {
            let late =
                LateEnd { late: TimeSpan::from_us(3), broken, instance: 5, stage: 2, at: us(77) };
            assert_eq!(LateEnd::from_words(late.to_words()), late);
        }
    }

    #[test]
    fn a_pause_survives_the_wire() {
        for (during, stage) in [
            (During::Waiting, None),
            (During::Computing, None),
            (During::Computing, Some(0)),
            (During::Computing, Some(3)),
        ] {
            let pause = Interruption { at: us(5), length: TimeSpan::from_us(70), during, stage };
            assert_eq!(Interruption::from_words(pause.to_words()), pause);
        }
    }
}
