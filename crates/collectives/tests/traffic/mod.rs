//! The bytes that ranks write to boards, read there and combine in a collective: one table for the fabric's executor,
//! which is recorded, and for the simulator, which charges the time. The tests of both include this file, so neither
//! can change alone.

use std::collections::BTreeMap;

use collectives::Collective;

/// The table. Its first lines describe it.
const TABLE: &str = include_str!("table.txt");

/// Rank of the root in collectives that have one.
pub(crate) const ROOT: usize = 1;

/// A call, and its traffic by the table.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) collective: Collective,
    pub(crate) ranks: usize,
    /// Length of all data, or of one block if each rank has its own.
    pub(crate) bytes: usize,
    fabric: String,
    /// Traffic that the simulator charges, if it is not the same.
    twin: Option<String>,
}

/// Traffic of one rank in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) steps: usize,
    /// Bytes that it copies to boards, and from boards.
    pub(crate) written: usize,
    pub(crate) read: usize,
    /// Bytes of the results of combining two operands.
    pub(crate) combined: usize,
}

/// The two implementations that are compared with the table.
#[allow(dead_code, reason = "each test is of one of them")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Fabric,
    Twin,
}

/// Compares the traffic of the ranks of every case with the table.
pub(crate) fn check(subject: Subject, of: impl Fn(&Case) -> Vec<Traffic>) {
    let mut wrong = Vec::new();
    for case in cases() {
        let expected = match (subject, &case.twin) {
            (Subject::Twin, Some(twin)) => twin,
            _ => &case.fabric,
        };
        let found = describe(&of(&case));
        if found != *expected {
            let Case { collective, ranks, bytes, .. } = case;
            wrong.push(format!(
                "{} {ranks} {bytes}: {found}\n  expected: {expected}",
                collective.name()
            ));
        }
    }
    assert!(wrong.is_empty(), "traffic that is not in the table\n{}", wrong.join("\n"));
}

/// Reads the cases: the lines "collective ranks bytes: traffic", each perhaps followed by "  twin: traffic".
fn cases() -> Vec<Case> {
    let named: BTreeMap<&str, Collective> =
        Collective::ALL.iter().map(|(collective, _)| (collective.name(), *collective)).collect();
    let mut cases: Vec<Case> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (call, traffic) = line.split_once(": ").expect("a call or the twin, and traffic");
        if call == "  twin" {
            cases.last_mut().expect("a call comes first").twin = Some(traffic.into());
            continue;
        }
        let [name, ranks, bytes] = call.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}: no collective, ranks and bytes")
        };
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{line}: {text}"));
        cases.push(Case {
            collective: named[name],
            ranks: number(ranks),
            bytes: number(bytes),
            fabric: traffic.into(),
            twin: None,
        });
    }
    cases
}

/// Returns the traffic of all ranks. The rank that combines a chunk is not determined, so the combined bytes are those
/// of all ranks together.
fn describe(ranks: &[Traffic]) -> String {
    let of = |what: fn(&Traffic) -> usize| {
        let each: Vec<String> = ranks.iter().map(|one| what(one).to_string()).collect();
        each.join(" ")
    };
    let combined: usize = ranks.iter().map(|one| one.combined).sum();
    format!(
        "steps {} | written {} | read {} | combined {combined}",
        of(|one| one.steps),
        of(|one| one.written),
        of(|one| one.read)
    )
}
