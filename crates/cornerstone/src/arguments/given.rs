//! The options of a run that were given, of those that only some benchmarks use.

use benchmark::RunOption;

use super::RunArguments;

impl RunArguments {
    /// Returns the options that were given, of those that only some benchmarks use.
    pub(crate) fn given(&self) -> Vec<RunOption> {
        let (periods, tasks, traffic) = (&self.real_time, &self.tasks, &self.traffic);
        let all = [
            (RunOption::Precision, self.precision.is_some()),
            (RunOption::TimeLimit, self.time_limit.is_some()),
            (RunOption::Turns, self.turns.is_some()),
            (RunOption::Duration, periods.duration.is_some()),
            (RunOption::OsIsolation, periods.hygiene.is_some()),
            (RunOption::Ablate, periods.ablate),
            (RunOption::Period, periods.period.is_some()),
            (RunOption::Require, periods.require.is_some()),
            (RunOption::Guess, periods.guess.is_some()),
            (RunOption::Instances, periods.instances.is_some()),
            (RunOption::MissRate, periods.miss_rate.is_some()),
            (RunOption::Width, periods.width.is_some()),
            (RunOption::SearchLimit, periods.search_limit.is_some()),
            (RunOption::Confirm, periods.confirm.is_some()),
            (RunOption::Searches, periods.searches.is_some()),
            (RunOption::Explain, periods.explain),
            (RunOption::Load, tasks.load.is_some()),
            (RunOption::Threshold, tasks.threshold.is_some()),
            (RunOption::Limit, tasks.limit.is_some()),
            (RunOption::Osnoise, tasks.osnoise),
            (RunOption::TimerSlack, tasks.timer_slack.is_some()),
            (RunOption::Rule, !traffic.rule.is_empty()),
            (RunOption::Hits, !traffic.hits.is_empty()),
            (RunOption::Messages, traffic.messages.is_some()),
            (RunOption::Gap, traffic.gap.is_some()),
            (RunOption::Flush, traffic.flush.is_some()),
        ];
        all.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option).collect()
    }
}

#[cfg(test)]
mod tests {
    use benchmark::{Benchmark, catalogue, users};
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::arguments::{Arguments, Command};

    /// Options that every run uses, whatever it measures, or that the fabric and the cases of the run decide on.
    const OF_EVERY_RUN: [&str; 28] = [
        "ranks",
        "sizes",
        "confidence",
        "launches",
        "spread",
        "algorithm",
        "only",
        "seed",
        "fabric",
        "mpi-library",
        "hosts",
        "host",
        "agent",
        "listen",
        "reconnect",
        "interfaces",
        "out",
        "resume",
        "format",
        "tables",
        "explain-plan",
        "level",
        "ranks-per-processor",
        "check-results",
        "faults",
        "trace",
        "help",
        "version",
    ];

    /// Returns the options that only some benchmarks use, with a value for each.
    fn options() -> Vec<(&'static str, Option<&'static str>)> {
        let with = |name, value| (name, Some(value));
        vec![
            with("precision", "1%"),
            with("time-limit", "1s"),
            with("turns", "2"),
            with("duration", "1s"),
            with("hygiene", "none"),
            ("ablate", None),
            with("period", "1ms"),
            with("require", "latency=1ms"),
            with("guess", "1ms"),
            with("instances", "9"),
            with("miss-rate", "1%"),
            with("width", "2%"),
            with("search-limit", "1s"),
            with("confirm", "1"),
            with("searches", "2"),
            ("explain", None),
            with("load", "100"),
            with("threshold", "1us"),
            with("limit", "1ms"),
            ("osnoise", None),
            with("timer-slack", "1us"),
            with("rule", "uniform"),
            with("hits", "0.5"),
            with("messages", "9"),
            with("gap", "1ms"),
            with("flush", "9"),
        ]
    }

    #[test]
    fn every_option_of_run_is_one_of_every_run_or_of_some_benchmarks() {
        let command = Arguments::command();
        let run = command.find_subcommand("run").unwrap();
        for argument in run.get_arguments().filter_map(|argument| argument.get_long()) {
            let of_some = options().iter().any(|(name, _)| *name == argument);
            let of_all = OF_EVERY_RUN.contains(&argument);
            assert!(of_some != of_all, "--{argument} is in no list, or in both");
        }
    }

    /// Returns what `run` takes for given if it has this option alone.
    fn given_alone(name: &str, value: Option<&str>) -> RunOption {
        let long = format!("--{name}");
        let typed = ["cornerstone", "run", "barrier", &long].into_iter().chain(value);
        let Command::Run(run) = Arguments::try_parse_from(typed).unwrap().command else {
            panic!("{name}")
        };
        let [given] = run.given()[..] else { panic!("{name}: {:?}", run.given()) };
        given
    }

    #[test]
    fn each_option_is_recognised_alone_and_some_benchmark_uses_it() {
        for (name, value) in options() {
            let given = given_alone(name, value);
            assert_eq!(given.name(), name);
            assert!(users(given).next().is_some(), "{name}");
        }
    }

    /// The whole table: what each benchmark uses, by the kind of its measurement.
    #[test]
    fn each_benchmark_uses_the_options_of_its_kind_and_no_others() {
        let periods = "duration hygiene ablate period require guess instances miss-rate width search-limit confirm \
                       searches explain";
        let expected = |benchmark: &Benchmark| match benchmark.name {
            "clock" => "duration threshold limit osnoise".into(),
            "wake-up" => "duration hygiene timer-slack".into(),
            "steady-stream" | "shared-stream" => "duration".into(),
            "hartstone" => format!("{periods} load"),
            "pmp" | "corner-turn" | "pipeline" => periods.into(),
            "traffic" => "precision time-limit rule hits messages gap flush".into(),
            _ => String::from("precision time-limit"),
        };
        let names: Vec<&str> = options().into_iter().map(|(name, _)| name).collect();
        let all: Vec<RunOption> =
            options().into_iter().map(|(name, value)| given_alone(name, value)).collect();
        for benchmark in catalogue() {
            let uses = all.iter().filter(|option| benchmark.uses(**option));
            let uses = uses.map(|option| option.name()).filter(|name| *name != "turns");
            let mut uses: Vec<&str> = uses.collect();
            assert!(uses.iter().all(|name| names.contains(name)), "{}", benchmark.name);
            let expected = expected(benchmark);
            let mut wanted: Vec<&str> = expected.split_whitespace().collect();
            wanted.sort_unstable();
            uses.sort_unstable();
            assert_eq!(uses, wanted, "{}", benchmark.name);
        }
    }
}
