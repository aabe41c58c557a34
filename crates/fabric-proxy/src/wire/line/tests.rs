//! The two ends of a line take turns, in one process.

use super::*;

const LONG: Duration = Duration::from_secs(100);

/// Both ends increment a counter in turns, with and without sleeps.
#[test]
fn two_ends_take_turns() {
    const TURNS: u64 = 2000;
    for spins in [0, SPINS] {
        let lines = Lines { spins, ..Lines::create(3).unwrap() };
        let (own, server) = (lines.line(2), lines.line(2));
        let counter = |line: &Line| line.room().cast::<u64>();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let server = server;
                for _ in 0..TURNS {
                    while !server.await_request(LONG) {}
                    // SAFETY: it is the server's turn.
                    unsafe { *counter(&server) += 1 };
                    server.reply();
                }
            });
            for turn in 0..TURNS {
                // SAFETY: it is the process's turn.
                unsafe { *counter(&own) += 1 };
                own.request();
                while !own.spin_for_reply() && !own.await_reply(LONG) {}
                // SAFETY: as above.
                assert_eq!(unsafe { *counter(&own) }, 2 * (turn + 1));
            }
        });
    }
}

#[test]
fn a_turn_that_was_left_open_is_taken_by_one_end() {
    let lines = Lines::create(1).unwrap();
    let (own, server) = (lines.line(0), lines.line(0));
    assert!(!server.is_open() && !server.take_open());
    own.leave_open();
    assert!(server.is_open() && !server.is_requested());
    assert!(own.close() && !server.take_open());
    own.leave_open();
    assert!(server.take_open() && server.is_requested() && !own.close());
    own.compute_since(7);
    server.give_back();
    assert!(own.spin_for_reply() && server.computes_since().is_some());
}

/// Sends a thousand numbers. The server takes all that it finds at once, and adds them up.
#[test]
fn what_is_left_open_is_read_once_by_whoever_takes_it() {
    const LAST: u64 = 1000;
    let lines = Lines::create(1).unwrap();
    let (own, server) = (lines.line(0), lines.line(0));
    // The buffer has a count, followed by as many numbers.
    let room = |line: &Line| line.room().cast::<u64>();
    let sum = std::thread::scope(|scope| {
        let server = scope.spawn(move || {
            let mut sum = 0;
            loop {
                if !server.take_open() && !server.await_request(Duration::from_micros(1)) {
                    continue;
                }
                // SAFETY: it is the server's turn, and `count` numbers were written.
                let numbers = unsafe {
                    let count = *room(&server) as usize;
                    *room(&server) = 0;
                    std::slice::from_raw_parts(room(&server).add(1), count)
                };
                sum += numbers.iter().sum::<u64>();
                let is_over = numbers.last() == Some(&LAST);
                server.give_back();
                if is_over {
                    return sum;
                }
            }
        });
        for number in 1..=LAST {
            if number > 1 && !own.close() {
                while !own.spin_for_reply() && !own.await_reply(LONG) {}
            }
            // SAFETY: it is the process's turn.
            unsafe {
                *room(&own) += 1;
                *room(&own).add(*room(&own) as usize) = number;
            }
            own.leave_open();
        }
        server.join().unwrap()
    });
    assert_eq!(sum, LAST * (LAST + 1) / 2);
}

#[test]
fn a_wait_ends_by_its_limit_and_by_the_state_of_the_run() {
    let lines = Lines::create(1).unwrap();
    let own = lines.line(0);
    assert!(!own.await_request(Duration::from_millis(1)));
    own.request();
    assert!(!own.await_reply(Duration::from_millis(1)));
    assert_eq!(own.state(), RunState::Runs);
    lines.set_state(RunState::Over);
    assert_eq!(own.state(), RunState::Over);
    lines.set_state(RunState::Stuck);
    assert_eq!(own.state(), RunState::Stuck);
}

#[test]
fn memory_of_long_contents_is_given_back() {
    let lines = Lines::create(1).unwrap();
    let own = lines.line(0);
    // SAFETY: nothing else uses the line.
    unsafe {
        own.room().add(KEPT_BYTES).write(7);
        own.room().write(5);
        own.set_bytes(KEPT_BYTES + 1);
        own.shrink();
        assert_eq!((own.room().read(), own.room().add(KEPT_BYTES).read()), (5, 0));
    }
}
