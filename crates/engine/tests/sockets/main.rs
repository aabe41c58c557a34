//! A transport of its own under the message engine: the conformance suites over UNIX sockets. This program starts itself
//! again as the ranks of each case.

// Shared with the shared-memory fabric, whose launcher also starts these ranks.
#[path = "../../../fabric-shm/tests/ranks/cases.rs"]
mod cases;
#[path = "../../../fabric-shm/tests/ranks/harness.rs"]
#[allow(dead_code, reason = "other fabrics use the rest of it")]
mod harness;
mod transport;

use contract::{FabricDescription, Process, Result};
use engine::TransportEndpoint;
use hosts::Placement;
use launcher::{LaunchOptions, Seat};

use cases::{Counts, conformance_tests};
use harness::launch_and_gather;
use transport::Sockets;

const RANKS: Counts = Counts { few: &[2], others: &[1, 3, 5, 8] };

fn main() {
    if let Some(status) = serve() {
        std::process::exit(status);
    }
    let launch = |ranks, case: &str| {
        launch_and_gather(&LaunchOptions::new(ranks, case.as_bytes().to_vec())).0
    };
    std::process::exit(harness::run(conformance_tests::<TransportEndpoint<Sockets>>(
        "conformance",
        RANKS,
        launch,
    )));
}

/// Runs a rank's part and returns its status, if this process is a rank.
fn serve() -> Option<i32> {
    let joined = Seat::take()?.and_then(|seat| {
        let (case, reporter) = (String::from_utf8_lossy(seat.job()).into_owned(), seat.reporter());
        Ok((join(seat)?, case, reporter))
    });
    let (mut rank, case, reporter) = match joined {
        Ok(joined) => joined,
        Err(error) => {
            eprintln!("{error}");
            return Some(1);
        }
    };
    let outcome = cases::program_of_endpoint(rank.endpoint_mut(), &case).unwrap_or_else(|| {
        cases::program(&mut rank.world(), |own| reporter.report(own), &case)
            .unwrap_or_else(|| cases::no_case(&case))
    });
    Some(rank.finish(outcome))
}

fn join(seat: Seat) -> Result<Process<TransportEndpoint<Sockets>>> {
    let placement = Placement {
        every_rank_has_a_processor: seat.choices().every_rank_has_a_processor,
        hosts: 1,
        processor: seat.processor(),
    };
    let description = FabricDescription { name: "sockets".into(), ..FabricDescription::default() };
    TransportEndpoint::meet(Sockets::connect(seat)?, Some(placement), description)
}
