//! Tests how cells are computed, on cells that are in no paper.

use reproduction::{Cell, Simulator};

/// Returns the value of a cell with this `run`.
fn value(run: &str) -> Result<f64, String> {
    let text = format!("id = \"x/1/y\"\nunit = \"1\"\nhow = \"predicted\"\nrun = {{ {run} }}\n");
    toml::from_str::<Cell>(&text).unwrap().compute(&mut Simulator::default())
}

/// Returns the size from 0 to 1024 bytes at which the given machine and the other become equally fast in a simple
/// transfer.
fn crossing(machine: &str, other: &str) -> Result<f64, String> {
    value(&format!(
        "machine = \"{machine}\", benchmark = \"simple-transfer\", ranks = 2, size_bytes = 1024, metric = \"time\", \
         crossing_with = \"{other}\""
    ))
}

/// Tests the crossing by table 5: 1700 us and 2.83 us a byte are less than 550 and 9.53 from (1700 - 550) / (9.53 -
/// 2.83) = 171.6 bytes on.
#[test]
fn two_machines_change_places_at_the_size_where_their_lines_cross() {
    assert_eq!(crossing("ipsc", "ametek-s14"), Ok(172.0));
    assert_eq!(crossing("ametek-s14", "ipsc"), Ok(172.0));
    let never = crossing("mark-iii", "ipsc").unwrap_err();
    assert_eq!(never, "mark-iii and ipsc do not change places from 0 to 1024 bytes");
}

/// Returns the value of a cell of little traffic, with `of` in its `run`.
fn traffic(of: &str) -> Result<f64, String> {
    value(&format!(
        "machine = \"ipsc\", benchmark = \"traffic\", ranks = 8, size_bytes = 512, samples = 5, \
         parameters = {{ messages = 400, rule = \"sphere\", radius = 1, hit_percent = 50 }}, {of}"
    ))
}

#[test]
fn a_cell_selects_one_of_several_shares_of_runs() {
    let share =
        |length: u32| traffic(&format!("metric = \"run-share\", which = {{ length = {length} }}"));
    // P(k) = 0.5^k in percent; of some 4000 runs the shares are off by 0.8 and 0.7.
    assert!((share(1).unwrap() - 50.0).abs() < 4.0, "{:?}", share(1));
    assert!((share(2).unwrap() - 25.0).abs() < 3.5, "{:?}", share(2));
    assert_eq!(share(3).unwrap_err(), "`traffic` on ipsc gave no `run-share`");
}

#[test]
fn a_cell_is_the_quotient_of_two_sets_of_parameters() {
    let per = |rule: &str| {
        traffic(&format!(
            "metric = \"hops\", per_parameters = {{ messages = 400, {rule}, hit_percent = 50 }}"
        ))
    };
    assert_eq!(per("rule = \"sphere\", radius = 1"), Ok(1.0));
    // One hop, over 12/7 of uniform traffic on eight nodes: three at one hop, three at two, one at three.
    let ratio = per("rule = \"uniform\"").unwrap();
    assert!((ratio - 7.0 / 12.0).abs() < 0.02, "{ratio}");
}
