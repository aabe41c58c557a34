//! Refuses circles of files: each file imports from another one of them, so none can be understood, tested or moved
//! alone.
//!
//! A module and the modules inside it count as one: imports between them form no circle.

use crate::imports::{Crate, Import};
use crate::sources::crates;

/// The crates that have circles, each with the number of files in each of its circles. They may only be reduced, and must
/// be once a circle is gone: room that is left would admit a new one.
const CIRCLES: &[(&str, &[usize])] = &[("contract", &[2]), ("endpoint", &[2]), ("record", &[2])];

#[test]
fn few_files_import_each_other() {
    let mut lines = Vec::new();
    let mut found = Vec::new();
    for name in crates() {
        let mut sizes = Vec::new();
        let Crate { sources, imports } = Crate::read(&name);
        let is_inside = |inner: usize, outer: usize| {
            sources[inner].path.starts_with(&folder(&sources[outer].path))
        };
        let counted = |import: &&Import| {
            !is_inside(import.from, import.to) && !is_inside(import.to, import.from)
        };
        let imports: Vec<&Import> = imports.iter().filter(counted).collect();
        let edges: Vec<(usize, usize)> =
            imports.iter().map(|import| (import.from, import.to)).collect();
        for circle in circles(sources.len(), &edges) {
            sizes.push(circle.len());
            lines.push(format!("{name}, {} files:", circle.len()));
            let inside = imports
                .iter()
                .filter(|import| circle.contains(&import.from) && circle.contains(&import.to));
            lines.extend(inside.map(|import| {
                let (from, to) = (&sources[import.from].path, &sources[import.to].path);
                format!("  {from}:{} uses {} of {to}", import.line, import.path)
            }));
        }
        if !sizes.is_empty() {
            sizes.sort_unstable();
            found.push((name, sizes));
        }
    }
    let permitted: Vec<(String, Vec<usize>)> =
        CIRCLES.iter().map(|(name, sizes)| (name.to_string(), sizes.to_vec())).collect();
    let lines = lines.join("\n");
    assert_eq!(
        found, permitted,
        "left: the circles that there are; right: those that are known\n{lines}"
    );
}

/// Returns the folder of the modules inside a file's module, with `/` at its end.
fn folder(path: &str) -> String {
    let without = path.trim_end_matches(".rs");
    let root = ["/mod", "/lib", "/main"].iter().find_map(|name| without.strip_suffix(name));
    format!("{}/", root.unwrap_or(without))
}

#[test]
fn a_module_owns_the_folder_of_its_name() {
    assert_eq!(["a/b.rs", "a/b/mod.rs", "a/src/lib.rs"].map(folder), ["a/b/", "a/b/", "a/src/"]);
}

/// Returns the largest sets of two and more places that all lead to each other.
fn circles(places: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut leads = vec![vec![false; places]; places];
    for &(from, to) in edges {
        leads[from][to] = true;
    }
    for via in 0..places {
        let onwards = leads[via].clone();
        for row in leads.iter_mut().filter(|row| row[via]) {
            row.iter_mut().zip(&onwards).for_each(|(leads, &onwards)| *leads |= onwards);
        }
    }
    let circle = |place: usize| -> Vec<usize> {
        (0..places).filter(|&other| leads[place][other] && leads[other][place]).collect()
    };
    // Each set is kept only at its first place.
    (0..places)
        .map(circle)
        .enumerate()
        .filter(|(place, circle)| circle.first() == Some(place))
        .map(|(_, circle)| circle)
        .collect()
}

#[test]
fn a_circle_is_found_once_and_a_line_is_none() {
    assert_eq!(circles(6, &[(0, 1), (1, 2), (2, 4), (4, 1), (3, 5)]), [[1, 2, 4]]);
}
