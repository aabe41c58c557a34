//! Tests the guides: every command that they show is run, as a reader would run it.

use std::process::Command;

use crate::lab::Lab;
use crate::package::install;

/// Returns the blocks of shell commands of a page, as one script.
fn script(page: &str) -> String {
    let mut script = String::from("set -e\n");
    let mut inside = false;
    for line in page.lines() {
        match (inside, line) {
            (false, "```sh") => inside = true,
            (true, "```") => inside = false,
            (true, line) => script += &format!("{line}\n"),
            (false, _) => {}
        }
    }
    script
}

fn check_guide(name: &str, page: &str) {
    let lab = Lab::new();
    let Some(prefix) = install(&format!("the guide {name}"), &lab, "own") else { return };
    let script = script(page);
    assert!(
        script.contains("cornerstone") || script.contains("mpiexec"),
        "{name} shows no command"
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(lab.path(""))
        .env("PATH", format!("{}/bin:{path}", prefix.display()));
    let ended = lab.spawn(lab.marked(shell)).wait();
    assert_eq!(ended.status, Some(0), "{name}: {ended:#?}\n{script}");
}

#[test]
fn the_guide_for_mpi_programs_works() {
    check_guide("mpi-program", include_str!("../../../../docs/guides/mpi-program.md"));
}

#[test]
fn the_guide_of_mistakes_works() {
    check_guide("mistakes", include_str!("../../../../docs/guides/mistakes.md"));
}

#[test]
fn the_guide_for_clusters_works() {
    check_guide("cluster", include_str!("../../../../docs/guides/cluster.md"));
}

#[test]
fn the_guide_for_deadlines_works() {
    check_guide("deadlines", include_str!("../../../../docs/guides/deadlines.md"));
}

#[test]
fn the_guide_for_predictions_works() {
    check_guide("prediction", include_str!("../../../../docs/guides/prediction.md"));
}

#[test]
fn the_guide_for_services_works() {
    check_guide("services", include_str!("../../../../docs/guides/services.md"));
}
