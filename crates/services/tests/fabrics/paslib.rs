//! SEND and RECV.

use contract::{Rank, Source, Tag, TagSelector, Time, TimeSpan};
use random::SplitMix64;
use services::{Error, Expected, LATEST_UNDER_WAY, Medium, Paslib, ReceiveMode, Result};

use crate::{failure, on_each_fabric};

const TO_BE_CAREFUL: Tag = Tag::new(9);

/// Opens the service with all ranks as partners, over both media, in one mode.
fn open(rank: &mut dyn Rank, mode: ReceiveMode) -> Result<Paslib> {
    let pairs = (0..rank.size()).flat_map(|from| Medium::ALL.map(|medium| (from, medium, mode)));
    let expected: Vec<Expected> = pairs.collect();
    Paslib::open(rank, &expected)
}

/// Returns words that a reader can recognise as those of one buffer: all are made from its number.
fn words_of(number: u32) -> Vec<u16> {
    let count = 1 + (number as usize * 37) % 255;
    vec![(number as u16).wrapping_mul(257); count]
}

/// Reports to rank 0 that rank 1 has come to this point.
fn meet(rank: &mut dyn Rank) -> Result<()> {
    match rank.rank() {
        1 => rank.send(0, TO_BE_CAREFUL, &[])?,
        0 => rank.receive(Source::Rank(1), TagSelector::Is(TO_BE_CAREFUL), &mut []).map(drop)?,
        _ => {}
    }
    Ok(())
}

#[test]
fn synchronous_buffers_come_whole_in_order_and_once() {
    for ranks in [1, 2, 4] {
        on_each_fabric(ranks, |rank| {
            let seed = 0xFE3;
            let (me, size) = (rank.rank(), rank.size());
            let mut paslib = open(rank, ReceiveMode::Synchronous)?;
            let mut calls = paslib.enter(rank);
            // The buffers that a rank sends to another over each medium, which both compute.
            let sent = |from: usize, to: usize, medium: Medium| {
                let mut random =
                    SplitMix64::new(seed + (from * 100 + to * 10 + medium as usize) as u64);
                let one = move |_| {
                    let count = [1, 2, 255, 1 + random.below(255)][random.below(4)];
                    (0..count).map(|_| random.below(1 << 16) as u16).collect::<Vec<u16>>()
                };
                (0..40).map(one).collect::<Vec<_>>()
            };
            for to in 0..size {
                for medium in Medium::ALL {
                    for words in sent(me, to, medium) {
                        calls.send(medium, to, &words)?;
                    }
                }
            }
            let mut words = Vec::new();
            for from in (0..size).rev() {
                // The bus is first, because neither medium must delay the other.
                for medium in [Medium::Global, Medium::Local] {
                    for (number, expected) in sent(from, me, medium).into_iter().enumerate() {
                        calls.receive(medium, from, &mut words)?;
                        assert_eq!(words, expected, "{number} from {from}, seed {seed:#x}");
                    }
                }
            }
            drop(calls);
            paslib.close(rank)
        });
    }
}

/// Rank 0 writes, and rank 1 reads, without pause.
#[test]
fn the_latest_buffer_is_never_torn_and_never_older_than_the_one_before() {
    const BUFFERS: u32 = 3000;
    on_each_fabric(2, |rank| {
        let mut paslib = open(rank, ReceiveMode::Asynchronous)?;
        let mut calls = paslib.enter(rank);
        if calls.rank().rank() == 0 {
            for number in 0..BUFFERS {
                calls.send(Medium::Local, 1, &words_of(number))?;
            }
            while calls.serve()? {}
        } else {
            let mut last = None;
            while last != Some(BUFFERS - 1) {
                let Some(latest) = calls.latest(Medium::Local, 0)? else { continue };
                assert_eq!(latest.words, words_of(latest.number), "buffer {}", latest.number);
                let is_later = last.is_none_or(|last| latest.number > last);
                assert_eq!(latest.is_new, is_later, "{last:?} before {}", latest.number);
                assert!(
                    is_later || last == Some(latest.number),
                    "{last:?} before {}",
                    latest.number
                );
                last = Some(latest.number);
            }
        }
        drop(calls);
        paslib.close(rank)
    });
}

/// By hand: rank 1 receives nothing until all were sent. The first few are sent, the last one is held back in place of
/// all others, and is sent once rank 1 has received. So rank 1 sees the number of the last one that was sent, and then
/// the very last.
#[test]
fn a_receiver_that_does_not_look_holds_nobody_up_and_sees_the_latest() {
    on_each_fabric(2, |rank| {
        const SENT: u32 = 50;
        let mut paslib = open(rank, ReceiveMode::Asynchronous)?;
        if rank.rank() == 0 {
            let mut calls = paslib.enter(rank);
            for number in 0..SENT {
                calls.send(Medium::Global, 1, &words_of(number))?;
            }
            assert!(calls.serve()?, "one is held back");
            drop(calls);
            rank.send(1, TO_BE_CAREFUL, &[])?;
            let mut calls = paslib.enter(rank);
            while calls.serve()? {}
        } else {
            assert_eq!(
                paslib.enter(rank).latest(Medium::Local, 0)?,
                None,
                "nothing was sent there"
            );
            rank.receive(Source::Rank(0), TagSelector::Is(TO_BE_CAREFUL), &mut [])?;
            let mut calls = paslib.enter(rank);
            let first = loop {
                // The messages of two contexts may overtake each other.
                if let Some(latest) = calls.latest(Medium::Global, 0)?
                    && latest.number == LATEST_UNDER_WAY - 1
                {
                    break latest.number;
                }
            };
            let again = calls.latest(Medium::Global, 0)?.map(|latest| latest.number);
            assert!([Some(first), Some(SENT - 1)].contains(&again), "{again:?}");
            while calls.latest(Medium::Global, 0)?.is_none_or(|latest| latest.number != SENT - 1) {}
            let latest = calls.latest(Medium::Global, 0)?.unwrap();
            assert_eq!((latest.words, latest.is_new), (&words_of(SENT - 1)[..], false));
        }
        paslib.close(rank)
    });
}

/// Rank 1 computes for 10 s of virtual time and receives nothing, while rank 0 sends. On the simulated machine a SEND
/// that waited would end after that.
#[test]
fn no_send_to_an_asynchronous_receiver_waits_for_it() {
    let machine = fabric_sim::machine::find("cluster").unwrap();
    let outcome = fabric_sim::run(&machine, &fabric_sim::Options::new(2), |rank| {
        let mut program = || {
            let mut paslib = open(rank, ReceiveMode::Asynchronous)?;
            if rank.rank() == 0 {
                let mut calls = paslib.enter(rank);
                for number in 0..1000 {
                    calls.send(Medium::Local, 1, &words_of(number))?;
                }
            } else {
                rank.wait_until(Time::ZERO + TimeSpan::from_us(10_000_000));
            }
            let end = rank.now();
            paslib.close(rank).map(|()| end)
        };
        program().map_err(Error::into_contract)
    });
    let ends = outcome.unwrap().results;
    assert!(ends[0] < Time::ZERO + TimeSpan::from_us(10_000_000), "{ends:?}");
}

/// Rank 0 holds a buffer back for rank 1, which answers it. Rank 0 waits for that answer in RECV.
#[test]
fn a_rank_that_waits_sends_what_it_held_back() {
    on_each_fabric(2, |rank| {
        let me = rank.rank();
        let mode = [ReceiveMode::Synchronous, ReceiveMode::Asynchronous][me];
        let mut paslib = Paslib::open(rank, &[(1 - me, Medium::Local, mode)])?;
        let mut calls = paslib.enter(rank);
        if me == 0 {
            for number in 0..20 {
                calls.send(Medium::Local, 1, &words_of(number))?;
            }
            let mut words = Vec::new();
            calls.receive(Medium::Local, 1, &mut words)?;
            assert_eq!(words, [19]);
        } else {
            while calls.latest(Medium::Local, 0)?.is_none_or(|latest| latest.number != 19) {}
            calls.send(Medium::Local, 0, &[19])?;
        }
        drop(calls);
        paslib.close(rank)
    });
}

#[test]
fn mistakes_are_told_by_name_and_change_nothing() {
    on_each_fabric(2, |rank| {
        let (me, mode) = (rank.rank(), ReceiveMode::Synchronous);
        let mut paslib = Paslib::open(rank, &[(1 - me, Medium::Local, mode)])?;
        let mut calls = paslib.enter(rank);
        let peer = 1 - me;
        let mut words = vec![7];
        for count in [0, 256] {
            let error = calls.send(Medium::Local, peer, &vec![1; count]).unwrap_err();
            assert_eq!(error.to_string(), format!("{count} words where a buffer has 1 to 255"));
        }
        let error = calls.send(Medium::Global, peer, &[1]).unwrap_err();
        assert_eq!(error, Error::UnknownPartner { rank: peer, medium: Medium::Global });
        let error = calls.receive(Medium::Local, me, &mut words).unwrap_err();
        assert_eq!(error, Error::UnknownPartner { rank: me, medium: Medium::Local });
        assert!(matches!(calls.send(Medium::Local, 2, &[1]), Err(Error::Fabric(_))));
        let error = calls.latest(Medium::Local, peer).unwrap_err();
        let called = ReceiveMode::Asynchronous;
        assert_eq!(error, Error::OtherMode { from: peer, medium: Medium::Local, called });
        calls.send(Medium::Local, peer, &[me as u16])?;
        calls.receive(Medium::Local, peer, &mut words)?;
        assert_eq!(words, [peer as u16]);
        drop(calls);
        paslib.close(rank)
    });
}

#[test]
fn a_wrong_checksum_is_found_and_the_next_buffer_is_right() {
    for mode in [ReceiveMode::Synchronous, ReceiveMode::Asynchronous] {
        let program = match mode {
            ReceiveMode::Synchronous => {
                |rank: &mut dyn Rank| spoiled(rank, ReceiveMode::Synchronous)
            }
            ReceiveMode::Asynchronous => {
                |rank: &mut dyn Rank| spoiled(rank, ReceiveMode::Asynchronous)
            }
        };
        on_each_fabric(2, program);
    }
}

/// Sends three buffers, the second with a wrong checksum, and checks the receiver's error.
fn spoiled(rank: &mut dyn Rank, mode: ReceiveMode) -> Result<()> {
    let mut paslib = open(rank, mode)?;
    if rank.rank() == 0 {
        paslib.enter(rank).send(Medium::Global, 1, &[1, 2, 3])?;
        paslib.corrupt_next_checksum();
        paslib.enter(rank).send(Medium::Global, 1, &[4, 5, 6])?;
        meet(rank)?;
        paslib.enter(rank).send(Medium::Global, 1, &[7, 8, 9])?;
    } else {
        let mut calls = paslib.enter(rank);
        let mut words = Vec::new();
        let error = match mode {
            ReceiveMode::Synchronous => {
                calls.receive(Medium::Global, 0, &mut words)?;
                calls.receive(Medium::Global, 0, &mut words).unwrap_err()
            }
            ReceiveMode::Asynchronous => loop {
                if let Err(error) = calls.latest(Medium::Global, 0) {
                    break error;
                }
            },
        };
        assert!(matches!(error, Error::Checksum { from: 0, number: 1, .. }), "{error}");
        if mode == ReceiveMode::Asynchronous {
            let latest = calls.latest(Medium::Global, 0)?.expect("the one before stays");
            assert_eq!((latest.number, latest.words), (0, &[1, 2, 3][..]));
        }
        drop(calls);
        meet(rank)?;
        let mut calls = paslib.enter(rank);
        match mode {
            ReceiveMode::Synchronous => calls.receive(Medium::Global, 0, &mut words)?,
            ReceiveMode::Asynchronous => {
                while calls.latest(Medium::Global, 0)?.is_some_and(|latest| latest.number != 2) {}
                let latest = calls.latest(Medium::Global, 0)?;
                words = latest.map(|latest| latest.words.to_vec()).unwrap_or_default();
            }
        }
        assert_eq!(words, [7, 8, 9]);
    }
    paslib.close(rank)
}

#[test]
fn both_modes_for_one_pair_are_refused_on_all_ranks() {
    on_each_fabric(2, |rank| {
        let mixed = [
            (1, Medium::Local, ReceiveMode::Synchronous),
            (1, Medium::Global, ReceiveMode::Asynchronous),
            (1, Medium::Local, ReceiveMode::Asynchronous),
        ];
        let expected = if rank.rank() == 1 { &mixed[..] } else { &[] };
        let error = Paslib::open(rank, expected).map(drop).unwrap_err();
        let wanted = [
            Error::PartnersRefused { by: 1 },
            Error::MixedModes { from: 1, medium: Medium::Local },
        ];
        assert_eq!(error, wanted[rank.rank()]);
        Ok(())
    });
}

#[test]
fn a_wait_for_a_buffer_that_nobody_sends_ends_with_an_error() {
    let error = failure(2, |rank| {
        let mut paslib = open(rank, ReceiveMode::Synchronous)?;
        paslib.enter(rank).receive(Medium::Local, 1, &mut Vec::new())?;
        paslib.close(rank)
    });
    assert!(error.contains("deadlock") || error.contains("waits"), "{error}");
}
