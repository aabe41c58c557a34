//! `sci`: loads rings of the Scalable Coherent Interface, and prints throughput and delay over load.

mod record;

use std::process::ExitCode;

use contract::TimeSpan;
use fabric_sim::sci::study::{self, Study, StudyResults};
use fabric_sim::sci::{
    Access, Delays, Destination, Pace, Retry, RingSettings, SYMBOL_BYTES, Shape, TRAIN_SEATS,
    Traffic, TransactionKind, Urgency,
};

use crate::arguments::{
    AccessChoice, DelayArguments, LinkRate, PaceChoice, RetryChoice, SciArguments, UrgencyChoice,
};
use crate::failure::Failure;
use crate::output::{print, table};
use crate::progress::note;
use crate::wording::{percent, quantity};

/// Interval of urgent requests.
const URGENT_EACH: TimeSpan = TimeSpan::from_us(20);
/// Divisor of a study's duration: the study begins to count after duration / WARM_UP_SHARE.
const WARM_UP_SHARE: u64 = 10;

/// One load with one rule of destination.
struct Case {
    destination: Destination,
    /// Data that each node offers, as a percentage of a link's rate; `None` if it fills its queues.
    load_percent: Option<u32>,
    shape: Shape,
    duration: TimeSpan,
    results: StudyResults,
}

impl Case {
    /// Returns the refused packets as a share of the sent packets.
    fn refused_share(&self) -> f64 {
        let counts = &self.results.counts;
        counts.refused as f64 / counts.sent.max(1) as f64
    }
}

pub(crate) fn execute(arguments: &SciArguments) -> Result<ExitCode, Failure> {
    if arguments.seats.is_some() && arguments.access != AccessChoice::Train {
        return Err(Failure::usage("--seats belongs to --access train"));
    }
    let settings = match &arguments.machine {
        Some(name) => of_machine(name)?,
        None => settings(arguments),
    };
    let loads: Vec<Option<u32>> = match arguments.pace {
        PaceChoice::Available => vec![None],
        _ => arguments.loads.iter().copied().map(Some).collect(),
    };
    let mut studies = Vec::new();
    for &destination in &arguments.destinations {
        for &load_percent in &loads {
            let study = study_of(arguments, &settings, destination, load_percent);
            study.check().map_err(|error| Failure::usage(error.to_string()))?;
            studies.push((destination, load_percent, study));
        }
    }
    let (mut file, path) = record::create(arguments)?;
    let mut cases = Vec::new();
    for (destination, load_percent, study) in studies {
        let results = study::run(&study).map_err(|error| Failure::usage(error.to_string()))?;
        let Study { duration, ref settings, .. } = study;
        let shape = settings.shape;
        let case = Case { destination, load_percent, shape, duration, results };
        file.append(&record::measurements(arguments, &case))?;
        cases.push(case);
    }
    file.end()?;
    print(&tables(arguments, &cases))?;
    note(&format!("results  {}", path.display()));
    note(&format!("charts   cornerstone report {}", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Returns the rings of a machine.
fn of_machine(name: &str) -> Result<RingSettings, Failure> {
    let machine = fabric_sim::machine::find(name).map_err(|error| {
        Failure::usage(error.to_string()).hint("`cornerstone machines` lists them")
    })?;
    machine.sci.ok_or_else(|| {
        Failure::usage(format!("{name} has no rings of SCI"))
            .hint("its file needs a section [sci] (docs/simulation/machines.md)")
    })
}

fn settings(arguments: &SciArguments) -> RingSettings {
    let gbit_per_s = match arguments.link_rate {
        LinkRate::One => 1.0,
        LinkRate::OnePointSix => 1.6,
        LinkRate::Eight => 8.0,
    };
    RingSettings {
        shape: arguments.shape,
        symbol: RingSettings::symbol_at(gbit_per_s),
        output_packets: arguments.queue,
        input_packets: arguments.queue,
        access: match arguments.access {
            AccessChoice::Free => Access::Free,
            AccessChoice::GoBits => Access::GoBits,
            AccessChoice::Train => Access::Train { seats: arguments.seats.unwrap_or(TRAIN_SEATS) },
        },
        retry: match arguments.retry {
            RetryChoice::Aged => Retry::Aged,
            RetryChoice::Again => Retry::Again,
            RetryChoice::Directed => Retry::Directed,
        },
        urgency: match arguments.urgency {
            UrgencyChoice::None => Urgency::None,
            UrgencyChoice::Preempt => Urgency::Preempt,
            UrgencyChoice::TwoBits => Urgency::TwoBits,
        },
        delays: delays(arguments),
        ..RingSettings::ring(1)
    }
}

/// Returns the delays of the paper's table 3: the given ones, and the usual ones for the others.
fn delays(arguments: &SciArguments) -> Delays {
    let DelayArguments { stripping, routing, host, responder, bypass, transmission } =
        arguments.delays;
    let usual = RingSettings::ring(1).delays;
    let or = |ns: Option<u32>, usual| ns.map_or(usual, |ns| TimeSpan::from_ns(u64::from(ns)));
    Delays {
        stripping: or(stripping, usual.stripping),
        routing: or(routing, usual.routing),
        host: or(host, usual.host),
        responder: or(responder, usual.responder),
        bypass: or(bypass, usual.bypass),
        transmission: or(transmission, usual.transmission),
    }
}

fn study_of(
    arguments: &SciArguments,
    settings: &RingSettings,
    destination: Destination,
    load_percent: Option<u32>,
) -> Study {
    let bytes = u64::from(arguments.operation.data_bytes());
    // The interval is the time in which a link carries `bytes` bytes, divided by the offered share.
    let link = settings.symbol.as_ps() * bytes / u64::from(SYMBOL_BYTES);
    let interval = |percent: u32| TimeSpan::from_ps(link * 100 / u64::from(percent));
    let pace = match (arguments.pace, load_percent) {
        (PaceChoice::Poisson, Some(percent)) => Pace::Poisson(interval(percent)),
        (PaceChoice::Uniform, Some(percent)) => Pace::Uniform(interval(percent)),
        _ => Pace::Available,
    };
    let loading = Traffic {
        nodes: Vec::new(),
        pace,
        destination,
        operation: arguments.operation,
        priority: 0,
    };
    let urgent = arguments.urgent.map(|node| Traffic {
        nodes: vec![node],
        pace: Pace::Uniform(URGENT_EACH),
        destination: arguments.destinations[0],
        operation: TransactionKind::Move(16),
        priority: 3,
    });
    let duration = TimeSpan::from_us(u64::from(arguments.duration_us));
    Study {
        settings: settings.clone(),
        traffic: std::iter::once(loading).chain(urgent).collect(),
        warm_up: TimeSpan::from_ps(duration.as_ps() / WARM_UP_SHARE),
        duration,
        joined: matches!(settings.shape, Shape::MultiService { .. }).then_some((0, 1)),
        seed: arguments.seed,
    }
}

/// Returns the name of an operation on the command line.
fn operation_name(operation: TransactionKind) -> String {
    match operation {
        TransactionKind::Move(bytes) => format!("move:{bytes}"),
        TransactionKind::Event(bytes) => format!("event:{bytes}"),
        TransactionKind::Write(bytes) => format!("write:{bytes}"),
        TransactionKind::Read(bytes) => format!("read:{bytes}"),
        TransactionKind::Lock => "lock".into(),
        TransactionKind::Join(..) => "join".into(),
        TransactionKind::Separate(..) => "separate".into(),
    }
}

/// Returns the name of a rule on the command line.
fn rule(destination: Destination) -> String {
    match destination {
        Destination::Fixed(node) => format!("fixed:{node}"),
        Destination::Random => "random".into(),
        Destination::Itself => "self".into(),
        Destination::Downstream => "downstream".into(),
        Destination::Upstream => "upstream".into(),
    }
}

fn tables(arguments: &SciArguments, cases: &[Case]) -> String {
    let mut header: Vec<String> =
        ["destination", "load", "throughput", "mean delay", "99 %", "least / most", "refused"]
            .map(String::from)
            .into();
    if arguments.urgent.is_some() {
        header.push("longest urgent".into());
    }
    let rows = cases.iter().map(row).collect();
    let mut legend = String::from(
        "\nload: data that each node offers, as a share of what a link carries. least / most: data of the\n\
         node that gets least through, over that of the node that gets most. refused: packets sent\n\
         for which their target had no place, as a share of all; events are lost then.\n",
    );
    if arguments.urgent.is_some() {
        legend += "longest urgent: the longest delay of an urgent move of 16 bytes, one each 20 us; - if none was completed.\n";
    }
    table(&header, 1, rows) + &legend
}

fn row(case: &Case) -> Vec<String> {
    let traffic = &case.results.traffic;
    let results = &traffic[0];
    let microseconds = |time: Option<f64>| time.map_or("-".into(), |us| quantity(us, "us"));
    let mut row = vec![
        rule(case.destination),
        case.load_percent.map_or("full queues".into(), |percent| format!("{percent} %")),
        quantity(results.mb_per_s(case.duration), "MB/s"),
        microseconds(results.mean_delay_us()),
        microseconds(results.delay_quantile(0.99).map(TimeSpan::as_us)),
        percent(results.least_over_most()),
        percent(case.refused_share()),
    ];
    row.extend(
        traffic
            .get(1)
            .map(|urgent| microseconds(urgent.delays.last().copied().map(TimeSpan::as_us))),
    );
    row
}
