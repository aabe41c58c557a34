//! The conformance suite of every fabric, with the collectives of the MPI and with those of the contract over its
//! messages.

use std::time::Duration;

use conformance::{Case, cases};
use contract::Tag;
use fabric_mpi::{Collectives, Flavour, Launcher};

use crate::harness::{Test, launch};
use crate::programs::Program;

/// Time limits, which only a hang reaches: more ranks than processors make some MPIs a thousand times slower.
const ALL_LIMIT: Duration = Duration::from_secs(1800);
const ONE_LIMIT: Duration = Duration::from_secs(300);

/// The smallest number of ranks at which every case runs, and different from a pair.
const MOST_CASES: usize = 3;

/// Returns the reason why this MPI cannot run this case, if there is one.
pub(crate) fn cannot(version: &str, tag_max: u32, case: &str) -> Option<String> {
    match case {
        // The case uses a tag in the middle of the contract's range.
        "order/tags-at-the-limits" if tag_max < Tag::MAX => {
            Some(format!("its tags end at {tag_max}, so some between are refused"))
        }
        "sizes/truncation-loses-one-message-only"
        | "sizes/truncation-of-a-posted-receive"
        | "in-place/a-message-that-is-too-long" => {
            // Observed with Open MPI 5.0.11, MPICH 5.0.2 and Intel MPI 2021.18.
            let overruns = version.starts_with("Open MPI");
            Some(if overruns {
                "it writes the whole of a long message behind a buffer that is too short".into()
            } else {
                "it does not tell the length of a message that it cuts".into()
            })
        }
        _ => None,
    }
}

/// Returns the reason why a mistake need not be found, if there is one.
fn unpromised(flavour: Flavour, case: &Case, collectives: Collectives) -> Option<&'static str> {
    match case.name {
        "mistakes/a-program-that-gives-up" | "mistakes/a-program-that-panics" => None,
        "mistakes/waiting-for-a-rank-that-ended" => {
            Some("a rank that has ended waits in MPI_Finalize for the others")
        }
        "mistakes/broadcast-of-lengths-worlds-apart"
        | "mistakes/allreduce-of-lengths-worlds-apart"
        | "mistakes/allgather-in-place-of-unequal-lengths"
            if collectives == Collectives::Contract =>
        {
            match flavour {
                Flavour::OpenMpi => {
                    Some("it writes a long message behind a buffer that is too short")
                }
                Flavour::Mpich => {
                    Some("of a long message that does not fit it says only that something failed")
                }
                Flavour::Intel | Flavour::Cornerstone => None,
            }
        }
        _ if collectives == Collectives::Mpi => {
            Some("an MPI does not promise to find ranks that call different collectives")
        }
        _ => None,
    }
}

pub(crate) fn tests(launcher: &Launcher) -> Vec<Test> {
    let mut tests = Vec::new();
    let counts: &[usize] = match launcher.flavour {
        // Waiting ranks spin: with more ranks than processors, each barrier takes milliseconds.
        Flavour::Mpich => &[1, 2, 3],
        Flavour::Intel | Flavour::OpenMpi | Flavour::Cornerstone => &[1, 2, 3, 5],
    };
    for (collectives, whose) in
        [(Collectives::Mpi, "its-own-collectives"), (Collectives::Contract, "our-collectives")]
    {
        for &ranks in counts {
            let name = format!("conformance/{}/{whose}/{ranks}", launcher.flavour.name());
            let launcher = launcher.clone();
            let test = Test::new(name, move || all_that_end_well(&launcher, ranks, collectives));
            tests.push(if ranks == MOST_CASES { test } else { test.long() });
        }
        for case in cases().iter().filter(|case| case.must_fail()) {
            let name = format!("conformance/{}/{whose}/{}", launcher.flavour.name(), case.name);
            if let Some(reason) = unpromised(launcher.flavour, case, collectives) {
                println!("skipped: {name}: {reason}");
                continue;
            }
            let launcher = launcher.clone();
            tests.push(Test::new(name, move || must_fail(&launcher, case, collectives)));
        }
    }
    for (name, program, skewed) in [
        ("clock/one-host-has-one-clock", "common-clock", false),
        ("clock/clocks-that-stand-apart-and-drift-are-brought-together", "common-clock", true),
        (
            "clock/no-message-arrives-before-it-was-sent",
            "clock/no-message-arrives-before-it-was-sent",
            true,
        ),
        ("work/some-ranks-work-while-others-wait", "work", false),
        ("endpoint/what-libraries-rely-on", "endpoints", false),
        ("endpoint/contexts-have-communicators-of-their-own", "contexts", false),
    ] {
        let launcher = launcher.clone();
        let program = Program { name: program.into(), collectives: Collectives::Mpi, skewed };
        let name = format!("{name}/{}", launcher.flavour.name());
        tests.push(Test::new(name, move || {
            let ended = launch(&launcher, 3, &program, ONE_LIMIT);
            if ended.ok { Ok(()) } else { Err(format!("{}\n{}", ended.out, ended.err)) }
        }));
    }
    tests.extend(longer_than_32_bits(launcher));
    tests
}

fn longer_than_32_bits(launcher: &Launcher) -> Option<Test> {
    let name = format!("messages/longer-than-32-bits/{}", launcher.flavour.name());
    // Two buffers of 2 GiB, and the memory of the MPI and other programs.
    if free_bytes() < 10 << 30 {
        println!("skipped: {name}: 10 GiB of free memory are not here");
        return None;
    }
    let launcher = launcher.clone();
    let collectives = Collectives::Mpi;
    let program = Program { name: "longer-than-32-bits".into(), collectives, skewed: false };
    let test = Test::new(name, move || {
        let ended = launch(&launcher, 2, &program, ALL_LIMIT);
        // Open MPI 5.0 has no functions with large counts; the message is then refused with this text.
        let refused = ended.err.contains("it lacks the functions with counts of 64 bits");
        if ended.ok || refused { Ok(()) } else { Err(format!("{}\n{}", ended.out, ended.err)) }
    });
    Some(test.long())
}

fn free_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

fn all_that_end_well(
    launcher: &Launcher,
    ranks: usize,
    collectives: Collectives,
) -> Result<(), String> {
    let program = Program { name: "all-that-end-well".into(), collectives, skewed: false };
    let ended = launch(launcher, ranks, &program, ALL_LIMIT);
    for line in ended.out.lines().filter(|line| line.starts_with("skipped ")) {
        println!("skipped: {}", &line["skipped ".len()..]);
    }
    let passed = ended.out.lines().filter(|line| line.starts_with("passed ")).count();
    let last = ended.out.lines().last().unwrap_or("nothing began");
    if ended.ok && passed > 30 {
        return Ok(());
    }
    Err(format!("{passed} cases passed; the last word was '{last}'\n{}", ended.err))
}

fn must_fail(launcher: &Launcher, case: &Case, collectives: Collectives) -> Result<(), String> {
    let ranks = 3;
    let program = Program { name: case.name.into(), collectives, skewed: false };
    let ended = launch(launcher, ranks, &program, ONE_LIMIT);
    if ended.err.contains("did not end in time") {
        return Err(format!("{} hangs\n{}", case.name, ended.err));
    }
    case.judge(ranks, if ended.ok { Ok(()) } else { Err(ended.err) })
}
