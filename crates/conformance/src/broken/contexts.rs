//! Faults of contexts and requests, planted in the endpoint, and the cases that must detect them.

use super::endpoint::{BrokenEndpoint, EndpointFault};
use crate::reference;
use crate::{Case, endpoint_cases, find};
use contract::{Endpoint, Error, Process};

/// The case of the ranks' suite that must detect each fault, and the number of ranks.
const FOUND_BY: [(EndpointFault, usize, &str); 6] = [
    (EndpointFault::IgnoresContexts, 2, "contexts/each-message-stays-in-its-own"),
    (EndpointFault::IgnoresContexts, 2, "contexts/a-wildcard-is-blind-for-others"),
    (EndpointFault::IgnoresContexts, 1, "contexts/a-probe-is-blind-for-others"),
    (EndpointFault::IgnoresContexts, 3, "contexts/posted-operations-of-two"),
    (EndpointFault::CutsContexts, 4, "contexts/many-numbers-are-told-apart"),
    (EndpointFault::ProbesOtherContexts, 1, "contexts/a-probe-is-blind-for-others"),
];

/// The case of the endpoints' own suite that must detect each fault.
const FOUND_BY_ENDPOINT: [(EndpointFault, &str); 15] = [
    (EndpointFault::SaysDoneTooEarly, "endpoint/a-receive-is-done-once-its-message-came"),
    (EndpointFault::ForgetsToCancel, "endpoint/a-cancelled-receive-takes-nothing"),
    (EndpointFault::ClaimsNothing, "endpoint/a-claimed-message-is-out-of-sight"),
    (EndpointFault::SynchronousAsLocal, "endpoint/a-synchronous-send-waits-for-its-receive"),
    (EndpointFault::SaysDoneTooEarly, "endpoint/wait-until-sees-every-end"),
    (EndpointFault::SendsAtOnceTwice, "endpoint/a-send-at-once-is-whole-or-nothing"),
    (EndpointFault::MixesCollectives, "endpoint/collectives-have-a-context-of-their-own"),
    (EndpointFault::NobodyLeaves, "endpoint/a-rank-that-has-left-is-known"),
    (EndpointFault::MatchesNone, "endpoint/a-late-collective-is-no-mismatch"),
    (EndpointFault::MatchesAll, "endpoint/a-mismatched-collective-is-found"),
    (EndpointFault::EndsStartedAtOnce, "endpoint/started-collectives-do-what-others-do"),
    (EndpointFault::EndsStartedAtOnce, "endpoint/a-started-barrier-waits-for-all"),
    (EndpointFault::EndsStartedBackwards, "endpoint/started-collectives-do-what-others-do"),
    (EndpointFault::SeesItsOwnMemory, "windows/random-programs-do-what-the-model-does"),
    (EndpointFault::SeesItsOwnMemory, "windows/updates-lose-nothing"),
];

fn passes(
    fault: EndpointFault,
    ranks: usize,
    case: &'static Case,
) -> std::result::Result<(), (usize, Error)> {
    reference::run_endpoints(ranks, |endpoint| {
        let mut process = Process::new(BrokenEndpoint::new(endpoint, fault));
        let outcome = case.run(&mut process.world());
        process.finish(outcome);
        Ok(())
    })
}

#[test]
fn each_fault_of_contexts_is_found_by_its_case() {
    for (fault, ranks, name) in FOUND_BY {
        let case = find(name).unwrap_or_else(|| panic!("there is no case {name}"));
        let passed = passes(fault, ranks, case);
        assert!(passed.is_err(), "{name} does not find {fault:?} on {ranks} ranks");
        assert_eq!(passes(EndpointFault::None, ranks, case), Ok(()), "{name} without a fault");
    }
}

#[test]
fn each_fault_of_an_endpoint_is_found_by_its_case() {
    let run = |fault, name: &str| {
        let cases = endpoint_cases::<BrokenEndpoint>();
        let case = cases.into_iter().find(|case| case.name == name);
        let case = case.unwrap_or_else(|| panic!("there is no case {name}"));
        reference::run_endpoints(2, |endpoint| {
            let mut endpoint = BrokenEndpoint::new(endpoint, fault);
            let outcome = (case.program)(&mut endpoint);
            endpoint.finish(outcome);
            Ok(())
        })
    };
    for (fault, name) in FOUND_BY_ENDPOINT {
        assert!(run(fault, name).is_err(), "{name} does not find {fault:?}");
        assert_eq!(run(EndpointFault::None, name), Ok(()), "{name} without a fault");
    }
}
