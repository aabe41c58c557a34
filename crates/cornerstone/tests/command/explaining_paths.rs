//! Tests the critical path of a report, its efficiencies, and what it says of the end of a run.

use serde_json::Value;

use crate::explaining::{place, prepared, reported, rows};
use crate::launching::run_program as run;

#[test]
fn the_path_goes_through_the_slow_rank_of_exchanges_and_its_neighbours_wait_for_it() {
    let Some(lab) = prepared("the path of exchanges") else { return };
    for variant in [&["-n", "4"][..], &["-n", "4", "--fabric", "sim:cluster", "--compute", "none"]]
    {
        let report = reported(&lab, variant, "slow");
        let number = |value: &Value| value.as_f64().unwrap();
        let path = &report["critical_path"];
        // Rank 3 sleeps for 200 ms; four exchanges of a megabyte take a few.
        let share = number(&path["outside_s"]) / number(&path["length_s"]);
        assert!(share > 0.7, "{variant:?}: {path:#}");
        assert_eq!(path["parts"][0]["ranks"], serde_json::json!([3]), "{path:#}");
        // Rank 2 sends to rank 3, and rank 0 receives from it.
        for (rank, kind) in [(2, "late receiver"), (0, "late sender")] {
            let waits = rows(&report, "waits").iter().filter(|row| row["rank"] == rank);
            let of_slow: Vec<&Value> = waits.filter(|row| row["for_rank"] == 3).collect();
            let row = of_slow.iter().find(|row| row["kind"] == kind);
            let row = row.unwrap_or_else(|| panic!("{variant:?}, rank {rank}: {report:#}"));
            assert_eq!(row["place"], place("slow", "exchange"));
        }
        let factor = |name: &str| number(&report["efficiency"][name]);
        let product = factor("load_balance") * factor("communication");
        assert!((factor("parallel") - product).abs() < 1e-9, "{report:#}");
        assert!(factor("load_balance") < 0.5 && factor("communication") > 0.7, "{report:#}");
    }
}

#[test]
fn the_page_says_what_ranks_were_doing_when_the_run_ended() {
    let Some(lab) = prepared("what ranks were doing at the end") else { return };
    let options = ["-n", "3", "--report=report.json", "--report=page.html"];
    let page = || std::fs::read_to_string(lab.path("page.html")).unwrap();
    run(&lab, &options, "stuck").refuses(122, &["rank 0 waits in MPI_Recv (stuck"]);
    assert!(page().contains("rank 0 waits in MPI_Recv (stuck, program.c:"));
    run(&lab, &options, "polls").refuses(128 + 9, &["killed"]);
    let polled = format!("rank 0 polled in MPI_Test ({}) for the last", place("polls", "polls"));
    assert!(page().contains(&polled), "{}", page());
}
