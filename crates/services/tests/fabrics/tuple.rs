//! The tuple space.

use contract::{Rank, TimeSpan};
use services::{
    Error, Field, FieldKind, Function, Result, Template, Tuple, TupleOperations, TupleSpace,
};

use crate::on_each_fabric;

/// A time so long that no test reaches its end, also in virtual time.
const FOR_EVER: TimeSpan = TimeSpan::from_us(1_000_000_000);
/// A time so short that waiting for its end takes little.
const SHORT: TimeSpan = TimeSpan::from_us(300);

/// Runs `body` at each rank, as a member, in a space at the last rank with room for 1000 tuples.
fn in_space(
    rank: &mut dyn Rank,
    body: impl FnOnce(&mut TupleOperations<'_>) -> Result<()>,
) -> Result<()> {
    let home = rank.size() - 1;
    let mut space = TupleSpace::open(rank, home, 1000)?;
    let mut operations = space.enter(rank);
    operations.join()?;
    body(&mut operations)?;
    drop(operations);
    space.close(rank)
}

fn task(number: i64) -> Tuple {
    Tuple(vec!["task".into(), number.into()])
}

fn any_task() -> Template {
    Template(vec!["task".into(), FieldKind::Integer.into()])
}

fn result(number: i64, square: i64) -> Tuple {
    Tuple(vec!["result".into(), number.into(), square.into()])
}

fn any_result() -> Template {
    Template(vec!["result".into(), FieldKind::Integer.into(), FieldKind::Integer.into()])
}

#[test]
fn what_is_put_is_read_and_taken_once() {
    on_each_fabric(1, |rank| {
        in_space(rank, |operations| {
            assert_eq!(operations.inp(&any_task())?, None);
            operations.out(task(4))?;
            operations.out(task(5))?;
            assert_eq!(operations.rdp(&any_task())?, Some(task(4)));
            assert_eq!(operations.rd(&Template(vec!["task".into(), 5.into()]))?, task(5));
            assert_eq!(operations.in_(&any_task())?, task(4));
            assert_eq!(operations.inp(&any_task())?, Some(task(5)));
            assert_eq!(operations.rdp(&any_task())?, None);
            // The values are the same, but not the types.
            operations.out(Tuple(vec!["task".into(), 4.0.into()]))?;
            assert_eq!(operations.rdp(&any_task())?, None);
            Ok(())
        })
    });
}

#[test]
fn a_bag_of_tasks_is_emptied_by_whoever_has_time() {
    for ranks in [1, 2, 5] {
        on_each_fabric(ranks, |rank| {
            let me = rank.rank();
            in_space(rank, |operations| {
                if me == 0 {
                    (0..60).try_for_each(|number| operations.out(task(number)))?;
                }
                // Every task is taken by one rank. The loop ends when no more tasks can come.
                loop {
                    match operations.in_(&any_task()) {
                        Ok(tuple) => {
                            let number = tuple.integer(1)?;
                            operations.out(result(number, number * number))?;
                        }
                        Err(Error::NoProducerLeft) => break,
                        Err(error) => return Err(error),
                    }
                }
                if me == 0 {
                    let mut results = Vec::new();
                    while let Some(tuple) = operations.inp(&any_result())? {
                        results.push((tuple.integer(1)?, tuple.integer(2)?));
                    }
                    results.sort_unstable();
                    let expected: Vec<_> =
                        (0..60).map(|number| (number, number * number)).collect();
                    assert_eq!(results, expected);
                }
                Ok(())
            })
        });
    }
}

#[test]
fn one_tuple_is_read_by_all_and_taken_by_one() {
    on_each_fabric(4, |rank| {
        let me = rank.rank() as i64;
        let read = |number: i64| vec!["read".into(), number.into()];
        in_space(rank, |operations| {
            if me > 0 {
                assert_eq!(operations.rd(&any_task())?, task(7));
                return operations.out(Tuple(vec!["read".into(), me.into()]));
            }
            operations.out(task(7))?;
            (1..4).try_for_each(|number| operations.in_(&Template(read(number))).map(drop))?;
            assert_eq!(operations.in_(&any_task())?, task(7));
            assert_eq!(operations.inp(&any_task())?, None);
            Ok(())
        })
    });
}

fn square(argument: &Tuple) -> Result<Tuple> {
    let number = argument.integer(0)?;
    Ok(result(number, number * number))
}

#[test]
fn eval_is_computed_by_workers_that_come_and_go() {
    const SQUARE: &[Function] = &[square];
    on_each_fabric(3, |rank| {
        let me = rank.rank();
        in_space(rank, |operations| {
            if me == 0 {
                for number in 0..30 {
                    operations.eval(0, &Tuple(vec![number.into()]))?;
                }
                let mut sum = 0;
                for number in 0..30 {
                    let wanted = ["result".into(), number.into(), FieldKind::Integer.into()];
                    sum += operations.in_(&Template(wanted.to_vec()))?.integer(2)?;
                }
                // The sum of the squares of 0 to n is n (n + 1) (2 n + 1) / 6.
                assert_eq!(sum, 29 * 30 * 59 / 6);
                return Ok(());
            }
            loop {
                match operations.work(SQUARE, FOR_EVER) {
                    Ok(()) => {}
                    Err(Error::NoProducerLeft) => return Ok(()),
                    Err(error) => return Err(error),
                }
                operations.leave()?;
                operations.join()?;
            }
        })
    });
}

#[test]
fn a_worker_that_leaves_in_mid_task_gives_it_back() {
    on_each_fabric(2, |rank| {
        let me = rank.rank();
        in_space(rank, |operations| {
            if me == 0 {
                operations.out(task(1))?;
                let leased = operations.lease(&any_task(), FOR_EVER)?;
                assert_eq!((leased.tuple.integer(1)?, operations.rdp(&any_task())?), (1, None));
                operations.leave()?;
                assert_eq!(operations.out(task(2)), Err(Error::NotMember));
                operations.join()?;
                assert_eq!(operations.complete(&leased, vec![task(3)]), Err(Error::LeaseLost));
                assert_eq!(operations.give_back(leased), Err(Error::LeaseLost));
                operations.out(Tuple(vec!["left".into()]))?;
            } else {
                operations.in_(&Template(vec!["left".into()]))?;
                assert_eq!(operations.in_(&any_task())?, task(1));
                assert_eq!(operations.inp(&any_task())?, None);
            }
            Ok(())
        })
    });
}

#[test]
fn the_task_of_a_worker_that_vanishes_is_done_by_another_and_counts_once() {
    on_each_fabric(3, |rank| {
        let me = rank.rank();
        in_space(rank, |operations| {
            match me {
                0 => {
                    operations.out(task(9))?;
                    // This rank takes the task, and neither completes it nor gives it back.
                    let leased = operations.lease(&any_task(), SHORT)?;
                    operations.out(Tuple(vec!["taken".into()]))?;
                    operations.in_(&any_result())?;
                    // It comes back too late, so its result must not count.
                    let late = operations.complete(&leased, vec![result(9, 81)]);
                    assert_eq!(late, Err(Error::LeaseLost));
                    assert_eq!(operations.rdp(&any_result())?, None);
                }
                1 => {
                    operations.in_(&Template(vec!["taken".into()]))?;
                    let leased = operations.lease(&any_task(), FOR_EVER)?;
                    let number = leased.tuple.integer(1)?;
                    operations.renew(&leased)?;
                    operations.complete(&leased, vec![result(number, number * number)])?;
                }
                _ => {}
            }
            Ok(())
        })
    });
}

#[test]
fn what_a_space_refuses_is_named_and_does_no_harm() {
    on_each_fabric(2, |rank| {
        let missing = TupleSpace::open(rank, 2, 10).err().map(|error| error.to_string());
        assert_eq!(missing.as_deref(), Some("there is no rank 2: the run has ranks 0 to 1"));
        let mut space = TupleSpace::open(rank, 0, 2)?;
        let mut operations = space.enter(rank);
        assert_eq!(operations.inp(&any_task()), Err(Error::NotMember));
        operations.join()?;
        if operations.rank().rank() == 1 {
            let long = Tuple(vec![Field::Bytes(vec![0; 70_000])]);
            assert_eq!(operations.out(long), Err(Error::TupleTooLong { bytes: 70_004, fields: 1 }));
            operations.out(task(1))?;
            operations.out(task(2))?;
            let full = operations.out(task(3)).unwrap_err();
            assert_eq!(full.to_string(), "the tuple space is full: it may hold 2 tuples");
            // The place of a tuple on lease is kept. Completing it frees the place for one result.
            let leased = operations.lease(&any_task(), FOR_EVER)?;
            assert_eq!(operations.out(task(3)), Err(full.clone()));
            assert_eq!(operations.complete(&leased, vec![task(4), task(5)]), Err(full));
            operations.complete(&leased, vec![task(6)])?;
            assert_eq!(operations.work(&[], FOR_EVER), Err(Error::NoProducerLeft));
            assert_eq!(
                [operations.in_(&any_task())?, operations.in_(&any_task())?],
                [task(2), task(6)]
            );
            operations.eval(5, &task(0))?;
            assert_eq!(
                operations.work(&[square], FOR_EVER),
                Err(Error::NoFunction { function: 5 })
            );
        }
        drop(operations);
        space.close(rank)
    });
}

#[test]
fn a_wait_for_what_nobody_can_put_ends() {
    on_each_fabric(3, |rank| {
        in_space(rank, |operations| {
            assert_eq!(operations.in_(&any_task()), Err(Error::NoProducerLeft));
            Ok(())
        })
    });
}
