//! Programs over the endpoint itself: operations for which the blocking interface has no call.
#![allow(unsafe_code)]

use contract::{
    Claim, CollectiveCall, Combine, Completion, ContextPlace, Destination, Endpoint, Error,
    LongWaits, Readable, ReductionId, Result, Selector, SimulatedTime, Time, TimeSpan, Writable,
};

use super::machine;
use crate::machine::find;
use crate::{Machine, Options, SimEndpoint, run_endpoints};

const CONTEXT: u32 = 4;

fn to_rank(rank: usize, tag: u32) -> Destination {
    Destination { rank, context: CONTEXT, tag }
}

/// Returns a switch. A poll takes 1 us; a message of 100 bytes is 1 us on a link, and nothing else takes time.
fn switch() -> Machine {
    machine(
        "[processor]\npolling_us = 1\n[protocol]\neager_bytes = 1024\n[network]\nshape = \"switch\"\nlink_mb_per_s = 100",
    )
}

fn of(data: &[u8]) -> Readable {
    // SAFETY: the tests keep their data until the request has ended.
    unsafe { Readable::new(data.as_ptr(), data.len()) }
}

fn into(room: &mut [u8]) -> Writable {
    // SAFETY: as above.
    unsafe { Writable::new(room.as_mut_ptr(), room.len()) }
}

fn from(source: u32, tag: u32) -> Selector {
    Selector { context: CONTEXT, source: Some(source), tag: Some(tag) }
}

fn us(endpoint: &SimEndpoint<'_>) -> u64 {
    endpoint.now().since(Time::ZERO).as_ps() / 1_000_000
}

fn run<T: 'static>(
    ranks: usize,
    program: impl Fn(SimEndpoint<'_>) -> Result<T> + 'static,
) -> std::result::Result<Vec<T>, crate::Failure> {
    run_endpoints(&switch(), &Options::new(ranks), program).map(|outcome| outcome.results)
}

/// Rank 1 posts its receive at 50 us. A send with local completion is done at once, a synchronous one only when the
/// receive is posted.
#[test]
fn a_synchronous_send_is_done_when_its_receive_is_posted() {
    let program = |mut endpoint: SimEndpoint<'_>| {
        let (data, mut room) = ([7; 100], [0; 100]);
        let mut times = Vec::new();
        for (tag, completion) in [(1, Completion::Local), (2, Completion::Synchronous)] {
            let request = if endpoint.rank() == 0 {
                endpoint.post_send(to_rank(1, tag), of(&data), completion)?
            } else {
                endpoint.wait_until_time(Time::ZERO + TimeSpan::from_us(50));
                endpoint.post_receive(from(0, tag), into(&mut room))?
            };
            endpoint.wait_any(&[request])?;
            endpoint.end(request);
            times.push(us(&endpoint));
        }
        Ok(times)
    };
    let times = run(2, program).unwrap();
    assert!(times[0][0] < 50 && times[0][1] >= 50, "{times:?}");
}

#[test]
fn the_message_is_in_its_room_when_the_request_is_done() {
    let received = run(2, |mut endpoint| {
        let mut room = [0; 3];
        if endpoint.rank() == 0 {
            endpoint.send(to_rank(1, 1), &[1, 2, 3, 4, 5])?;
            return Ok((room, 0, 0));
        }
        let request = endpoint.post_receive(from(0, 1), into(&mut room))?;
        endpoint.wait_until(&mut |endpoint| endpoint.is_done(request))?;
        let before = room;
        let envelope = endpoint.end(request);
        assert_eq!(
            (before, envelope),
            (room, contract::Envelope { context: CONTEXT, source: 0, tag: 1, bytes: 5, room: 3 })
        );
        Ok((room, envelope.bytes, envelope.room))
    });
    assert_eq!(received.unwrap()[1], ([1, 2, 3], 5, 3));
}

#[test]
fn a_claimed_message_is_received_by_whoever_knows_its_new_tag() {
    run(2, |mut endpoint| {
        if endpoint.rank() == 0 {
            // The long message is announced (RTS), and follows once it is received.
            endpoint.send(to_rank(1, 1), &[5; 100])?;
            let request = endpoint.post_send(to_rank(1, 1), of(&[6; 2000]), Completion::Local)?;
            endpoint.wait_any(&[request])?;
            let envelope = endpoint.end(request);
            assert_eq!((envelope.context, envelope.tag), (CONTEXT, 1));
            return Ok(());
        }
        let any = Selector { context: CONTEXT, source: None, tag: None };
        endpoint.wait_until(&mut |endpoint| {
            matches!(endpoint.probe(Selector { tag: Some(9), ..any }, None), Ok(None))
                && matches!(endpoint.probe(any, None), Ok(Some(_)))
        })?;
        let claimed =
            endpoint.probe(any, Some(Claim { context: 60, tag: 8 }))?.expect("it has arrived");
        assert_eq!((claimed.context, claimed.tag, claimed.bytes), (CONTEXT, 1, 100));
        let mut room = vec![0; 2000];
        endpoint.wait_until(&mut |endpoint| matches!(endpoint.probe(any, None), Ok(Some(_))))?;
        assert_eq!(
            endpoint
                .probe(any, Some(Claim { context: 60, tag: 9 }))?
                .expect("it has arrived")
                .bytes,
            2000
        );
        for (tag, bytes, value) in [(9, 2000, 6), (8, 100, 5)] {
            let selector = Selector { context: 60, source: Some(0), tag: Some(tag) };
            let envelope = endpoint.receive(selector, &mut room)?;
            assert_eq!((envelope.bytes, envelope.tag), (bytes, tag));
            assert!(room[..bytes].iter().all(|&byte| byte == value));
        }
        assert_eq!(endpoint.probe(any, None)?, None);
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_receive_is_cancelled_unless_a_message_has_found_it() {
    run(2, |mut endpoint| {
        let mut room = [0; 1];
        if endpoint.rank() == 0 {
            return endpoint.send(to_rank(1, 2), &[3]);
        }
        let lost = endpoint.post_receive(from(0, 1), into(&mut room))?;
        assert!(endpoint.cancel_receive(lost));
        let mut room = [0; 1];
        let found = endpoint.post_receive(from(0, 2), into(&mut room))?;
        endpoint.wait_any(&[found])?;
        assert!(!endpoint.cancel_receive(found));
        endpoint.end(found);
        assert_eq!(room, [3]);
        Ok(())
    })
    .unwrap();
}

/// Rank 0 sends at 10, 20 and 30 us; nothing else wakes rank 1, which polls once at the beginning and once for each
/// message.
#[test]
fn a_wait_looks_again_only_when_something_happened() {
    let polls = run(2, |mut endpoint| {
        if endpoint.rank() == 0 {
            for tag in 1..=3 {
                let time = TimeSpan::from_us(10 * u64::from(tag));
                endpoint.wait_until_time(Time::ZERO + time);
                endpoint.send(to_rank(1, tag), &[])?;
            }
            endpoint.wait_until_time(Time::ZERO + TimeSpan::from_us(100));
            return Ok(0);
        }
        let mut rooms = [[0; 1]; 3];
        let mut requests = Vec::new();
        for (tag, room) in (1..=3).zip(&mut rooms) {
            requests.push(endpoint.post_receive(from(0, tag), into(room))?);
        }
        let mut polls = 0;
        endpoint.wait_until(&mut |endpoint| {
            polls += 1;
            requests.iter().all(|&request| endpoint.is_done(request))
        })?;
        for request in requests {
            endpoint.end(request);
        }
        Ok(polls)
    });
    assert_eq!(polls.unwrap()[1], 4);
}

#[test]
fn a_wait_for_what_never_happens_is_a_deadlock() {
    let ended = run(2, |mut endpoint| {
        if endpoint.rank() == 0 {
            return Ok(());
        }
        let mut room = [0; 1];
        let request = endpoint.post_receive(from(0, 1), into(&mut room))?;
        endpoint.wait_until(&mut |endpoint| endpoint.is_done(request))
    });
    let explanation =
        "rank 0 has ended; rank 1 waits to receive tag 1 from rank 0 in context 2".into();
    assert_eq!(ended, Err((1, Error::Deadlock { explanation })));
}

/// A message that rank 0 sent before it left still arrives; only a receive of a message that it did not send
/// cannot complete.
#[test]
fn requests_of_ranks_that_left_cannot_complete_once_nothing_is_in_transit() {
    let ended = run(2, |mut endpoint| {
        if endpoint.rank() == 0 {
            let request = endpoint.post_send(to_rank(1, 1), of(&[1; 100]), Completion::Local)?;
            endpoint.leave()?;
            endpoint.wait_any(&[request])?;
            endpoint.end(request);
            return Ok(());
        }
        let (mut first, mut second) = ([0; 100], [0; 100]);
        let sent = endpoint.post_receive(from(0, 1), into(&mut first))?;
        let never = endpoint.post_receive(from(0, 2), into(&mut second))?;
        endpoint.wait_until(&mut |endpoint| endpoint.any_has_left())?;
        assert!(!endpoint.cannot_complete(sent) && endpoint.cannot_complete(never));
        assert!(endpoint.none_will_send(from(0, 2)) && !endpoint.none_will_send(from(1, 2)));
        endpoint.wait_any(&[sent])?;
        endpoint.end(sent);
        assert_eq!(first, [1; 100]);
        Err(endpoint.give_up_on(never))
    });
    let before = "it sent a message with tag 2 that is waited for".into();
    assert_eq!(ended, Err((1, Error::RankEnded { rank: 0, before })));
}

/// After its last call a program takes part in one more barrier with the others, although some have left long before.
#[test]
fn a_rank_that_has_left_still_waits_for_what_all_do_together() {
    let ended = run(2, |mut endpoint| {
        endpoint.leave()?;
        if endpoint.rank() == 0 {
            let request =
                endpoint.post_send(to_rank(1, 1), of(&[1; 100]), Completion::Synchronous)?;
            assert!(!endpoint.cannot_complete(request));
            endpoint.wait_any(&[request])?;
            endpoint.end(request);
            return Ok(());
        }
        let mut room = [0; 100];
        let request = endpoint.post_receive(from(0, 1), into(&mut room))?;
        endpoint.wait_until(&mut |endpoint| endpoint.any_has_left())?;
        assert!(!endpoint.cannot_complete(request) && !endpoint.none_will_send(from(0, 1)));
        endpoint.wait_any(&[request])?;
        endpoint.end(request);
        assert_eq!(room, [1; 100]);
        Ok(())
    });
    assert!(ended.is_ok(), "{ended:?}");
}

/// Elements of three bytes do not fit the pieces of 128 bytes: each piece holds 42 of them. The operation keeps the
/// left element of each pair, so rank 0's data are the result everywhere.
#[test]
fn boards_combine_elements_of_any_length_with_any_operation() {
    let boards = machine(super::boards::BOARDS);
    let program = |mut endpoint: SimEndpoint<'_>| {
        let own: Vec<u8> = (0..300u32).map(|i| (i as u8) ^ (endpoint.rank() as u8 * 17)).collect();
        let mut result = vec![0; 300];
        let mut keep_left = |left: *const u8, _: *const u8, result: *mut u8, bytes: usize| {
            assert_eq!(bytes % 3, 0, "no element is cut");
            // SAFETY: the fabric passes places of as many bytes, and only right and result may be the same.
            unsafe { std::ptr::copy(left, result, bytes) };
        };
        let combine =
            Combine { element_bytes: 3, id: ReductionId::new(1, 0), apply: &mut keep_left };
        let call = CollectiveCall::allreduce(of(&own), into(&mut result), combine);
        endpoint.collective(ContextPlace::WORLD, call, &mut |_| {}).expect("over boards")?;
        Ok(result)
    };
    let results = run_endpoints(&boards, &Options::new(3), program).unwrap().results;
    let expected: Vec<u8> = (0..300u32).map(|i| i as u8).collect();
    assert!(results.iter().all(|result| *result == expected));
}

/// Blocks that are in their place already, as in MPI's interface.
#[test]
fn boards_leave_blocks_where_they_are() {
    let boards = machine(super::boards::BOARDS);
    let program = |mut endpoint: SimEndpoint<'_>| {
        let me = endpoint.rank() as u8;
        let mut all = [me, me + 10, me + 20];
        let receive = into(&mut all);
        let call = CollectiveCall::all_to_all(1, None, receive);
        endpoint.collective(ContextPlace::WORLD, call, &mut |_| {}).expect("over boards")?;
        assert_eq!(all, [10 * me, 10 * me + 1, 10 * me + 2]);
        let mut gathered = [9, 9, me];
        let root = me == 2;
        let receive = if root { into(&mut gathered) } else { Writable::empty() };
        let call = CollectiveCall::gather(2, 1, (!root).then(|| of(&[4])), receive);
        endpoint.collective(ContextPlace::WORLD, call, &mut |_| {}).expect("over boards")?;
        Ok(gathered)
    };
    let results = run_endpoints(&boards, &Options::new(3), program).unwrap().results;
    assert_eq!(results[2], [4, 4, 2]);
}

/// A rank that cannot take part with the right length reports that to all others.
#[test]
fn a_length_that_is_stated_fails_every_rank() {
    for machine in [machine(super::boards::BOARDS), find("sharc-ring").unwrap()] {
        let program = |mut endpoint: SimEndpoint<'_>| {
            let mut all = [0; 8];
            let stated = (endpoint.rank() == 1).then_some(3);
            let receive = into(&mut all);
            let call = CollectiveCall::allgather(4, Some(of(&[0; 4])), receive).stating(stated);
            let outcome = endpoint.collective(ContextPlace::WORLD, call, &mut |_| {});
            Ok(matches!(outcome, Some(Err(Error::UnequalCounts { .. }))))
        };
        let results = run_endpoints(&machine, &Options::new(2), program).unwrap().results;
        assert_eq!(results, [true, true]);
    }
}

/// Rank 0 forwards the message of rank 2, and rank 1 enters the barrier only when it has received that.
#[test]
fn what_is_under_way_goes_on_while_a_rank_waits_in_a_collective_of_the_machine() {
    let program = |mut endpoint: SimEndpoint<'_>| {
        let (mut room, data) = ([0; 4], [1, 2, 3, 4]);
        let mut receive = None;
        match endpoint.rank() {
            0 => receive = Some(endpoint.post_receive(from(2, 1), into(&mut room))?),
            1 => drop(endpoint.receive(from(0, 1), &mut room)?),
            _ => {
                endpoint.wait_until_time(Time::ZERO + TimeSpan::from_us(5000));
                endpoint.send(to_rank(0, 1), &data)?;
            }
        }
        let start = room.as_ptr();
        let idle = &mut |endpoint: &mut SimEndpoint<'_>| {
            let Some(request) = receive.filter(|&request| endpoint.is_done(request)) else {
                return;
            };
            endpoint.end(request);
            receive = None;
            // SAFETY: `room` lasts until the send has ended. A short send ends at once, which is asserted below.
            let room = unsafe { Readable::new(start, 4) };
            let sent = endpoint.post_send(to_rank(1, 1), room, Completion::Local).expect("sent");
            assert!(endpoint.is_done(sent));
            endpoint.end(sent);
        };
        endpoint
            .collective(ContextPlace::WORLD, CollectiveCall::barrier(), idle)
            .expect("it has one")?;
        Ok(room)
    };
    for machine in [machine(super::boards::BOARDS), find("sharc-ring").unwrap()] {
        let results = run_endpoints(&machine, &Options::new(3), program).unwrap().results;
        assert_eq!(results[1], [1, 2, 3, 4], "{}", machine.name);
    }
}

/// Rank 0 answers the message of rank 1, and rank 1 enters the barrier only when it has the answer. No rank has posted
/// a receive: rank 0 probes.
#[test]
fn a_rank_that_looks_for_messages_in_a_collective_of_the_machine_is_woken_by_one() {
    let program = |mut endpoint: SimEndpoint<'_>| {
        let (question, answer) = (from(1, 1), from(0, 2));
        let mut is_answered = endpoint.rank() != 0;
        if endpoint.rank() == 1 {
            endpoint.wait_until_time(Time::ZERO + TimeSpan::from_us(5000));
            endpoint.send(to_rank(0, 1), &[1])?;
            endpoint.receive(answer, &mut [0])?;
        }
        let idle = &mut |endpoint: &mut SimEndpoint<'_>| {
            if is_answered || endpoint.probe(question, None) == Ok(None) {
                return;
            }
            is_answered = true;
            let sent = endpoint.post_send(to_rank(1, 2), of(&[2]), Completion::Local).unwrap();
            assert!(endpoint.is_done(sent));
            endpoint.end(sent);
        };
        let barrier = endpoint.collective(ContextPlace::WORLD, CollectiveCall::barrier(), idle);
        barrier.expect("it has one")
    };
    for machine in [machine(super::boards::BOARDS), find("sharc-ring").unwrap()] {
        let ended = run_endpoints(&machine, &Options::new(2), program).map(drop);
        assert_eq!(ended, Ok(()), "{}", machine.name);
    }
}
