//! The order of rooms: the files and folders directly under a crate's `src/` import only from those below them.

use std::fs;

use crate::imports::{Crate, Import};
use crate::sources::{crates, root};

/// Where the orders are declared, and under which heading.
const DECLARED_IN: &str = "docs/architecture.md";
const HEADING: &str = "## Order of rooms";

/// A crate and its rooms from the lowest to the highest.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    name: String,
    rooms: Vec<String>,
}

#[test]
fn rooms_import_from_rooms_below_them() {
    let text = fs::read_to_string(root().join(DECLARED_IN)).expect(DECLARED_IN);
    let (mut climbs, mut mistakes) = (Vec::new(), Vec::new());
    for order in orders(&text) {
        if !crates().contains(&order.name) {
            mistakes.push(format!("{DECLARED_IN}: there is no crate {}", order.name));
            continue;
        }
        let read = Crate::read(&order.name);
        mistakes.extend(undeclared(&order, &read));
        climbs.extend(climbing(&order, &read));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let count = climbs.len();
    assert!(count == 0, "{count} imports climb\n{}", climbs.join("\n"));
}

/// The orders that a text declares: the lines "* `crate`: room, room" under the heading. Indented lines go on with an
/// order.
fn orders(text: &str) -> Vec<Order> {
    let under = text.split(&format!("{HEADING}\n")).nth(1).unwrap_or("");
    let section = under.split("\n#").next().unwrap_or("");
    let mut orders: Vec<Order> = Vec::new();
    for line in section.lines() {
        let begun = line.strip_prefix("* `").and_then(|line| line.split_once("`:"));
        let rooms = match begun {
            Some((name, rooms)) => {
                orders.push(Order { name: name.to_owned(), rooms: Vec::new() });
                rooms
            }
            // Indented: the order goes on.
            None if line.starts_with(' ') => line,
            None => continue,
        };
        let rooms = rooms.split(',').map(|room| room.trim().trim_matches('`').to_owned());
        if let Some(order) = orders.last_mut() {
            order.rooms.extend(rooms.filter(|room| !room.is_empty()));
        }
    }
    orders
}

/// The room that a file of a crate lies in; none for the crate's root.
fn room(path: &str) -> Option<&str> {
    let inside = path.splitn(4, '/').nth(3)?;
    let room = inside.split('/').next()?.trim_end_matches(".rs");
    (!["lib", "main"].contains(&room)).then_some(room)
}

/// Rooms that are declared and not there, and the other way round.
fn undeclared(order: &Order, read: &Crate) -> Vec<String> {
    let mut there: Vec<&str> =
        read.sources.iter().filter_map(|source| room(&source.path)).collect();
    there.dedup();
    let declared: Vec<&str> = order.rooms.iter().map(String::as_str).collect();
    let missing = there.iter().filter(|room| !declared.contains(room));
    let missing = missing
        .map(|room| format!("{DECLARED_IN}: {} has no place for the room {room}", order.name));
    let gone = declared.iter().filter(|room| !there.contains(room));
    missing
        .chain(gone.map(|room| format!("{DECLARED_IN}: {} has no room {room}", order.name)))
        .collect()
}

/// Who imports from above.
fn climbing(order: &Order, read: &Crate) -> Vec<String> {
    // The root stands above all rooms.
    let level = |path: &str| {
        room(path).map_or(Some(order.rooms.len()), |room| {
            order.rooms.iter().position(|other| other == room)
        })
    };
    let climbs = |import: &&Import| {
        let [from, to] = [import.from, import.to].map(|file| level(&read.sources[file].path));
        to > from
    };
    let shown = |import: &Import| {
        let [from, to] = [import.from, import.to].map(|file| &read.sources[file].path);
        format!("{from}:{} uses {} of {to}", import.line, import.path)
    };
    read.imports.iter().filter(climbs).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Source;

    #[test]
    fn an_order_is_read_from_its_section_alone() {
        let text = "# A\n* `x`: no\n## Order of rooms\nWords, and * `y`: no.\n\n* `mpi`: error,\n  `datatype`\n* `b`: c\n\n## Next\n* `z`: no\n";
        let order = |name: &str, rooms: &[&str]| Order {
            name: name.to_owned(),
            rooms: rooms.iter().map(|&room| room.to_owned()).collect(),
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
            Order { name: "c".to_owned(), rooms: ["a", "b", "gone"].map(str::to_owned).to_vec() };
        assert_eq!(
            climbing(&order, &read),
            [
                "crates/c/src/a.rs:7 uses crate::x of crates/c/src/b/mod.rs",
                "crates/c/src/b/mod.rs:7 uses crate::x of crates/c/src/lib.rs"
            ]
        );
        assert_eq!(
            undeclared(&order, &read),
            [
                "docs/architecture.md: c has no place for the room new",
                "docs/architecture.md: c has no room gone"
            ]
        );
    }
}
