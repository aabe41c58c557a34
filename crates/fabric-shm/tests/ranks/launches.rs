//! Successful and failing starts of runs.

use std::path::PathBuf;

use contract::{Rank, Result};
use fabric_shm::launch_options;
use launcher::{Binding, LaunchError, LaunchOptions, Reporter};

use crate::harness::{Test, check, launch_and_gather};

pub(crate) fn program(rank: &mut dyn Rank, reporter: &Reporter, name: &str) -> Result<()> {
    match name {
        "reports" => {
            for number in 0..20u32 {
                reporter.report(&vec![rank.rank() as u8; (number * 9973) as usize])?;
            }
            Ok(())
        }
        "describe" => {
            let mut details = rank.describe().details;
            details.insert("processor".into(), format!("{:?}", rank.processor()));
            let own = rank.every_rank_has_a_processor();
            reporter.report(format!("{own} {details:?}").as_bytes())
        }
        _ => Ok(()),
    }
}

pub(crate) fn tests() -> Vec<Test> {
    vec![
        Test::new("launches/reports-come-whole-and-in-order", reports_in_order),
        Test::new("launches/no-rank-and-too-many-are-refused", counts_are_refused),
        Test::new("launches/a-program-that-is-not-there-is-named", missing_program),
        Test::new("launches/a-program-that-is-no-rank-is-noticed", foreign_program),
        Test::new("launches/ranks-are-bound-and-say-so", binding),
        Test::new("launches/a-hundred-ranks-on-a-few-processors", a_hundred),
        Test::new("launches/a-launcher-can-launch-again", again),
    ]
}

fn options(ranks: usize, name: &str) -> LaunchOptions {
    launch_options(ranks, format!("launches {name}").into())
}

fn reports_in_order() -> std::result::Result<(), String> {
    let (ended, reports) = launch_and_gather(&options(3, "reports"));
    ended.map_err(|error| error.to_string())?;
    for rank in 0..3u8 {
        // The first report of each rank is empty and belongs to no rank.
        let own = reports.iter().filter(|report| report.first() == Some(&rank));
        let lengths: Vec<usize> = own.map(Vec::len).collect();
        let expected: Vec<usize> = (1..20).map(|number| number * 9973).collect();
        check(lengths == expected, || format!("rank {rank}: {lengths:?}"))?;
    }
    check(reports.len() == 60, || format!("{} reports", reports.len()))
}

fn counts_are_refused() -> std::result::Result<(), String> {
    for (ranks, words) in [(0, "at least 1 rank"), (100_000, "up to 1024 ranks")] {
        let (ended, _) = launch_and_gather(&options(ranks, "nothing"));
        let refused = matches!(&ended, Err(LaunchError::BadOptions(why)) if why.contains(words));
        check(refused, || format!("{ranks} ranks: {ended:?}"))?;
    }
    Ok(())
}

fn missing_program() -> std::result::Result<(), String> {
    let options =
        LaunchOptions { program: PathBuf::from("/nonexistent/program"), ..options(2, "nothing") };
    let (ended, _) = launch_and_gather(&options);
    let named =
        ended.as_ref().is_err_and(|error| error.to_string().contains("/nonexistent/program"));
    check(named, || format!("{ended:?}"))
}

fn foreign_program() -> std::result::Result<(), String> {
    let options = LaunchOptions { program: PathBuf::from("/bin/true"), ..options(2, "nothing") };
    let (ended, _) = launch_and_gather(&options);
    check(matches!(ended, Err(LaunchError::RankFailed { .. })), || format!("{ended:?}"))
}

fn binding() -> std::result::Result<(), String> {
    for (binding, words) in
        [(Binding::Cores(vec![0]), "Some(0)"), (Binding::OneForAll, "(more ranks than processors)")]
    {
        let (ended, reports) =
            launch_and_gather(&LaunchOptions { binding, ..options(2, "describe") });
        ended.map_err(|error| error.to_string())?;
        for report in reports {
            let text = String::from_utf8_lossy(&report).into_owned();
            check(text.starts_with("false") && text.contains(words), || text)?;
        }
    }
    Ok(())
}

fn a_hundred() -> std::result::Result<(), String> {
    launch_and_gather(&options(100, "nothing")).0.map_err(|error| error.to_string())
}

fn again() -> std::result::Result<(), String> {
    (0..3).try_for_each(|_| {
        launch_and_gather(&options(2, "nothing")).0.map_err(|error| error.to_string())
    })
}
