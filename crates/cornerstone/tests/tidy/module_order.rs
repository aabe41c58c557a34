//! Checks the order of modules: the files and folders directly under a crate's `src/` import only from those listed
//! before them.

use std::fs;

use crate::imports::{Crate, Import};
use crate::sources::{crates, root};

/// File with the orders, and their heading.
const DECLARED_IN: &str = "docs/architecture.md";
const HEADING: &str = "## Order of modules";

/// A crate and its modules from the lowest to the highest.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    name: String,
    modules: Vec<String>,
}

#[test]
fn rooms_import_from_rooms_below_them() {
    let text = fs::read_to_string(root().join(DECLARED_IN)).expect(DECLARED_IN);
    let (mut upward, mut mistakes) = (Vec::new(), Vec::new());
    for order in orders(&text) {
        if !crates().contains(&order.name) {
            mistakes.push(format!("{DECLARED_IN}: there is no crate {}", order.name));
            continue;
        }
        let read = Crate::read(&order.name);
        mistakes.extend(undeclared(&order, &read));
        upward.extend(upward_imports(&order, &read));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let count = upward.len();
    assert!(count == 0, "{count} imports from higher modules\n{}", upward.join("\n"));
}

/// Returns the orders in a text: the lines "* `crate`: module, module" under the heading. Indented lines continue an
/// order.
fn orders(text: &str) -> Vec<Order> {
    let under = text.split(&format!("{HEADING}\n")).nth(1).unwrap_or("");
    let section = under.split("\n#").next().unwrap_or("");
    let mut orders: Vec<Order> = Vec::new();
    for line in section.lines() {
        let begun = line.strip_prefix("* `").and_then(|line| line.split_once("`:"));
        let modules = match begun {
            Some((name, modules)) => {
                orders.push(Order { name: name.to_owned(), modules: Vec::new() });
                modules
            }
            // An indented line continues the order.
            None if line.starts_with(' ') => line,
            None => continue,
        };
        let modules = modules.split(',').map(|module| module.trim().trim_matches('`').to_owned());
        if let Some(order) = orders.last_mut() {
            order.modules.extend(modules.filter(|module| !module.is_empty()));
        }
    }
    orders
}

/// Returns the module of a file of a crate; `None` for the crate's root.
fn module(path: &str) -> Option<&str> {
    let inside = path.splitn(4, '/').nth(3)?;
    let module = inside.split('/').next()?.trim_end_matches(".rs");
    (!["lib", "main"].contains(&module)).then_some(module)
}

/// Returns modules that are declared and missing, and the reverse.
fn undeclared(order: &Order, read: &Crate) -> Vec<String> {
    let mut there: Vec<&str> =
        read.sources.iter().filter_map(|source| module(&source.path)).collect();
    there.dedup();
    let declared: Vec<&str> = order.modules.iter().map(String::as_str).collect();
    let missing = there.iter().filter(|module| !declared.contains(module));
    let missing = missing
        .map(|module| format!("{DECLARED_IN}: {} does not order the module {module}", order.name));
    let gone = declared.iter().filter(|module| !there.contains(module));
    missing
        .chain(gone.map(|module| format!("{DECLARED_IN}: {} has no module {module}", order.name)))
        .collect()
}

/// Returns imports from higher modules.
fn upward_imports(order: &Order, read: &Crate) -> Vec<String> {
    // The root is above all modules.
    let level = |path: &str| {
        module(path).map_or(Some(order.modules.len()), |module| {
            order.modules.iter().position(|other| other == module)
        })
    };
    let upward = |import: &&Import| {
        let [from, to] = [import.from, import.to].map(|file| level(&read.sources[file].path));
        to > from
    };
    let shown = |import: &Import| {
        let [from, to] = [import.from, import.to].map(|file| &read.sources[file].path);
        format!("{from}:{} uses {} of {to}", import.line, import.path)
    };
    read.imports.iter().filter(upward).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Source;

    #[test]
    fn an_order_is_read_from_its_section_alone() {
        let text = "# A\n* `x`: no\n## Order of modules\nWords, and * `y`: no.\n\n* `mpi`: error,\n  `datatype`\n* `b`: c\n\n## Next\n* `z`: no\n";
        let order = |name: &str, modules: &[&str]| Order {
            name: name.to_owned(),
            modules: modules.iter().map(|&module| module.to_owned()).collect(),
        };
        assert_eq!(orders(text), [order("mpi", &["error", "datatype"]), order("b", &["c"])]);
    }

    #[test]
    fn who_climbs_is_named_and_rooms_without_a_place_too() {
        let source =
            |path: &str| Source { path: format!("crates/c/src/{path}"), text: String::new() };
        let sources = vec![source("a.rs"), source("b/mod.rs"), source("lib.rs"), source("new.rs")];
        let import = |from, to| Import { from, to, line: 7, path: "crate::x".to_owned() };
        let read = Crate {
            sources,
            imports: vec![import(0, 1), import(1, 0), import(2, 1), import(1, 2)],
        };
        let order =
            Order { name: "c".to_owned(), modules: ["a", "b", "gone"].map(str::to_owned).to_vec() };
        assert_eq!(
            upward_imports(&order, &read),
            [
                "crates/c/src/a.rs:7 uses crate::x of crates/c/src/b/mod.rs",
                "crates/c/src/b/mod.rs:7 uses crate::x of crates/c/src/lib.rs"
            ]
        );
        assert_eq!(
            undeclared(&order, &read),
            [
                "docs/architecture.md: c does not order the module new",
                "docs/architecture.md: c has no module gone"
            ]
        );
    }
}
