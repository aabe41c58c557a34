//! Jobs of the ranks: a secret, if one host has all of them, and the name of a case.

use contract::{Rank, Result};
use fabric_tcp::{Reporter, Secret, TcpProcess};
use launcher::{LaunchOptions, Seat};

use crate::cases;
use crate::started::{self, Call};

/// Set in the processes of a run on several hosts.
pub(crate) const REMOTE: &str = "FABRIC_TCP_TEST_RANK";

/// Returns a launch of `ranks` ranks on this host that run `case`.
pub(crate) fn options(ranks: usize, case: &str) -> LaunchOptions {
    let secret = Secret::generate().expect("the system has random numbers");
    LaunchOptions::new(ranks, [secret.as_bytes().as_slice(), case.as_bytes()].concat())
}

/// Runs a rank's part and returns its status, if this process is a rank.
pub(crate) fn serve() -> Option<i32> {
    if std::env::var_os(REMOTE).is_some() {
        return Some(serve_remote());
    }
    let seat = match Seat::take()? {
        Ok(seat) => seat,
        Err(error) => {
            eprintln!("{error}");
            return Some(1);
        }
    };
    let (secret, case) = seat.job().split_first_chunk().expect("a secret comes first");
    let (secret, case) = (Secret::from_bytes(*secret), case.to_vec());
    Some(match fabric_tcp::local::join(seat, &secret) {
        Ok(rank) => run(rank, &case),
        Err(_) => 1,
    })
}

fn serve_remote() -> i32 {
    let Call { address, rank, processor, secret } = started::call();
    fabric_tcp::remote::bind(&processor, &[]).expect("it can be bound");
    match fabric_tcp::remote::join(address, rank, &secret) {
        Ok((rank, case)) => run(rank, &case),
        Err(_) => 1,
    }
}

fn run(mut rank: TcpProcess, case: &[u8]) -> i32 {
    let reporter = rank.reporter();
    let case = String::from_utf8_lossy(case);
    let outcome = cases::program_of_endpoint(rank.endpoint_mut(), &case)
        .unwrap_or_else(|| program(&mut rank.world(), &reporter, &case));
    rank.finish(outcome)
}

fn program(rank: &mut dyn Rank, reporter: &Reporter, case: &str) -> Result<()> {
    match case.split_once(' ') {
        Some(("messages", name)) => crate::messages::program(rank, name),
        _ => cases::program(rank, |own| reporter.report(own), case)
            .unwrap_or_else(|| cases::no_case(case)),
    }
}
