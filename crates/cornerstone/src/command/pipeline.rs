//! `pipeline`: checks, explains or runs a chain from a file.

use std::path::Path;
use std::process::ExitCode;

use benchmark::Chain;
use definition_files::read_file;

use super::run;
use crate::arguments::PipelineArguments;
use crate::failure::Failure;
use crate::output::print;

/// Reads the chain, and runs it or explains the flow of its data.
pub(crate) fn execute(arguments: PipelineArguments) -> Result<ExitCode, Failure> {
    let chain = read(&arguments.file)?;
    check_granularity(&arguments, &chain)?;
    if arguments.check {
        print(chain.describe().trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = chain.file.clone();
    let arguments = arguments.run(Some(chain));
    if let Some(mistake) = arguments.pipeline.as_ref().and_then(|pipeline| pipeline.mistake()) {
        return Err(Failure::usage(format!(
            "'{file}' cannot be measured with these options: {mistake}"
        ))
        .hint("use fewer doublings, or fewer rows in a message"));
    }
    run::execute(arguments)
}

/// Reads the chain of a file.
pub(super) fn read(path: &Path) -> Result<Chain, Failure> {
    let text = read_file("pipeline", path);
    let chain = text.and_then(|text| Chain::parse(&path.display().to_string(), &text));
    chain.map_err(|error| {
        Failure::usage(error.to_string())
            .hint("docs/pipelines.md explains the files; pipelines/ has examples")
    })
}

fn check_granularity(arguments: &PipelineArguments, chain: &Chain) -> Result<(), Failure> {
    let allowed = chain.granularities();
    let wanted = arguments.granularity.iter().flatten();
    match wanted.copied().find(|rows| !allowed.contains(rows)) {
        None => Ok(()),
        Some(rows) => {
            let allowed: Vec<_> = allowed.iter().map(usize::to_string).collect();
            Err(Failure::usage(format!("{rows} rows in a message do not fit '{}'", chain.file))
                .hint(format!("these do: {}", allowed.join(", "))))
        }
    }
}
