//! Fabrics with deliberate faults: each has one, which the suite must detect.

mod contexts;
mod endpoint;
mod fabric;
mod rank;
mod system;

use super::{Case, cases, find};
use crate::reference;
use contract::{Rank, Reduction, Result};
use fabric::Broken;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    SwapsNeighbours,
    ShortOvertakesLong,
    DeliversTwice,
    LosesEmptyMessages,
    RefusesOneself,
    AcceptsAnyDestination,
    IgnoresTags,
    CutsTags,
    NoReservedTags,
    DamagesLongMessages,
    LosesTheLastByte,
    WritesBehindTheMessage,
    TruncatesInSilence,
    KeepsTruncatedMessages,
    WrongSource,
    ProbeWrongLength,
    WaitAnyTakesTheFirst,
    ShowsMoreThanTheMessage,
    CutsWhatItGivesBack,
    PostsInTheOppositeOrder,
    ForgetsWhichHandlesEnded,
    WindowSendsOneMore,
    ClockGoesBack,
    WakesEarly,
    SleepsTooShort,
    WakesItself,
    WakesNobody,
    ComputesTwice,
    PrivateLine,
    OpenBarrier,
    BroadcastsFromZero,
    BroadcastsAnyLength,
    ScattersRotated,
    GathersReversed,
    AllgathersAnyLength,
    ForgetsInPlace,
    AllToAllUntransposed,
    AllreduceWrongAtOne,
    AllreduceInOwnOrder,
    ReducesToZero,
    ReduceScatterKeepsFirstBlock,
    ExclusiveScanIncludesOwn,
    SplitsWithoutKeys,
    SplitsWithoutColours,
    GivesEverybodyAContext,
    StaysInTheWorld,
}

/// The case that must detect each fault, and the number of ranks.
const FOUND_BY: [(Fault, usize, &str); 55] = [
    (Fault::SwapsNeighbours, 2, "order/one-pair"),
    (Fault::SwapsNeighbours, 3, "random/programs-of-blocking-calls"),
    (Fault::ShortOvertakesLong, 2, "order/lengths-do-not-overtake"),
    (Fault::DeliversTwice, 2, "order/one-pair"),
    (Fault::DeliversTwice, 3, "unexpected/from-all-sides"),
    (Fault::LosesEmptyMessages, 2, "sizes/blocking"),
    (Fault::RefusesOneself, 1, "order/messages-to-oneself"),
    (Fault::AcceptsAnyDestination, 1, "refused/ranks-beyond-the-last"),
    (Fault::IgnoresTags, 2, "order/tags-are-picked-out-of-order"),
    (Fault::IgnoresTags, 2, "order/interleaved-tags-keep-their-own-order"),
    (Fault::IgnoresTags, 3, "wildcards/any-source-with-a-tag"),
    (Fault::CutsTags, 2, "order/tags-at-the-limits"),
    (Fault::NoReservedTags, 2, "wildcards/never-take-a-collectives-message"),
    (Fault::NoReservedTags, 3, "wildcards/collectives-pass-waiting-messages"),
    (Fault::NoReservedTags, 3, "probe/is-blind-for-collectives"),
    (Fault::DamagesLongMessages, 2, "sizes/both-ways-at-once"),
    (Fault::DamagesLongMessages, 5, "collectives/broadcast"),
    (Fault::LosesTheLastByte, 3, "sizes/blocking"),
    (Fault::WritesBehindTheMessage, 2, "sizes/a-shorter-message-leaves-the-rest-alone"),
    (Fault::TruncatesInSilence, 2, "sizes/truncation-loses-one-message-only"),
    (Fault::KeepsTruncatedMessages, 2, "sizes/truncation-loses-one-message-only"),
    (Fault::WrongSource, 3, "wildcards/any-source-takes-each-message-once"),
    (Fault::ProbeWrongLength, 1, "probe/finds-a-message-and-leaves-it"),
    (Fault::WaitAnyTakesTheFirst, 2, "posted/wait-any-gives-the-one-that-ended"),
    (Fault::ShowsMoreThanTheMessage, 2, "in-place/shows-the-message-and-no-more"),
    (Fault::CutsWhatItGivesBack, 2, "in-place/shows-the-message-and-no-more"),
    (Fault::PostsInTheOppositeOrder, 2, "wildcards/the-receive-posted-first-matches-first"),
    (Fault::ForgetsWhichHandlesEnded, 1, "refused/a-handle-used-twice"),
    (Fault::WindowSendsOneMore, 2, "streams/a-window-takes-no-message-too-many"),
    (Fault::ClockGoesBack, 1, "clock/never-goes-back"),
    (Fault::WakesEarly, 1, "clock/wait-until-is-not-early"),
    (Fault::SleepsTooShort, 1, "operating-system/a-sleep-is-no-shorter-than-asked-for"),
    (Fault::WakesItself, 2, "operating-system/only-the-addressed-rank-is-woken"),
    (Fault::WakesNobody, 2, "operating-system/only-the-addressed-rank-is-woken"),
    (Fault::ComputesTwice, 1, "machine/compute-runs-its-body-once"),
    (Fault::PrivateLine, 2, "shared-line/all-ranks-see-the-same-words"),
    (Fault::OpenBarrier, 3, "collectives/nobody-leaves-a-barrier-before-the-last-enters"),
    (Fault::BroadcastsFromZero, 2, "collectives/broadcast"),
    (Fault::BroadcastsAnyLength, 4, "mistakes/broadcast-of-unequal-lengths"),
    (Fault::ScattersRotated, 3, "collectives/scatter"),
    (Fault::GathersReversed, 3, "collectives/gather"),
    (Fault::AllgathersAnyLength, 2, "refused/lengths-that-contradict-each-other"),
    (Fault::ForgetsInPlace, 2, "collectives/allgather-in-place"),
    (Fault::AllToAllUntransposed, 2, "collectives/all-to-all"),
    (Fault::AllreduceWrongAtOne, 5, "reductions/allreduce-of-each-kind"),
    (Fault::AllreduceInOwnOrder, 4, "reductions/the-same-bits-everywhere"),
    (Fault::ReduceScatterKeepsFirstBlock, 2, "reductions/reduce-scatter-of-each-kind"),
    (Fault::ExclusiveScanIncludesOwn, 2, "reductions/scans-of-each-kind"),
    (Fault::ReducesToZero, 3, "reductions/reduce-to-every-root"),
    (Fault::SplitsWithoutKeys, 3, "contexts/ranks-are-ordered-by-key"),
    (Fault::SplitsWithoutColours, 4, "contexts/colours-part-the-ranks"),
    (Fault::GivesEverybodyAContext, 2, "contexts/no-colour-gives-no-context"),
    (Fault::StaysInTheWorld, 3, "contexts/one-within-another"),
    (Fault::StaysInTheWorld, 2, "contexts/each-message-stays-in-its-own"),
    (Fault::StaysInTheWorld, 2, "contexts/a-rank-beyond-the-last-is-refused"),
];

fn passes(fault: Fault, ranks: usize, case: &'static Case) -> std::result::Result<(), String> {
    let outcome = reference::run(ranks, |machine| case.run(&mut Broken::new(machine, fault)));
    case.judge(ranks, outcome.map_err(|(rank, error)| format!("rank {rank}: {error}")))
}

#[test]
fn each_fault_is_found_by_its_case() {
    for (fault, ranks, name) in FOUND_BY {
        let case = find(name).unwrap_or_else(|| panic!("there is no case {name}"));
        let passed = passes(fault, ranks, case);
        assert!(passed.is_err(), "{name} does not find {fault:?} on {ranks} ranks");
    }
}

/// Checks that the suite does not detect the wrapper instead of the fault.
#[test]
fn without_a_fault_every_case_passes() {
    for case in cases().iter().filter(|case| case.runs_at(3)) {
        assert_eq!(passes(Fault::None, 3, case), Ok(()));
    }
}

/// Sums in the order of each rank are correct but not equal: only that one case may fail.
#[test]
fn the_case_of_equal_bits_is_not_a_second_test_of_sums() {
    let sums = find("reductions/allreduce-of-each-kind").unwrap();
    assert_eq!(passes(Fault::AllreduceInOwnOrder, 4, sums), Ok(()));
}

/// Returns the number of messages that this rank sends for a collective.
fn sent(machine: &mut dyn Rank, collective: fn(&mut dyn Rank) -> Result<()>) -> Result<usize> {
    let mut counting = Broken::new(machine, Fault::None);
    collective(&mut counting)?;
    Ok(counting.sent)
}

/// On 100 ranks: 7 steps for dissemination and trees, because 2^6 < 100 <= 2^7. For reductions 6 steps over the 64
/// ranks of the core, with one message before and one after for the 36 others.
#[test]
fn short_collectives_send_a_logarithmic_number_of_messages() {
    let outcome = reference::run(100, |machine| {
        let rank = machine.rank();
        assert_eq!(sent(machine, |m| m.barrier())?, 7);
        assert_eq!(sent(machine, |m| m.allgather(&[0; 4], &mut [0; 400]))?, 7);
        assert_eq!(sent(machine, |m| m.all_to_all(&[0; 400], &mut [0; 400]))?, 7);
        let root_and_leaf = |at_root, at_leaf| if rank == 0 { at_root } else { at_leaf };
        let broadcast = sent(machine, |m| m.broadcast(0, &mut [0; 8]))?;
        assert!(rank != 0 && rank % 2 == 0 || broadcast == root_and_leaf(7, 0));
        let scatter = sent(machine, |m| m.scatter(0, &[0; 800], &mut [0; 8]))?;
        assert_eq!(scatter, broadcast);
        let gather = sent(machine, |m| m.gather(0, &[0; 8], &mut [0; 800]))?;
        assert_eq!(gather, root_and_leaf(0, 1));
        let reduce = sent(machine, |m| m.reduce(0, Reduction::SUM_F64, &[0; 8], &mut [0; 8]))?;
        assert_eq!(reduce, root_and_leaf(0, 1));
        let allreduce = sent(machine, |m| m.allreduce(Reduction::SUM_F64, &[0; 8], &mut [0; 8]))?;
        assert_eq!(allreduce, if rank >= 64 { 1 } else { 6 + usize::from(rank < 36) });
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn a_run_with_an_undetected_mistake_fails() {
    let case = find("mistakes/a-program-that-gives-up").unwrap();
    assert!(case.judge(2, Ok(())).unwrap_err().contains("at least one must find the mistake"));
}
