//! Writes reports of made-up runs into a folder, to look at and for the tests in a browser:
//! `cargo run -p cornerstone --example synthetic_report -- FOLDER`.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use cornerstone::report;
use record::Run;

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use synthetic::{CABINET, DESK, PREDICTED, run, run_of};

fn main() -> std::io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or_else(|| "results".into()).into();
    std::fs::create_dir_all(&folder)?;
    let pages: [(&str, Vec<Run>); 8] = [
        ("one", vec![run(&DESK)]),
        ("two", vec![run(&DESK), run(&CABINET)]),
        ("three", vec![run(&DESK), run(&CABINET), run(&PREDICTED)]),
        ("empty", vec![synthetic::empty_run()]),
        ("none", vec![]),
        ("single", vec![run_of(&DESK, "barrier")]),
        ("hostile", vec![synthetic::hostile_run()]),
        ("large", vec![synthetic::large_run()]),
    ];
    for (name, runs) in pages {
        let path = folder.join(name).with_extension("html");
        std::fs::write(&path, report::render(&runs))?;
        println!("{}", path.display());
    }
    Ok(())
}
