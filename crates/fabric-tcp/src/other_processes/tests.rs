//! Processes of several runs, all of them in this one, which make progress in turn.
#![allow(unsafe_code)]

use std::time::{Duration, Instant};

use super::*;

/// Nothing here takes seconds; a test that waits longer has found a hang.
const HANG: Duration = Duration::from_secs(600);

fn until(all: &mut [OtherProcesses], mut done: impl FnMut(&mut [OtherProcesses]) -> bool) {
    let begin = Instant::now();
    while !done(all) {
        assert!(begin.elapsed() < HANG, "hangs");
        for one in &mut *all {
            one.progress().unwrap();
        }
    }
}

/// Returns processes of the runs 1, 2, ..., each rank 0 of one, which are all connected.
fn met(count: u64) -> Vec<OtherProcesses> {
    let mut all: Vec<_> =
        (1..=count).map(|run| OtherProcesses::begin(run, 0, 1).unwrap()).collect();
    let names: Vec<_> = all.iter().map(OtherProcesses::name).collect();
    for one in &mut all {
        names.iter().for_each(|name| assert!(one.meet(name) < names.len()));
    }
    let everybody: Vec<usize> = (0..count as usize).collect();
    until(&mut all, |all| {
        // Each of them makes the call, as each does in its own process.
        let reached: Vec<bool> = all.iter_mut().map(|one| one.reach(&everybody).unwrap()).collect();
        reached.iter().all(|&one| one)
    });
    all
}

fn send(from: &mut OtherProcesses, to: usize, context: u32, data: &'static [u8]) -> Request {
    // SAFETY: static memory lasts.
    let data = unsafe { Readable::new(data.as_ptr(), data.len()) };
    from.post_send(Destination { rank: to, context, tag: 9 }, data, Completion::Local).unwrap()
}

fn receive(at: &mut OtherProcesses, from: Option<u32>, context: u32) -> Request {
    let room = Box::leak(Box::new([0_u8; 8]));
    // SAFETY: leaked memory lasts.
    let room = unsafe { Writable::new(room.as_mut_ptr(), room.len()) };
    at.post_receive(Selector { context, source: from, tag: Some(9) }, room).unwrap()
}

/// Returns the number by which `one` knows `other`.
fn number(one: &mut OtherProcesses, other: &ProcessName) -> usize {
    one.meet(other)
}

#[test]
fn three_runs_have_a_context_that_each_knows_by_a_number_of_its_own() {
    let mut all = met(3);
    // Each uses some numbers before, so that all differ.
    for (index, one) in all.iter_mut().enumerate() {
        for _ in 0..index {
            one.offer_context();
        }
    }
    let offers: Vec<_> = all.iter_mut().map(OtherProcesses::offer_context).collect();
    let names: Vec<_> = all.iter().map(OtherProcesses::name).collect();
    let mut contexts = Vec::new();
    for (me, one) in all.iter_mut().enumerate() {
        let members: Vec<usize> = names.iter().map(|name| number(one, name)).collect();
        contexts.push(one.open_context(&members, me, &offers).unwrap().number);
    }
    assert!(contexts[0] != contexts[1] && contexts[1] != contexts[2]);
    for (from, to) in [(0, 1), (1, 0), (2, 1), (0, 2), (1, 1)] {
        let (target, source) = (names[to], names[from]);
        let there = number(&mut all[from], &target);
        let sent = send(&mut all[from], there, 2 * contexts[from] + 1, b"hello");
        let here = number(&mut all[to], &source) as u32;
        let received = receive(&mut all[to], None, 2 * contexts[to] + 1);
        until(&mut all, |all| all[from].is_done(sent) && all[to].is_done(received));
        let envelope = all[to].end(received);
        assert_eq!((envelope.source, envelope.bytes, envelope.tag), (here, 5, 9));
        all[from].end(sent);
    }
}

#[test]
fn an_open_port_answers_and_a_closed_one_sends_away() {
    let mut all =
        vec![OtherProcesses::begin(1, 0, 1).unwrap(), OtherProcesses::begin(2, 0, 1).unwrap()];
    let (name, port) = (all[0].name(), all[0].open_port());
    let mut found = None;
    until(&mut all, |all| {
        found = all[1].call(&name, port).unwrap();
        found.is_some()
    });
    assert_eq!(found, Some(1), "the first process of another run");
    until(&mut all, |all| all[1].reach(&[1]).unwrap());
    assert!(all[0].close_port(port) && !all[0].close_port(port));
    let mut refused = None;
    until(&mut all, |all| {
        refused = all[1].call(&name, port).err();
        refused.is_some()
    });
    assert!(refused.unwrap().to_string().contains("calling a process of another run"));
}

#[test]
fn a_process_that_is_gone_fails_only_ranks_that_need_it() {
    let mut all = met(3);
    let offers: Vec<_> = all.iter_mut().map(OtherProcesses::offer_context).collect();
    let names: Vec<_> = all.iter().map(OtherProcesses::name).collect();
    let mut contexts = Vec::new();
    for (me, one) in all.iter_mut().enumerate() {
        let members: Vec<usize> = names.iter().map(|name| number(one, name)).collect();
        contexts.push(one.open_context(&members, me, &offers).unwrap().number);
    }
    let (second, third) = (number(&mut all[0], &names[1]), number(&mut all[0], &names[2]));
    let from_the_dead = receive(&mut all[0], Some(third as u32), 2 * contexts[0]);
    let from_the_living = receive(&mut all[0], Some(second as u32), 2 * contexts[0]);
    drop(all.pop());
    until(&mut all, |all| all[0].any_has_left() && all[0].cannot_complete(from_the_dead));
    let error = all[0].give_up_on(from_the_dead);
    assert!(matches!(error, Error::RankDied { rank, .. } if rank == third), "{error}");
    assert!(!all[0].cannot_complete(from_the_living));
    let first = number(&mut all[1], &names[0]);
    send(&mut all[1], first, 2 * contexts[1], b"still");
    until(&mut all, |all| all[0].is_done(from_the_living));
}

#[test]
fn a_caller_that_sends_what_no_process_sends_is_closed_and_others_are_accepted() {
    let mut all =
        vec![OtherProcesses::begin(1, 0, 1).unwrap(), OtherProcesses::begin(2, 0, 1).unwrap()];
    let accepted = receive(&mut all[0], None, 2 * MEETING_CONTEXT);
    // It has been given the name of the port, and gives a name of its own.
    let corrupt = OtherProcesses::begin(3, 0, 1).unwrap().name();
    let Parts { secret, port, .. } = Parts::of(&all[0].name());
    let caller = Caller { purpose: Purpose::Process, rank: 0, wanted: 0 };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut call = Call::begin(address, caller, &secret, &corrupt.0).unwrap();
    until(&mut all, |_| call.advance().unwrap());
    let mut stream = call.into_stream();
    std::io::Write::write_all(&mut stream, &[99; 64]).unwrap();
    // Every progress meanwhile succeeds, as `until` checks.
    until(&mut all, |all| all[0].any_has_left());
    let (name, port) = (all[0].name(), all[0].open_port());
    until(&mut all, |all| all[1].call(&name, port).unwrap().is_some());
    until(&mut all, |all| all[1].reach(&[1]).unwrap());
    send(&mut all[1], 1, 2 * MEETING_CONTEXT, b"hello");
    until(&mut all, |all| all[0].is_done(accepted));
}
