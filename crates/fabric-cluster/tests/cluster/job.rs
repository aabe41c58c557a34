//! The start of the ranks of a case, and their programs.

use contract::Process;
use fabric_cluster::{ClusterEndpoint, OuterFabric, is_job, job_of, join};
use fabric_shm::launch_options;
use fabric_tcp::{HostPart, StartOptions, Starting};
use launcher::{Binding, LaunchError, Seat};

use crate::cases;
use crate::started::{self, gather};

/// Set in the process of a host, and in its ranks.
const HOST: &str = "FABRIC_CLUSTER_TEST_HOST";

/// Ranks of a host need not follow one another: three hosts have 0, 3 and from 9 on; 1, 2 and 5 to 8; and 4.
const HOSTS: &str =
    "localhost:1\n127.0.0.1:2\nlocalhost:1\n127.0.0.2:1\n127.0.0.1:4\nlocalhost:9\n";

/// Starts `ranks` ranks that run `case`, and collects their reports. Between hosts they use a provider of libfabric, or
/// TCP.
pub(crate) fn start_and_gather(
    provider: Option<&str>,
    ranks: usize,
    case: &str,
) -> (Result<(), LaunchError>, Vec<Vec<u8>>) {
    let options = started::options(HOSTS, ranks, HOST, case.into());
    gather(&StartOptions {
        starting: Starting::EachHost {
            task: provider.unwrap_or_default().into(),
            any_program: false,
        },
        processors: Vec::new(),
        ..options
    })
}

/// Runs a host's or a rank's part, if this process is one, and returns its status.
pub(crate) fn serve() -> Option<i32> {
    if let Some(seat) = Seat::take() {
        let seat = seat.expect("the launcher is of this build");
        assert!(is_job(seat.job()));
        return Some(join(seat).map_or(1, |(rank, case)| run(rank, &case)));
    }
    std::env::var_os(HOST)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [call, ranks] = &arguments[..] else { panic!("an address and ranks") };
    let part = HostPart::read(call, ranks).expect("the starter is of this build");
    let outer = match part.task.as_str() {
        "" => OuterFabric::Tcp,
        provider => OuterFabric::Ofi { provider: Some(provider.into()) },
    };
    let mut options = launch_options(part.ranks.len(), job_of(&part, &outer));
    options.waits_for_descriptors = true;
    options.binding = Binding::None;
    Some(part.run(&options, None, &mut |_| {}).unwrap_or(1))
}

fn run(mut rank: Process<ClusterEndpoint>, case: &[u8]) -> i32 {
    let reporter = rank.endpoint().reporter();
    let case = String::from_utf8_lossy(case);
    let outcome = match case.split_once(' ') {
        Some(("twins", _)) => crate::twins::program(rank.endpoint_mut()),
        Some(("mixed", name)) => crate::mixed::program(&mut rank.world(), name),
        _ => cases::program_of_endpoint(rank.endpoint_mut(), &case)
            .or_else(|| cases::program(&mut rank.world(), |own| reporter.report(own), &case))
            .unwrap_or_else(|| cases::no_case(&case)),
    };
    rank.finish(outcome)
}
