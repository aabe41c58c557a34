//! The page: head, navigation, sections, data and scripts.

use base64::Engine as _;
use benchmark::Group;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::Run;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::grouping::{Benchmark, benchmarks, words};
use super::limits::Limits;
use super::material::Material;
use super::sections::{BenchmarkData, Prepared, prepare};
use super::{
    chart::capitalised, comparing::Comparisons, elements, environment, findings, samples, summary,
};
use crate::fabric_name::simulated_machine;

const UPLOT_SCRIPT: &str = include_str!("../../assets/vendor/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("../../assets/vendor/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("../../assets/vendor/uPlot-LICENSE");
pub(super) const STYLE: &str = include_str!("../../assets/report.css");
/// Script that runs before the page is painted, so that a dark page does not flash white.
const THEME: &str = include_str!("../../assets/theme.js");
/// Script of the page itself. Each file uses only files before it.
const SCRIPT: &str = concat!(
    "\"use strict\";(() => {\n",
    include_str!("../../assets/format.js"),
    include_str!("../../assets/palette.js"),
    include_str!("../../assets/axes.js"),
    include_str!("../../assets/chart.js"),
    include_str!("../../assets/legend.js"),
    include_str!("../../assets/samples.js"),
    include_str!("../../assets/tables.js"),
    include_str!("../../assets/page.js"),
    "})();\n"
);

/// Data that the script draws.
#[derive(Serialize)]
struct Data<'a> {
    runs: Vec<&'a str>,
    benchmarks: Vec<BenchmarkData>,
}

/// Renders the whole document.
pub(super) fn render(runs: &[Run]) -> String {
    let found = benchmarks(runs);
    let measurements = runs.iter().flat_map(|run| &run.measurements);
    let traces = measurements.filter(|m| !m.samples.is_empty()).count();
    let material = Material {
        runs,
        limits: Limits::of(runs),
        comparisons: Comparisons::of(runs),
        numbers_per_trace: samples::numbers_per_trace(traces),
    };
    let (data, articles): (Vec<BenchmarkData>, Vec<Markup>) = found
        .iter()
        .enumerate()
        .map(|(index, benchmark)| prepare(index, benchmark, &material))
        .map(|Prepared { data, article }| (data, article))
        .unzip();
    let labels = runs.iter().map(|run| run.label.as_str()).collect();
    let data = Data { runs: labels, benchmarks: data };
    with_data(&title(runs), &body(&material, &found, &articles), &data)
}

/// Returns a whole document in the style of reports, in which the script draws nothing.
pub(super) fn document(title: &str, contents: &Markup, main: &Markup) -> String {
    with_data(title, &layout(contents, main), &Data { runs: Vec::new(), benchmarks: Vec::new() })
}

fn with_data(title: &str, body: &Markup, data: &Data) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {} {} {}",
        source_hash(THEME),
        source_hash(UPLOT_SCRIPT),
        source_hash(SCRIPT)
    );
    html! {
        (DOCTYPE)
        // The licence requires that every copy has it.
        (PreEscaped(format!("<!-- This page carries uPlot.\n\n{UPLOT_LICENCE}-->")))
        html lang="en-GB" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(super::GENERATOR);
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(UPLOT_STYLE)) (PreEscaped(STYLE)) }
                script { (PreEscaped(THEME)) }
            }
            body {
                (body)
                (data_script(data))
                script { (PreEscaped(UPLOT_SCRIPT)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

fn body(material: &Material, found: &[Benchmark], articles: &[Markup]) -> Markup {
    let runs = material.runs;
    let groups = groups(found);
    let main = html! {
        h1 { (title(runs)) }
        noscript { p.notice { "Charts need scripts; the tables contain every number." } }
        @if runs.is_empty() { p.notice { "No run was given, so there is nothing to report." } }
        @else { (opening(material, found)) }
        @for (group, members) in &groups {
            section {
                h2 { (group_title(group)) }
                @for &member in members { (articles[member]) }
            }
        }
        @if !runs.is_empty() { (provenance(runs)) (reading()) }
    };
    layout(&contents(&groups, found), &main)
}

/// Returns the body of a document: its head, the contents at the side, and the main part.
fn layout(contents: &Markup, main: &Markup) -> Markup {
    html! {
        a.skip href="#main" { "Skip to the report" }
        header.top {
            p.brand { "Cornerstone" }
            div.tools {
                button type="button" #theme hidden { "Dark" }
                button type="button" #print hidden { "Print" }
            }
        }
        div.layout {
            nav aria-label="Contents" { (contents) }
            main #main { (main) }
        }
        div #announcement role="status" aria-live="polite" {}
    }
}

fn opening(material: &Material, found: &[Benchmark]) -> Markup {
    let runs = material.runs;
    let findings = findings::findings(runs, found);
    html! {
        section #summary {
            h2 { "Summary" }
            (summary::sentences(material, found))
            (summary::key_figures(material, found))
            @if found.is_empty() { p.notice { "The run contains no measurement." } }
        }
        @if !found.is_empty() {
            section #stands-out {
                h2 { "What stands out" }
                (findings::list(&findings, runs.len() > 1))
            }
        }
    }
}

fn contents(groups: &[(&str, Vec<usize>)], found: &[Benchmark]) -> Markup {
    html! {
        ul {
            li { a href="#summary" { "Summary" } }
            li { a href="#stands-out" { "What stands out" } }
            @for (group, members) in groups {
                li {
                    span { (group_title(group)) }
                    ul { @for &member in members {
                        li { a href={ "#" (elements::anchor(member)) } { (found[member].name) } }
                    } }
                }
            }
            li { a href="#provenance" { "Environment" } }
            li { a href="#reading" { "How to read this" } }
        }
    }
}

fn provenance(runs: &[Run]) -> Markup {
    html! {
        section #provenance {
            h2 { "Environment and provenance" }
            (environment::table("Machine", &environment::machine(runs), runs))
            (environment::table("Run", &environment::provenance(runs), runs))
        }
    }
}

fn reading() -> Markup {
    html! {
        section #reading {
            h2 { "How to read this" }
            (PreEscaped(include_str!("../../assets/reading.html")))
        }
    }
}

/// Returns the groups in the order in which they first appear, with the indices of their benchmarks.
fn groups<'a>(found: &[Benchmark<'a>]) -> Vec<(&'a str, Vec<usize>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, benchmark) in found.iter().enumerate() {
        match groups.iter_mut().find(|(group, _)| *group == benchmark.group) {
            Some((_, members)) => members.push(index),
            None => groups.push((benchmark.group, vec![index])),
        }
    }
    groups
}

/// Returns the heading of a group. If no benchmark of this build is in the group, it is the group's name.
fn group_title(group: &str) -> String {
    let groups = benchmark::catalogue().iter().map(|benchmark| benchmark.group);
    let title = groups.into_iter().find(|one| one.name() == group).map(Group::title);
    title.map_or_else(|| capitalised(&words(group)), Into::into)
}

fn title(runs: &[Run]) -> String {
    match runs {
        [] => "Cornerstone report".into(),
        [run] if sends_nothing(run) => format!("The processor of {}", place(run)),
        [run] => format!("Message passing on {}", place(run)),
        more => {
            let places: Vec<String> = more.iter().map(|run| run.label.clone()).collect();
            format!("Message passing side by side: {}", places.join(", "))
        }
    }
}

/// Returns whether no benchmark of the run sends messages.
fn sends_nothing(run: &Run) -> bool {
    !run.measurements.is_empty() && run.measurements.iter().all(|m| m.ranks == 1)
}

fn place(run: &Run) -> String {
    let header = run.header();
    match simulated_machine(&header.fabric.name) {
        Some(machine) => format!("{machine}, simulated"),
        None => header.environment.host.clone(),
    }
}

/// Returns the data for the script. `<` is written as an escape, as JSON allows, so that no text of the data can end
/// the element.
fn data_script(data: &Data) -> Markup {
    let json = serde_json::to_string(data).expect("numbers and text are JSON");
    html! {
        script type="application/json" #data { (PreEscaped(json.replace('<', "\\u003c"))) }
    }
}

/// Returns the source expression with which a content policy admits exactly this script.
fn source_hash(script: &str) -> String {
    let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(script));
    format!("'sha256-{digest}'")
}
