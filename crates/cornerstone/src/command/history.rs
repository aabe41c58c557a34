//! `history`: the results of a folder over time.

use std::process::ExitCode;

use analysis::changes::Search;
use analysis::history::Series;

use crate::arguments::{HistoryArguments, Publication};
use crate::command::report::write_page;
use crate::failure::Failure;
use crate::output::{Published, history_overview, history_runs, print, published};
use crate::{report, results};

/// Prints the history, or writes its page.
pub(crate) fn execute(arguments: HistoryArguments) -> Result<ExitCode, Failure> {
    let folder = arguments.folder.display();
    let history = results::read_folder(&arguments.folder)?;
    let runs = history.machines().values().sum::<usize>();
    if runs == 0 {
        return Err(Failure::usage(format!("'{folder}' contains no run"))
            .hint("`cornerstone run` writes its results there; --folder names another folder"));
    }
    let mut series = history.series(&Search::default());
    if let Some(benchmark) = &arguments.benchmark {
        series = of_benchmark(series, benchmark, &folder.to_string())?;
    }
    if let Some(page) = &arguments.html {
        write_page(page, &report::render_history(&series))?;
        return print(&format!("{}\n", page.display())).map(|()| ExitCode::SUCCESS);
    }
    let format = if arguments.json { Publication::Json } else { arguments.format };
    let text = match format {
        Publication::Table if arguments.benchmark.is_some() => history_runs(&series),
        Publication::Table => history_overview(&series),
        Publication::Json => {
            serde_json::to_string(&series).expect("numbers and text are JSON") + "\n"
        }
        other => published(&series.iter().filter_map(Published::latest).collect::<Vec<_>>(), other),
    };
    print(&text).map(|()| ExitCode::SUCCESS)
}

fn of_benchmark(all: Vec<Series>, benchmark: &str, folder: &str) -> Result<Vec<Series>, Failure> {
    let mut names: Vec<String> = all.iter().map(|one| one.name.key.benchmark.clone()).collect();
    names.sort();
    names.dedup();
    let found: Vec<Series> =
        all.into_iter().filter(|one| one.name.key.benchmark == benchmark).collect();
    if found.is_empty() {
        return Err(Failure::usage(format!("no run in '{folder}' contains '{benchmark}'"))
            .hint(format!("there are {}", names.join(", "))));
    }
    Ok(found)
}
