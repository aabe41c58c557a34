//! Tests of call ids.

use super::*;

const SUM_OF_F64: ReductionId = ReductionId::new(1, 6);

fn in_words(id: CallId) -> String {
    id.to_string()
}

#[test]
fn calls_that_differ_in_one_property_have_different_ids_and_tags() {
    let reduce = CallId::rooted(Collective::Reduce, 3).combining(SUM_OF_F64);
    let rooted = |root| CallId::rooted(Collective::Reduce, root);
    let mut all = vec![
        reduce,
        CallId::rooted(Collective::Gather, 3).combining(SUM_OF_F64),
        reduce.in_form(Form::UnequalBlocks),
        reduce.in_manner(Manner::Nonblocking),
        reduce.in_manner(Manner::Persistent),
    ];
    all.extend((0..32).filter(|&root| root != 3).map(|root| rooted(root).combining(SUM_OF_F64)));
    let of = |operation, element| rooted(3).combining(ReductionId::new(operation, element));
    all.extend((2..16).map(|operation| of(operation, 6)));
    all.extend((0..16).filter(|&element| element != 6).map(|element| of(1, element)));
    for (index, one) in all.iter().enumerate() {
        assert_eq!(*one == reduce, index == 0);
        assert_eq!(one.for_tag() == reduce.for_tag(), index == 0, "{one:?}");
    }
    assert_eq!(reduce.in_manner(Manner::Blocking), reduce);
    // From the top: kind 7 << 2, manner 0, operation 1, element 6, no algorithm, root 3.
    assert_eq!(reduce.bits(), 28 << 26 | 1 << 20 | 6 << 16 | 3);
    // The kind 28; 3 from the root, 5 from the operation, 66 from the element, of which 2 remains.
    assert_eq!(reduce.for_tag(), 28 << 5 | 3 ^ 5 ^ 2);
}

#[test]
fn tags_of_all_calls_are_in_the_range_of_every_mpi() {
    let last = CallId::of_library(LibraryCall::File).in_manner(Manner::Persistent);
    // The tags above 2^28 - 2^20 are those from 2^11 - 2^3 on, without 17 further bits.
    assert!(last.after(u32::MAX).for_tag() < (1 << 11) - (1 << 3));
}

#[test]
fn an_id_is_described_by_its_properties() {
    use Collective::*;
    let reduce = CallId::rooted(Reduce, 1023).combining(SUM_OF_F64);
    assert_eq!(in_words(reduce), "reduce (sum of double-precision numbers) with root 1023");
    let started = reduce.in_manner(Manner::Nonblocking).by(Algorithm::Binomial);
    let words = "non-blocking reduce (sum of double-precision numbers) with root 1023";
    assert_eq!(
        (in_words(started), format!("{started:?}")),
        (words.into(), format!("{words} by binomial"))
    );
    let unequal = |collective| CallId::rooted(collective, 70).in_form(Form::UnequalBlocks);
    assert_eq!(in_words(unequal(Scatter)), "scatter of unequal blocks with root 70");
    assert_eq!(
        in_words(CallId::of(ReduceScatter).in_manner(Manner::Persistent)),
        "persistent reduce-scatter of equal blocks"
    );
    assert_eq!(in_words(CallId::of(ReduceScatter).in_form(Form::UnequalBlocks)), "reduce-scatter");
    assert_eq!(in_words(CallId::of(AllToAll)), "all-to-all");
    assert_eq!(
        in_words(CallId::of(AllToAll).in_form(Form::Neighbours)),
        "neighbourhood all-to-all"
    );
    assert_eq!(in_words(CallId::of(ExclusiveScan)), "exclusive scan");
    assert_eq!(in_words(CallId::of_library(LibraryCall::Finalize)), "MPI_Finalize");
    assert_eq!(in_words(CallId::of_library(LibraryCall::File)), "operation on a file");
    let of_library = CallId::of_library(LibraryCall::Duplicate).in_manner(Manner::Nonblocking);
    assert_eq!(in_words(of_library), "non-blocking duplication of a communicator");
    assert!(of_library.is_of_library() && !reduce.is_of_library());
    assert_eq!(in_words(CallId::from_bits(0)), "no collective");
    // The history of a barrier is not described.
    assert_eq!(format!("{:?}", CallId::of(Barrier).after(0xf_ffff)), "barrier");
}

#[test]
fn every_number_is_described_without_a_panic() {
    for kind in 0..64 {
        for rest in [0, 0x03ff_ffff, 0x0155_5555, 0x02aa_aaaa] {
            assert!(!format!("{:?}", CallId::from_bits(kind << 26 | rest)).is_empty());
        }
    }
    for bits in 0..1 << 10 {
        if let Some(id) = CallId::from_short(bits << 10) {
            assert!(!id.to_string().is_empty());
        }
    }
}

#[test]
fn a_short_form_is_read_as_it_was_written() {
    assert!(choices().count() <= 1 << 5, "{}", choices().count());
    for (collective, algorithm) in choices() {
        for (operation, element) in [(1, 1), (4, 6), (3, 2)] {
            let root = if collective.has_root() { 1000 } else { 0 };
            let plain = CallId::rooted(collective, root).by(algorithm);
            let combining = plain.combining(ReductionId::new(operation, element));
            for id in [plain, if collective.combines() { combining } else { plain }] {
                assert!(id.to_short() < 1 << 20);
                assert_eq!(CallId::from_short(id.to_short()), Some(id));
            }
        }
    }
    assert_eq!(CallId::from_short(u32::MAX), None);
}

#[test]
fn a_difference_is_explained_with_what_differs() {
    let broadcast = |root| CallId::rooted(Collective::Broadcast, root).by(Algorithm::Binomial);
    let explain = |own, theirs| CallId::explain_difference((2, own), (0, theirs));
    assert_eq!(explain(broadcast(1), broadcast(1)), None);
    assert_eq!(
        explain(broadcast(1), broadcast(0)).unwrap(),
        "rank 2 is in broadcast with root 1, rank 0 in broadcast with root 0"
    );
    let ring = CallId::rooted(Collective::Broadcast, 1).by(Algorithm::ScatterRing);
    assert_eq!(
        explain(broadcast(1), ring).unwrap(),
        "rank 2 is in broadcast with root 1 by binomial, rank 0 in broadcast with root 1 by scatter-ring"
    );
    let barrier = CallId::of(Collective::Barrier);
    assert_eq!(
        explain(barrier.after(5), barrier.after(6)).unwrap(),
        "rank 2 and rank 0 come to a barrier after different calls or lengths"
    );
    assert_eq!(
        explain(barrier, barrier.in_manner(Manner::Nonblocking)).unwrap(),
        "rank 2 is in barrier, rank 0 in non-blocking barrier"
    );
}
