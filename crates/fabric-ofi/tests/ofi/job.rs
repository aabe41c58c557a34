//! The job of the ranks: a secret, a provider, and the name of a case, one line each.

use contract::Process;
use fabric_ofi::{OfiEndpoint, join};
use fabric_tcp::{Secret, local, remote};
use launcher::{LaunchOptions, Seat};

use crate::cases;
use crate::started::{self, Call};

/// Set in the processes of a run on several hosts.
pub(crate) const REMOTE: &str = "FABRIC_OFI_TEST_RANK";

/// Returns a launch of `ranks` ranks on this host that run `case` over `provider`.
pub(crate) fn options(ranks: usize, provider: &str, case: &str) -> LaunchOptions {
    let secret = Secret::generate().expect("the system has random numbers");
    LaunchOptions::new(ranks, format!("{}\n{provider}\n{case}", secret.to_line()).into_bytes())
}

/// Runs a rank's part if this process is a rank, and returns its exit status.
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
    let job = String::from_utf8(seat.job().to_vec()).expect("lines");
    let mut lines = job.splitn(3, '\n');
    let (secret, provider, case) = (lines.next(), lines.next(), lines.next());
    let secret = secret.and_then(Secret::from_line).expect("a secret comes first");
    let joined = local::join(seat, &secret).and_then(|tcp| join(tcp, provider));
    Some(joined.map_or(1, |rank| run(rank, case.expect("a case"))))
}

fn serve_remote() -> i32 {
    let Call { address, rank, processor, secret } = started::call();
    remote::bind(&processor, &[]).expect("it can be bound");
    let joined = remote::join(address, rank, &secret).and_then(|(tcp, job)| {
        let job = String::from_utf8_lossy(&job).into_owned();
        let (provider, case) = job.split_once('\n').expect("a provider and a case");
        Ok((join(tcp, Some(provider))?, case.to_owned()))
    });
    joined.map_or(1, |(rank, case)| run(rank, &case))
}

fn run(mut rank: Process<OfiEndpoint>, case: &str) -> i32 {
    let reporter = rank.endpoint().transport().reporter();
    let outcome = match case.split_once(' ') {
        Some(("windows", name)) => crate::windows::program(&mut rank.world(), name),
        Some(("matching", _)) => crate::matching::program(rank.endpoint_mut()),
        Some(("messages", name)) => crate::messages::program(rank.endpoint_mut(), name),
        _ => cases::program_of_endpoint(rank.endpoint_mut(), case)
            .or_else(|| cases::program(&mut rank.world(), |own| reporter.report(own), case))
            .unwrap_or_else(|| cases::no_case(case)),
    };
    rank.finish(outcome)
}
