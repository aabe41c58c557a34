//! Tests that the header in the repository matches the data.

#[test]
fn the_header_is_not_stale() {
    let committed = include_str!("../../include/mpi.h");
    let is_current = committed == abi_generator::header().unwrap();
    assert!(is_current, "mpi.h is stale; run `cargo run -p libmpi-abi --example header`");
}
