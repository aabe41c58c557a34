use std::sync::Mutex;

use super::run;
use contract::{Buffer, EAGER_BYTES, Error, Posted, Source, Tag, TagSelector};

const TAG: Tag = Tag::new(5);

#[test]
fn a_message_arrives() {
    let received = Mutex::new(Vec::new());
    run(2, |machine| {
        if machine.rank() == 0 {
            return machine.send(1, TAG, b"corner turn");
        }
        let mut buffer = [0; 20];
        let status = machine.receive(Source::Any, TagSelector::Any, &mut buffer)?;
        received.lock().unwrap().extend_from_slice(&buffer[..status.bytes]);
        Ok(())
    })
    .unwrap();
    assert_eq!(received.into_inner().unwrap(), b"corner turn");
}

#[test]
fn a_rank_that_fails_is_named_to_all_others() {
    let results = Mutex::new(Vec::new());
    let outcome = run(3, |machine| {
        if machine.rank() == 1 {
            return Err(Error::Program("the check sum is wrong".into()));
        }
        let result = machine.receive(Source::Rank(1), TAG.into(), &mut []).map(drop);
        results.lock().unwrap().push(result.clone());
        result
    });
    let died = Error::RankDied { rank: 1, how: "the check sum is wrong".into() };
    assert_eq!(results.into_inner().unwrap(), [Err(died.clone()), Err(died)]);
    assert_eq!(outcome, Err((1, Error::Program("the check sum is wrong".into()))));
}

#[test]
fn a_rank_that_panics_ends_the_run() {
    let outcome = run(2, |machine| {
        if machine.rank() == 0 {
            std::panic::resume_unwind(Box::new("lost"));
        }
        machine.receive(Source::Rank(0), TAG.into(), &mut []).map(drop)
    });
    assert_eq!(outcome, Err((0, Error::Program("the rank panicked: lost".into()))));
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let outcome = run(3, |machine| match machine.rank() {
        0 => machine.receive(Source::Rank(1), TAG.into(), &mut []).map(drop),
        1 => machine.send(0, Tag::new(6), &[0; EAGER_BYTES + 1]),
        _ => Ok(()),
    });
    let explanation = "rank 0 waits to receive tag 5 from rank 1; \
                       rank 1 waits to send 1025 bytes with tag 6 to rank 0; rank 2 has ended";
    assert_eq!(outcome, Err((0, Error::Deadlock { explanation: explanation.into() })));
}

#[test]
fn short_messages_are_buffered_and_long_ones_wait() {
    let both_send_first = |bytes| {
        run(2, move |machine| {
            let other = 1 - machine.rank();
            machine.send(other, TAG, &vec![0; bytes])?;
            machine.receive(Source::Any, TAG.into(), &mut vec![0; bytes]).map(drop)
        })
    };
    assert_eq!(both_send_first(EAGER_BYTES), Ok(()));
    assert!(matches!(both_send_first(EAGER_BYTES + 1), Err((0, Error::Deadlock { .. }))));
}

#[test]
fn a_handle_that_was_completed_is_unknown() {
    run(1, |machine| {
        let posted = machine.post_send(0, TAG, Buffer::zeroed(1))?;
        let number = posted.number();
        machine.wait(posted)?;
        assert_eq!(machine.wait(Posted::new(number)).unwrap_err(), Error::UnknownRequest);
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_rank_asleep_on_the_shared_line_ends_with_the_run() {
    let outcome = run(2, |machine| {
        if machine.rank() == 1 {
            return Err(Error::Program("enough".into()));
        }
        let line = machine.shared_line().expect("the reference fabric has one");
        loop {
            line.sleep_while(0, 0);
        }
    });
    assert_eq!(outcome, Err((1, Error::Program("enough".into()))));
}
