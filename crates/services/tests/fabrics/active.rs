//! Active messages.

use contract::{Buffer, Rank};
use random::SplitMix64;
use services::{
    ActiveMessages, Body, CREDITS, Call, Error, Handlers, MEDIUM_BYTES_MAX, Result, Session,
    WORDS_MAX,
};

use crate::{failure, on_each_fabric};

const ASK: u8 = 3;
const ANSWER: u8 = 250;
const NOTE: u8 = 7;

/// The records of the handlers of these tests.
#[derive(Debug, Default, PartialEq, Eq)]
struct Notes {
    answers: Vec<(usize, u64)>,
    notes: Vec<(usize, u64)>,
    bytes: Vec<u8>,
}

/// Replies with twice the number.
fn ask(_: &mut Notes, call: &mut Call<'_>) -> Result<()> {
    let double = 2 * call.words()[0];
    call.reply(ANSWER, &[double])
}

fn answer(notes: &mut Notes, call: &mut Call<'_>) -> Result<()> {
    notes.answers.push((call.from(), call.words()[0]));
    Ok(())
}

fn note(notes: &mut Notes, call: &mut Call<'_>) -> Result<()> {
    notes.notes.push((call.from(), call.words()[0]));
    notes.bytes = call.data().to_vec();
    Ok(())
}

fn handlers() -> Handlers<Notes> {
    Handlers::new().with(ASK, ask).with(ANSWER, answer).with(NOTE, note)
}

/// Runs `body` between opening and closing, with a segment of `segment_bytes`. Returns the records of the handlers.
fn with_service(
    rank: &mut dyn Rank,
    handlers: Handlers<Notes>,
    segment_bytes: usize,
    body: impl FnOnce(&mut Session<'_, Notes>) -> Result<()>,
) -> Result<(Notes, Buffer)> {
    let mut notes = Notes::default();
    let mut active = ActiveMessages::open(rank, handlers, Buffer::zeroed(segment_bytes))?;
    body(&mut active.enter(rank, &mut notes))?;
    let segment = active.close(rank, &mut notes)?;
    Ok((notes, segment))
}

#[test]
fn each_request_gets_its_reply_from_others_and_from_oneself() {
    for ranks in [1, 2, 5] {
        on_each_fabric(ranks, |rank| {
            let (me, size) = (rank.rank() as u64, rank.size());
            let (mut notes, _) = with_service(rank, handlers(), 0, |session| {
                for to in 0..size {
                    session.request(to, ASK, &[10 * me + to as u64])?;
                }
                session.wait_until(|notes| notes.answers.len() == size)
            })?;
            notes.answers.sort_unstable();
            let expected: Vec<_> = (0..size).map(|to| (to, 2 * (10 * me + to as u64))).collect();
            assert_eq!(notes.answers, expected);
            Ok(())
        });
    }
}

#[test]
fn a_storm_of_requests_ends_and_loses_none() {
    const EACH: usize = 700;
    for ranks in [1, 2, 4] {
        on_each_fabric(ranks, |rank| {
            let (me, size) = (rank.rank(), rank.size());
            let seed = 0x5eed + me as u64;
            let mut random = SplitMix64::new(seed);
            let mut asked = Vec::new();
            let (mut notes, _) = with_service(rank, handlers(), 0, |session| {
                for number in 0..EACH as u64 {
                    let to = random.below(size);
                    if random.below(3) == 0 {
                        session.request(to, NOTE, &[number])?;
                    } else {
                        session.request(to, ASK, &[number])?;
                        asked.push((to, 2 * number));
                    }
                }
                Ok(())
            })?;
            notes.answers.sort_unstable();
            asked.sort_unstable();
            assert_eq!(notes.answers, asked, "rank {me}, seed {seed:#x}");
            // Every note of every rank came to one rank, so the total is the number of sent notes.
            let mut count = [0; 8];
            rank.allreduce(
                contract::Reduction {
                    operation: contract::Operation::Sum,
                    element: contract::Element::U64,
                },
                &(notes.notes.len() as u64).to_ne_bytes(),
                &mut count,
            )?;
            let sent: usize = (0..size)
                .map(|rank| {
                    let mut random = SplitMix64::new(0x5eed + rank as u64);
                    (0..EACH).filter(|_| (random.below(size), random.below(3)).1 == 0).count()
                })
                .sum();
            assert_eq!(u64::from_ne_bytes(count), sent as u64, "seed {seed:#x}");
            Ok(())
        });
    }
}

#[test]
fn requests_of_one_rank_to_another_are_handled_in_order() {
    on_each_fabric(2, |rank| {
        let (me, count) = (rank.rank(), 5 * u64::from(CREDITS));
        let (notes, _) = with_service(rank, handlers(), 0, |session| {
            (0..count).filter(|_| me == 0).try_for_each(|at| session.request(1, NOTE, &[at]))
        })?;
        let expected: Vec<_> = (0..count).filter(|_| me == 1).map(|at| (0, at)).collect();
        assert_eq!(notes.notes, expected);
        Ok(())
    });
}

#[test]
fn long_data_of_a_ring_of_ranks_pass_each_other() {
    const BYTES: usize = 300_000;
    for ranks in [1, 2, 3] {
        on_each_fabric(ranks, |rank| {
            let (me, size) = (rank.rank(), rank.size());
            let fill = |rank: usize, at: usize| (rank * 31 + at * 7) as u8;
            let (notes, segment) = with_service(rank, handlers(), BYTES + 8, |session| {
                let data: Vec<u8> = (0..BYTES).map(|at| fill(me, at)).collect();
                for _ in 0..4 {
                    let buffer = Buffer::from_bytes(&data);
                    session.request_long((me + 1) % size, NOTE, &[5], 8, buffer)?;
                }
                for _ in 0..4 {
                    assert_eq!(session.take_back()?.expect("four were sent")[..], data);
                }
                assert!(session.take_back()?.is_none());
                session.wait_until(|notes| notes.notes.len() == 4)
            })?;
            let before = (me + size - 1) % size;
            assert!((0..BYTES).all(|at| segment[8 + at] == fill(before, at)));
            assert_eq!((notes.bytes.len(), &segment[..8]), (BYTES, &[0; 8][..]));
            Ok(())
        });
    }
}

/// Sends the requested part of this rank's segment to the requested place of the other rank's.
fn get(_: &mut Notes, call: &mut Call<'_>) -> Result<()> {
    let [from, bytes, to] = [0, 1, 2].map(|at| call.words()[at] as usize);
    let data = Buffer::from_bytes(&call.segment()[from..][..bytes]);
    call.reply_long(NOTE, &[0], to, data)
}

#[test]
fn a_reply_may_bring_long_data() {
    on_each_fabric(2, |rank| {
        let me = rank.rank() as u8;
        let all = handlers().with(9, get);
        let (_, segment) = with_service(rank, all, 5000, |session| {
            session.segment()[..4000].fill(me + 1);
            session.barrier()?;
            session.request(usize::from(1 - me), 9, &[10, 3000, 4000 - 2000])?;
            session.wait_until(|notes| notes.notes.len() == 1)
        })?;
        // 3000 bytes of the other rank's number are over the own ones from byte 2000 on. No byte was ever above 5000.
        assert_eq!((segment[1999], segment[2000], segment[4999]), (me + 1, 2 - me, 2 - me));
        Ok(())
    });
}

#[test]
fn medium_data_come_with_all_words() {
    on_each_fabric(2, |rank| {
        let data = [0xAB; MEDIUM_BYTES_MAX];
        let me = rank.rank();
        let (notes, _) = with_service(rank, handlers(), 0, |session| {
            session.request_medium(1 - me, NOTE, &[77; WORDS_MAX], &data)?;
            session.wait_until(|notes| !notes.notes.is_empty())
        })?;
        assert_eq!((notes.notes, notes.bytes), (vec![(1 - me, 77)], data.to_vec()));
        Ok(())
    });
}

#[test]
fn nobody_passes_a_barrier_before_all_have_come() {
    on_each_fabric(5, |rank| {
        let (me, size) = (rank.rank(), rank.size());
        with_service(rank, handlers(), 0, |session| {
            for round in 0..20_u64 {
                // The reply shows that the note was handled, so it must have come before any rank leaves the barrier.
                session.request(0, NOTE, &[round])?;
                session.request(0, ASK, &[round])?;
                let asked = round as usize + 1;
                session.wait_until(|notes| notes.answers.len() == asked)?;
                session.barrier()?;
                if me == 0 {
                    assert!(session.state().notes.len() >= size * asked, "round {round}");
                }
            }
            Ok(())
        })?;
        Ok(())
    });
}

#[test]
fn what_cannot_be_sent_is_refused_by_name_and_does_no_harm() {
    on_each_fabric(2, |rank| {
        let peer = 1 - rank.rank();
        let (notes, _) = with_service(rank, handlers(), 100, |session| {
            let errors = [
                session.request(peer, 8, &[]).unwrap_err(),
                session.request(2, ASK, &[]).unwrap_err(),
                session.request(peer, ASK, &[0; WORDS_MAX + 1]).unwrap_err(),
                session.request_medium(peer, ASK, &[], &[0; MEDIUM_BYTES_MAX + 1]).unwrap_err(),
                session.request_long(peer, ASK, &[], 90, Buffer::zeroed(11)).unwrap_err(),
                session.request_long(peer, ASK, &[], usize::MAX, Buffer::zeroed(1)).unwrap_err(),
            ];
            let words = errors.map(|error| error.to_string());
            assert_eq!(words[0], "handler 8 is not registered");
            assert_eq!(words[1], "there is no rank 2: the run has ranks 0 to 1");
            assert_eq!(words[2], "17 words where a message carries at most 16");
            assert!(words[3].starts_with("889 bytes where a medium message carries at most 888"));
            let outside = format!("11 bytes at offset 90 are outside the segment of rank {peer}");
            assert!(words[4].starts_with(&outside), "{}", words[4]);
            assert!(words[5].starts_with("1 bytes at offset 18446744073709551615 are outside"));
            session.request(peer, ASK, &[4])?;
            session.wait_until(|notes| notes.answers.len() == 1)
        })?;
        assert_eq!(notes.answers, [(peer, 8)]);
        Ok(())
    });
}

/// Tries to send two replies. The first is sent.
fn reply_twice(_: &mut Notes, call: &mut Call<'_>) -> Result<()> {
    call.reply(ANSWER, &[1])?;
    call.reply(ANSWER, &[2])
}

fn answer_and_reply(notes: &mut Notes, call: &mut Call<'_>) -> Result<()> {
    answer(notes, call)?;
    call.reply(ANSWER, &[3])
}

#[test]
fn a_handler_that_sends_too_much_is_named_to_its_own_rank() {
    on_each_fabric(2, |rank| {
        let me = rank.rank();
        let all = handlers().with(20, reply_twice).with(ANSWER, answer_and_reply);
        with_service(rank, all, 0, |session| {
            if me == 0 {
                session.request(1, 20, &[])?;
                let error = session.wait_until(|notes| notes.notes.len() == 1).unwrap_err();
                let words =
                    "handler 250, called by rank 1: the handler of a reply may send nothing";
                assert_eq!(error.to_string(), words);
                assert_eq!(session.state().answers, [(1, 1)]);
                session.request(1, NOTE, &[0])
            } else {
                let error = session.wait_until(|notes| notes.notes.len() == 1).unwrap_err();
                let words = "handler 20, called by rank 0: a handler may send one reply, and this one has sent it";
                assert_eq!(error.to_string(), words);
                session.wait_until(|notes| notes.notes.len() == 1)
            }
        })?;
        Ok(())
    });
}

#[test]
fn ranks_that_register_different_handlers_are_told_which() {
    on_each_fabric(3, |rank| {
        let all = if rank.rank() == 1 { handlers().with(99, note) } else { handlers() };
        let failed = ActiveMessages::open(rank, all, Buffer::zeroed(0)).err();
        assert_eq!(failed, Some(Error::HandlersDiffer { handler: 99, with: 1, without: 0 }));
        Ok(())
    });
}

#[test]
fn a_wait_that_nothing_can_end_is_an_error() {
    let alone = failure(1, |rank| {
        with_service(rank, handlers(), 0, |session| session.wait_until(|_| false))?;
        Ok(())
    });
    assert!(alone.contains("waits for an active message"), "{alone}");
    let all = failure(2, |rank| {
        with_service(rank, handlers(), 0, |session| session.wait_until(|_| false))?;
        Ok(())
    });
    assert!(all.contains("deadlock"), "{all}");
}

#[test]
fn a_body_says_where_its_data_are() {
    fn keep(notes: &mut Notes, call: &mut Call<'_>) -> Result<()> {
        let kind = match call.body() {
            Body::Words => 0,
            Body::Medium(data) => 100 + data.len() as u64,
            Body::Long { offset, bytes } => 1000 + (10 * offset + bytes) as u64,
        };
        notes.notes.push((call.rank(), kind));
        Ok(())
    }
    on_each_fabric(1, |rank| {
        let (notes, _) = with_service(rank, Handlers::new().with(0, keep), 9, |session| {
            session.request(0, 0, &[])?;
            session.request_medium(0, 0, &[], &[1, 2])?;
            session.request_long(0, 0, &[], 4, Buffer::zeroed(5))
        })?;
        assert_eq!(notes.notes, [(0, 0), (0, 102), (0, 1045)]);
        Ok(())
    });
}
