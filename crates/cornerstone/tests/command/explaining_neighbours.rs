//! Tests the waits and messages of neighbourhood collectives and of partitioned messages in a report (`explained.c`). A
//! rank that sleeps for 50 ms makes another wait for more than 25.

use serde_json::Value;

use crate::explaining::{VARIANTS, place, prepared, reported, rows};

/// Returns the waits of more than 25 ms: the rank, the place, the kind, the other rank and its place, in order.
fn late(report: &Value) -> Vec<(u64, String, String, u64, String)> {
    let word = |row: &Value, name: &str| row[name].as_str().unwrap().to_string();
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap();
    let mut found: Vec<_> = rows(report, "waits")
        .iter()
        .filter(|row| row["total_s"].as_f64().unwrap() > 0.025)
        .map(|row| {
            let (rank, other) = (number(row, "rank"), number(row, "for_rank"));
            (rank, word(row, "place"), word(row, "kind"), other, word(row, "for_place"))
        })
        .collect();
    found.sort();
    found
}

fn pair(from: usize, to: usize, messages: u64, bytes: u64) -> Value {
    serde_json::json!({"from": from, "to": to, "messages": messages, "bytes": bytes})
}

#[test]
fn a_rank_waits_for_its_late_neighbour_in_a_ring_and_no_other_does() {
    let Some(lab) = prepared("a rank waits for its late neighbour") else { return };
    let at = |remark: &str| place("neighbours", remark);
    for variant in VARIANTS {
        let report = reported(&lab, variant, "neighbours");
        let sender = || "late sender".to_string();
        let mut expected = Vec::new();
        for rank in [0, 2] {
            expected.push((rank, at("neighbours"), sender(), 1, at("neighbours")));
            expected.push((rank, at("ineighbours end"), sender(), 1, at("ineighbours")));
        }
        expected.sort();
        let mut found = late(&report);
        found.retain(|(rank, _, kind, other, _)| *other == 1 && *rank != 1 && *kind == sender());
        assert_eq!(found, expected, "{variant:?}: {report:#}");
        // Two collectives and twice a third, of an int to each side.
        for rank in 0..4 {
            for to in [(rank + 1) % 4, (rank + 3) % 4] {
                let found = rows(&report, "messages");
                assert!(found.contains(&pair(rank, to, 4, 16)), "{variant:?}: {found:?}");
            }
        }
        assert_eq!(rows(&report, "messages").len(), 8, "{variant:?}");
    }
}

/// Tests a graph in which rank 0 sends one int to rank 1, which arrives even later, and two to rank 2.
#[test]
fn in_a_graph_ranks_wait_for_those_that_send_to_them() {
    let Some(lab) = prepared("ranks wait in a graph") else { return };
    let report = reported(&lab, VARIANTS[0], "graph");
    let at = || place("graph", "graph");
    let mut found = late(&report);
    found.retain(|(_, _, kind, ..)| kind == "late sender");
    assert_eq!(found, [(2, at(), "late sender".to_string(), 0, at())], "{report:#}");
    assert_eq!(report["messages"], serde_json::json!([pair(0, 1, 1, 4), pair(0, 2, 1, 8)]));
}

#[test]
fn a_partitioned_message_is_sent_by_the_call_that_makes_its_last_partition_ready() {
    let Some(lab) = prepared("a partitioned message") else { return };
    for variant in VARIANTS {
        let report = reported(&lab, variant, "partitions");
        let at = |remark: &str| place("partitions", remark);
        let expected = (1, at("parts"), "late sender".to_string(), 0, at("last partition"));
        assert!(late(&report).contains(&expected), "{variant:?}: {report:#}");
        // Two rounds of four ints, and one plain message.
        assert_eq!(report["messages"], serde_json::json!([pair(0, 1, 3, 36)]), "{variant:?}");
    }
}

/// Tests the count of bytes. Rank 0 sends an int to each of the three others, and each sends one to it: 24 bytes.
#[test]
fn a_collective_of_two_groups_counts_what_is_given_to_the_other_group() {
    let Some(lab) = prepared("a collective of two groups") else { return };
    let report = reported(&lab, &[VARIANTS[0], &["--check"]].concat(), "groups");
    let is_it = |row: &&Value| row["function"] == "MPI_Alltoallw";
    let found: Vec<&Value> = rows(&report, "calls").iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!((&found[0]["calls"], &found[0]["bytes"]), (&4.into(), &24.into()));
    assert_eq!(report["findings"], serde_json::json!([]));
}
