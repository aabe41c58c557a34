//! The request for a run, from the command line and from the run that is resumed.

use std::collections::{BTreeMap, BTreeSet};

use benchmark::{Chain, EVERYTHING, PatternText, Pipeline, RealTime, RunOption, Settings};
use contract::FabricDescription;
use record::{Environment, Run, RunHeader};
use std::path::PathBuf;
use std::time::Duration;

use super::rounds::Rounds;
use crate::arguments::{
    FabricChoice, RunArguments, RunFormat, Seconds, Share, SimulationArguments, Typed, shown,
};
use crate::environment;
use crate::fabric::hosts::Hosts;
use crate::fabric_name::text_of_machine;
use crate::failure::Failure;
use crate::measured::LAUNCHES_BEFORE;
use crate::progress::note;
use crate::remaining::Bounds;
use crate::results::{self, ResultsFile};

/// The measurements, their settings, and the place of the results.
pub(super) struct Request {
    pub(super) names: Vec<String>,
    pub(super) ranks: Option<Vec<usize>>,
    pub(super) settings: Settings,
    /// The options that were given, of those that only some benchmarks use.
    pub(super) given: Vec<RunOption>,
    /// Number of launches of each case.
    pub(super) launches: Rounds,
    /// True if the user chose that number.
    pub(super) chosen_launches: bool,
    /// Least time over which the launches are distributed.
    pub(super) spread: Duration,
    pub(super) fabric: FabricChoice,
    pub(super) format: RunFormat,
    /// True if every table is printed.
    pub(super) tables: bool,
    pub(super) mpi_library: Option<PathBuf>,
    pub(super) simulation: SimulationArguments,
    pub(super) hosts: Option<Hosts>,
    pub(super) environment: Environment,
    /// The number of launches that other runs have made before for the same comparison; none if places are not dealt.
    pub(super) launches_before: Option<u32>,
    pub(super) target: Target,
}

/// Place of the results.
pub(super) enum Target {
    /// A new file with this path, or with a path made of the time and the host.
    New(Option<PathBuf>),
    /// The file of an earlier run.
    Resumed(ResultsFile, Box<Run>),
}

impl Request {
    pub(super) fn new(arguments: RunArguments) -> Result<Self, Failure> {
        let environment = environment::capture();
        let (arguments, target) = match arguments.resume.clone() {
            None => {
                let out = arguments.out.clone();
                (arguments, Target::New(out))
            }
            Some(path) => {
                let (file, run) = ResultsFile::reopen(&path)?;
                let arguments = continued(arguments, &run, &path)?;
                check_machine(&run, &environment, &path)?;
                (arguments, Target::Resumed(file, Box::new(run)))
            }
        };
        let fabric = arguments.fabric.clone().unwrap_or(FabricChoice::Local);
        if let Some((option, why)) = arguments.simulation.given()
            && !fabric.is_simulated()
        {
            return Err(Failure::usage(format!("{option} is for simulated machines: {why}"))
                .hint(format!("add --fabric sim:MACHINE, or omit {option}")));
        }
        if arguments.turns.is_some() && fabric.is_simulated() {
            return Err(Failure::usage(
                "--turns is for real machines: the speed of a simulated one never changes",
            )
            .hint("leave --turns out"));
        }
        let mut arguments = arguments;
        if arguments.explain_plan && arguments.names.is_empty() {
            arguments.names.push(EVERYTHING.into());
        }
        check_combinations(&arguments)?;
        let hosts = hosts(&arguments, &fabric)?;
        let settings = settings(&arguments, hosts.as_ref());
        let launches = launches(&arguments, &fabric, &settings)?;
        if arguments.spread.is_some() && launches.most < 2 {
            return Err(Failure::usage("--spread needs several launches, and this run has one")
                .hint("add --launches N, or omit --spread"));
        }
        let spread = arguments.spread.map_or(0.0, |Seconds(seconds)| seconds);
        let launches_before = launches_before()?.filter(|_| fabric.places_are_dealt());
        Ok(Request {
            given: arguments.given(),
            hosts,
            settings,
            launches,
            chosen_launches: arguments.launches.is_some(),
            spread: Duration::from_secs_f64(spread),
            names: arguments.names,
            ranks: arguments.ranks.map(|ranks| ranks.0),
            fabric,
            format: arguments.format,
            tables: arguments.tables,
            mpi_library: arguments.mpi_library,
            simulation: arguments.simulation,
            environment,
            launches_before,
            target,
        })
    }

    /// Returns the run that is resumed, if there is one.
    pub(super) fn earlier(&self) -> Option<&Run> {
        match &self.target {
            Target::New(_) => None,
            Target::Resumed(_, run) => Some(run),
        }
    }

    /// Returns the number of processors for which the run is planned.
    pub(super) fn processors(&self) -> usize {
        self.fabric.processors(self.environment.processors_available, self.hosts.as_ref())
    }

    /// Returns the limits of the run as a whole.
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            fewest: self.launches.fewest,
            expected: self.launches.expected(),
            budget_s: self.settings.budget_s,
            spread_s: self.spread.as_secs_f64(),
        }
    }

    /// Returns whether all ranks are processes on this host that this command starts.
    pub(super) fn runs_here(&self) -> bool {
        let has_other_ranks = self.fabric == FabricChoice::Mpi || self.fabric.is_simulated();
        self.hosts.is_none() && !has_other_ranks
    }

    /// The header of the results, with the description of the fabric.
    pub(super) fn header(&self, mut fabric: FabricDescription) -> RunHeader {
        let launches = self.launches_before.unwrap_or(0) + self.launches.most;
        let places = self.fabric.places(launches).map(|places| ("places".into(), places.into()));
        fabric.details.extend(places);
        RunHeader {
            texts: texts(&self.settings, &self.fabric),
            launches_before: self.launches_before,
            ..results::header(&self.settings, fabric, self.environment.clone())
        }
    }
}

/// Refuses options that choose among the cases of benchmarks if none is named, because the cases of the overview are
/// fixed, and options of a search beside a period that is required.
fn check_combinations(arguments: &RunArguments) -> Result<(), Failure> {
    if let Some(option) = arguments.real_time.with_required_period() {
        return Err(Failure::usage(format!("{option} is for searches, and a period is required"))
            .hint(format!("omit {option}, or period= of --require")));
    }
    let given = [
        ("--sizes", arguments.sizes.is_some()),
        ("--only", !arguments.only.is_empty()),
        ("--algorithm", arguments.algorithm.is_some()),
    ];
    let given = given.into_iter().find(|(_, given)| *given && arguments.names.is_empty());
    given.map_or(Ok(()), |(option, _)| {
        Err(Failure::usage(format!(
            "{option} is for named benchmarks: the overview has cases of its own"
        ))
        .hint(format!(
            "name benchmarks or groups, or all of them: `cornerstone run {EVERYTHING} {option} ...`"
        )))
    })
}

/// Returns what a command that compares runs has told this one by a variable.
fn launches_before() -> Result<Option<u32>, Failure> {
    let Some(given) = std::env::var_os(LAUNCHES_BEFORE) else { return Ok(None) };
    let number = given.to_str().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| {
        Failure::usage(format!("{LAUNCHES_BEFORE}={} is no number of launches", given.display()))
            .hint("`compare --measure` and `check` set it; unset it")
    })
}

/// The hosts of the run, where it may have several.
fn hosts(arguments: &RunArguments, fabric: &FabricChoice) -> Result<Option<Hosts>, Failure> {
    let hosts = Hosts::new(&arguments.hosts, fabric.asks_for_hosts())?;
    if hosts.is_some() && !fabric.takes_hosts() {
        return Err(Failure::usage("--hosts is for runs over TCP or libfabric")
            .hint("add --fabric cluster, --fabric tcp or --fabric ofi"));
    }
    Ok(hosts)
}

/// Returns the texts of the files that describe the run.
fn texts(settings: &Settings, fabric: &FabricChoice) -> BTreeMap<String, String> {
    let pattern = settings.pattern.iter().map(|pattern| (pattern.key(), pattern.text.clone()));
    let chain = settings.pipeline.chain.iter().map(|chain| (chain.key(), chain.text.clone()));
    let machine = match fabric {
        FabricChoice::Simulated(file) => text_of_machine(file),
        _ => None,
    };
    pattern.chain(chain).chain(machine).collect()
}

/// Returns the settings of a run. Without names it is the overview. All benchmarks together have short time limits, so
/// that they end in a minute or two, unless the user chooses how each is measured.
fn settings(arguments: &RunArguments, hosts: Option<&Hosts>) -> Settings {
    let is_free = arguments.precision.is_none()
        && arguments.time_limit.is_none()
        && arguments.launches.is_none();
    let is_quick = is_free && arguments.ranks.is_none() && arguments.sizes.is_none();
    let defaults = match &arguments.names[..] {
        [] if is_free => Settings::overview(),
        [] => Settings { budget_s: None, ..Settings::overview() },
        [name] if name == EVERYTHING && is_quick => Settings::quick(),
        _ => Settings::default(),
    };
    Settings {
        sizes: arguments.sizes.clone(),
        precision: arguments.precision.map_or(defaults.precision, |Share(share)| share),
        confidence: arguments.confidence.map_or(defaults.confidence, |Share(share)| share),
        time_limit_s: arguments.time_limit.map_or(defaults.time_limit_s, |Seconds(s)| s),
        time_limit_is_chosen: arguments.time_limit.is_some(),
        repetitions: arguments.turns.unwrap_or(defaults.repetitions),
        seed: arguments.seed.unwrap_or(defaults.seed),
        only: arguments.only.iter().map(|one| (one.name.clone(), one.values.clone())).collect(),
        algorithms: arguments.algorithm.clone().map_or(defaults.algorithms, |names| names.0),
        real_time: arguments
            .tasks
            .put_into(arguments.real_time.settings(periods(arguments, defaults.real_time.clone()))),
        traffic: arguments.traffic.settings(),
        pattern: arguments.pattern.clone(),
        corner_turn: arguments.corner_turn.clone().unwrap_or(defaults.corner_turn.clone()),
        pipeline: arguments.pipeline.clone().unwrap_or_default(),
        host_slots: hosts.map_or_else(Vec::new, Hosts::slots_of_each),
        ..defaults
    }
}

/// Returns the number of launches of each case: as requested, or as many as are useful in the time of a case.
fn launches(
    arguments: &RunArguments,
    fabric: &FabricChoice,
    settings: &Settings,
) -> Result<Rounds, Failure> {
    match (fabric, arguments.launches) {
        (FabricChoice::Simulated(_), launches) => {
            if launches.is_some_and(|launches| launches > 1) {
                note(
                    "note: one launch: a simulated machine measures the same in each, and exactly",
                );
            }
            Ok(Rounds::exactly(1))
        }
        (FabricChoice::Mpi, Some(2..)) => {
            Err(Failure::usage("--launches is not possible: mpiexec has started the ranks once")
                .hint("omit --launches, or use a fabric whose ranks this command starts"))
        }
        (FabricChoice::Mpi, _) => Ok(Rounds::exactly(1)),
        (_, Some(launches)) => Ok(Rounds::exactly(launches)),
        (_, None) if arguments.turns.is_some() => Ok(Rounds::exactly(1)),
        (_, None) => Ok(Rounds::within_the_time_of(settings, arguments.spread.is_some())),
    }
}

/// Returns the default settings of a search for periods. Only searches on real machines have a time limit, because
/// virtual time costs the user nothing.
fn periods(arguments: &RunArguments, defaults: RealTime) -> RealTime {
    const LIMIT_S: f64 = 30.0;
    let is_simulated = arguments.fabric.as_ref().is_some_and(FabricChoice::is_simulated);
    let limit_s = (!is_simulated).then_some(LIMIT_S);
    RealTime { search_limit_s: limit_s, ..defaults }
}

/// Returns the arguments, completed with those of the run that is resumed. Refuses a run with options that only the
/// command line may give, unless it does.
fn continued(
    arguments: RunArguments,
    run: &Run,
    path: &std::path::Path,
) -> Result<RunArguments, Failure> {
    let mut all = arguments;
    let today = Typed::today();
    let (mut required, mut optional) = (BTreeSet::new(), BTreeSet::new());
    for header in run.headers.iter().rev() {
        let (recorded, earlier) = recorded(&header.command, path)?;
        let withheld = recorded.withheld(today.as_ref());
        required.extend(withheld.required);
        optional.extend(withheld.optional);
        let pattern = PatternText::among(&header.texts).next();
        let of_chain = |pipeline| Pipeline { chain: Chain::among(&header.texts), ..pipeline };
        let pipeline = earlier.pipeline.map(of_chain);
        all = all.or(RunArguments { pattern, pipeline, ..earlier });
    }
    if !required.is_empty() {
        let required = Vec::from_iter(required).join(" ");
        return Err(Failure::usage(format!(
            "'{}' was measured with {required}: a file sets no option that starts a program, loads a library, opens a \
             connection, names a file or changes the system",
            path.display()
        ))
        .hint("if you want this, add it to the command line; other values are possible"));
    }
    for option in optional {
        note(&format!("note: the run had {option}; add it again if you want it"));
    }
    let fabric = all.fabric.as_ref().unwrap_or(&FabricChoice::Local).name_in_results();
    let before = &run.header().fabric.name;
    if fabric != *before {
        return Err(Failure::usage(format!(
            "'{}' was measured on the fabric '{}', not on '{fabric}'",
            path.display(),
            before.escape_debug()
        ))
        .hint("omit --fabric to continue it, or write to another file"));
    }
    Ok(all)
}

/// Reads a command that a results file has recorded.
fn recorded(command: &[String], path: &std::path::Path) -> Result<(Typed, RunArguments), Failure> {
    let typed = Typed::read(command);
    let read = typed.and_then(|typed| typed.arguments().map(|arguments| (typed, arguments)));
    read.ok_or_else(|| {
        Failure::usage(format!(
            "'{}' was made by a command that this build does not support: {}",
            path.display(),
            shown(command)
        ))
        .hint("continue with the build that made it, or measure again")
    })
}

/// Refuses to resume on another machine, because its numbers would be in one table with the earlier ones. Notes other
/// changes.
fn check_machine(run: &Run, now: &Environment, path: &std::path::Path) -> Result<(), Failure> {
    let before = &run.header().environment;
    let hard = [
        ("processor", before.processor.clone(), now.processor.clone()),
        (
            "processors available",
            before.processors_available.to_string(),
            now.processors_available.to_string(),
        ),
        ("memory in bytes", before.memory_bytes.to_string(), now.memory_bytes.to_string()),
    ];
    if let Some((what, before, now)) = hard.iter().find(|(_, before, now)| before != now) {
        return Err(Failure::usage(format!(
            "'{}' was measured on another machine: {what} were '{before}', here '{now}'",
            path.display()
        ))
        .hint(
            "continue on that machine, or write to another file here and use `cornerstone compare`",
        ));
    }
    let soft = [
        ("host", &before.host, &now.host),
        ("kernel", &before.kernel, &now.kernel),
        ("clock source", &before.clock_source, &now.clock_source),
        ("governor", &before.governor, &now.governor),
        ("revision of Cornerstone", &run.header().revision, &env!("CORNERSTONE_REVISION").into()),
    ];
    for (what, before, now) in soft.iter().filter(|(_, before, now)| before != now) {
        note(&format!("note: the {what} changed since the run began: '{before}', now '{now}'"));
    }
    Ok(())
}
