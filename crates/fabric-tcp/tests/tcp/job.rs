//! Jobs of the ranks: a secret, if one host has all of them, and the name of a case.

use contract::{Error, Rank, Result};
use fabric_shm::{LaunchOptions, attach_if_rank};
use fabric_tcp::{Reporter, Secret, TcpProcess};

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
    let local = match attach_if_rank()? {
        Ok(local) => local,
        Err(error) => {
            eprintln!("{error}");
            return Some(1);
        }
    };
    let (secret, case) = local.job().split_first_chunk().expect("a secret comes first");
    let (secret, case) = (Secret::from_bytes(*secret), case.to_vec());
    Some(match fabric_tcp::local::join(local, &secret) {
        Ok(rank) => run(rank, &case),
        Err(_) => 1,
    })
}

fn serve_remote() -> i32 {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("standard input can be read");
    let secret = Secret::from_line(&line).expect("a secret comes first");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, rank, processor] = &arguments[..] else {
        panic!("an address, a rank and a processor")
    };
    fabric_tcp::remote::bind(processor).expect("it can be bound");
    let (address, rank) = (address.parse().expect("an address"), rank.parse().expect("a rank"));
    match fabric_tcp::remote::join(address, rank, &secret) {
        Ok((rank, case)) => run(rank, &case),
        Err(_) => 1,
    }
}

fn run(mut rank: TcpProcess, case: &[u8]) -> i32 {
    let reporter = rank.reporter();
    let case = String::from_utf8_lossy(case);
    let outcome = match case.strip_prefix("endpoint ") {
        Some(name) => crate::conformance::program_of_endpoint(rank.endpoint_mut(), name),
        None => program(&mut rank.world(), &reporter, &case),
    };
    rank.finish(outcome)
}

fn program(rank: &mut dyn Rank, reporter: &Reporter, case: &str) -> Result<()> {
    match case.split_once(' ') {
        Some(("conformance", name)) => crate::conformance::program(rank, name),
        Some(("deaths", name)) => {
            contract::conformance::deaths::one_dies(rank, |own| reporter.report(own), name)
        }
        Some(("messages", name)) => crate::messages::program(rank, name),
        _ => Err(Error::Program(format!("no group of cases for {case}"))),
    }
}
