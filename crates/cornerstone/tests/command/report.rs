//! Tests the content of every report, from any results.

use base64::Engine as _;
use cornerstone::report::render;
use record::Run;
use sha2::{Digest, Sha256};

use crate::synthetic::{CABINET, DESK, PREDICTED, run, run_of};

/// Returns the data that the page's script draws.
fn data(page: &str) -> serde_json::Value {
    let opening = r#"<script id="data" type="application/json">"#;
    let start = page.find(opening).expect("the page holds data") + opening.len();
    let end = start + page[start..].find("</script>").expect("the data ends");
    serde_json::from_str(&page[start..end]).expect("the data is JSON")
}

fn benchmarks(page: &str) -> Vec<serde_json::Value> {
    data(page)["benchmarks"].as_array().unwrap().clone()
}

/// Returns the scripts of a page that a browser would run.
fn scripts(page: &str) -> Vec<&str> {
    page.split("<script>").skip(1).map(|rest| &rest[..rest.find("</script>").unwrap()]).collect()
}

#[test]
fn a_report_asks_for_nothing_from_anywhere() {
    let page = render(&[run(&DESK)]);
    for reference in ["src=", "url(", "@import", "fetch(", "XMLHttpRequest", "href=\"http"] {
        assert!(!page.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_policy_admits_the_scripts_of_the_page_and_no_other() {
    let page = render(&[run(&DESK)]);
    let scripts = scripts(&page);
    assert_eq!(scripts.len(), 3);
    for script in &scripts {
        let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(script));
        assert!(
            page.contains(&format!("&#39;sha256-{digest}&#39;"))
                || page.contains(&format!("'sha256-{digest}'"))
        );
    }
    assert_eq!(page.matches("sha256-").count(), scripts.len());
}

#[test]
fn texts_of_a_results_file_cannot_leave_their_place() {
    let clean = render(&[run_of(&DESK, "ping-pong")]);
    let page = render(&[crate::synthetic::hostile_run(), crate::synthetic::hostile_run()]);
    assert_eq!(page.matches("<script").count(), clean.matches("<script").count());
    assert!(!page.contains("<img"), "an element of the attack stands in the page");
    assert!(!page.contains("alert(1)</script><"));
    // Still readable: the text is there, escaped.
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    assert!(data(&page)["runs"][0].as_str().unwrap().starts_with("</script>"));
}

#[test]
fn the_vendored_files_are_those_that_the_readme_names() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/vendor/");
    let readme = std::fs::read_to_string(format!("{folder}README.md")).unwrap();
    for file in ["uPlot.iife.min.js", "uPlot.min.css"] {
        let digest = Sha256::digest(std::fs::read(format!("{folder}{file}")).unwrap());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let row = readme.lines().find(|line| line.contains(&format!("`{file}` |"))).unwrap();
        assert!(row.contains(&hex), "{file} has sha256 {hex}");
    }
}

#[test]
fn a_quick_run_stays_below_a_megabyte() {
    let page = render(&[run(&DESK)]);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn every_measurement_of_a_run_stands_in_a_table() {
    let run = run(&DESK);
    let keys: std::collections::BTreeSet<_> = run.measurements.iter().map(|m| m.key()).collect();
    let page = render(&[run]);
    let rows: usize = page
        .split("<table class=\"numbers\">")
        .skip(1)
        .map(|rest| rest[..rest.find("</table>").unwrap()].matches("<tr>").count() - 1)
        .sum();
    assert_eq!(rows, keys.len());
}

#[test]
fn runs_side_by_side_share_charts_and_gain_ratios() {
    let page = render(&[run(&DESK), run(&CABINET), run(&PREDICTED)]);
    let ping_pong = benchmarks(&page)
        .into_iter()
        .find(|b| {
            b["details"][0]["label"] == "2 ranks" && b["charts"].as_array().unwrap().len() > 3
        })
        .expect("ping-pong has charts");
    let runs = |chart: &serde_json::Value| -> Vec<u64> {
        chart["lines"].as_array().unwrap().iter().map(|l| l["run"].as_u64().unwrap()).collect()
    };
    assert_eq!(runs(&ping_pong["charts"][0]), [0, 1, 2]);
    let ratio = ping_pong["charts"].as_array().unwrap().iter().find(|c| c["y"]["unit"] == "×");
    assert_eq!(runs(ratio.expect("a chart of ratios")), [1, 2]);
}

#[test]
fn the_same_run_twice_has_ratios_of_one() {
    let page = render(&[run_of(&DESK, "ping-pong"), run_of(&DESK, "ping-pong")]);
    let found = benchmarks(&page);
    let charts = found[0]["charts"].as_array().unwrap();
    let ratio = charts.iter().find(|chart| chart["y"]["unit"] == "×").unwrap();
    let medians = ratio["lines"][0]["median"].as_array().unwrap();
    assert_eq!(medians.len(), 12);
    assert!(medians.iter().all(|median| median.as_f64() == Some(1.0)), "{medians:?}");
}

#[test]
fn a_benchmark_without_sizes_is_drawn_over_ranks() {
    let page = render(&[run_of(&DESK, "barrier")]);
    let chart = &benchmarks(&page)[0]["charts"][0];
    assert_eq!(chart["x"]["title"], "ranks");
    assert_eq!(chart["lines"][0]["x"], serde_json::json!([2, 4, 8, 16]));
}

#[test]
fn an_empty_run_and_no_run_say_so() {
    assert!(render(&[crate::synthetic::empty_run()]).contains("contains no measurement"));
    assert!(render(&[]).contains("No run was given"));
}

#[test]
fn a_run_that_did_not_end_is_pointed_out() {
    let killed = Run { ended: false, cut_off: true, ..run_of(&DESK, "barrier") };
    assert!(render(&[killed]).contains("did not end in order"));
    assert!(!render(&[run_of(&DESK, "barrier")]).contains("did not end in order"));
}

#[test]
fn numbers_that_are_none_do_not_break_the_page() {
    let mut broken = run_of(&DESK, "ping-pong");
    for m in &mut broken.measurements {
        m.summary.median = f64::NAN;
        m.summary.p99 = f64::INFINITY;
        m.summary.ci_low = 0.0;
        m.samples = vec![f64::NAN, 0.0, f64::INFINITY];
    }
    let page = render(&[broken.clone(), broken]);
    assert!(!benchmarks(&page).is_empty());
}

#[test]
fn a_results_file_read_back_gives_the_same_report() {
    let run = Run { ended: false, ..run_of(&DESK, "ping-pong") };
    let read = Run::parse(&run.label, &crate::synthetic::to_json_lines(&run)).unwrap();
    let (read, made) = (render(&[read]), render(&[run]));
    let differs = read.bytes().zip(made.bytes()).position(|(a, b)| a != b).unwrap_or(0);
    assert!(read == made, "{} / {}", &read[differs - 99..][..150], &made[differs - 99..][..150]);
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    assert!(render(&[run(&DESK), run(&CABINET)]) == render(&[run(&DESK), run(&CABINET)]));
}

#[test]
fn each_pair_has_a_bar_beside_an_equal_share_and_jains_index() {
    let page = render(&[crate::synthetic::pairs_run()]);
    // 20 of at most 40 MB/s; an equal part would be 30.
    for part in ["width:50.00%", "width:100.00%", "left:75.00%"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("Jain's index of fairness 90 %, 25 % unsent"));
}

#[test]
fn links_of_a_simulated_network_have_a_bar_each_and_other_runs_have_none() {
    let page = render(&[crate::synthetic::pairs_run()]);
    let links = &page[page.find("Links: how busy each was").expect("links are shown")..];
    for part in ["node 1 +x", "width:75.00%", "25 %, 7 packets"] {
        assert!(links.contains(part), "{part}");
    }
    assert!(!render(&[run(&DESK)]).contains("Links: how busy"));
}
