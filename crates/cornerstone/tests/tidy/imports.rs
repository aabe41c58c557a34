//! Imports between the files of a crate, also through re-exports.

use std::collections::BTreeMap;

use crate::modules::{Module, Use, modules};
use crate::sources::{Source, sources};

/// The files of a crate and their imports from each other.
pub(crate) struct Crate {
    pub(crate) sources: Vec<Source>,
    pub(crate) imports: Vec<Import>,
}

/// A file's use of another file's item; the first use if there are several.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// Indices of the sources.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) line: usize,
    pub(crate) path: String,
}

impl Crate {
    /// Reads the crate in `crates/name`.
    pub(crate) fn read(name: &str) -> Self {
        let folder = format!("crates/{name}/src");
        let sources = sources(&folder, &["rs"]);
        let modules = modules(&folder, &sources);
        let imports = imports(&modules);
        Self { sources, imports }
    }
}

/// Target of a path.
#[derive(Clone, Copy)]
enum Found {
    Module(usize),
    /// An item in this file.
    Item(usize),
}

/// Number of re-exports of re-exports that are followed before a path counts as unresolved, because they may form a
/// circle.
const MOST_STEPS: usize = 16;

fn imports(modules: &[Module]) -> Vec<Import> {
    let scope = Scope { modules };
    let mut first = BTreeMap::new();
    for (at, module) in modules.iter().enumerate() {
        let mut take = |found: Option<Found>, path: String, line: usize| {
            if let Some(Found::Item(to)) = found.filter(|_| line > 0) {
                let import = Import { from: module.file, to, line, path };
                if import.from != to {
                    let first_of = first
                        .entry((module.file, to))
                        .or_insert_with(|| (line, import.path.clone()));
                    if line < first_of.0 {
                        *first_of = (line, import.path);
                    }
                }
            }
        };
        for brought in module.uses.iter().filter(|brought| !scope.is_face(at, brought)) {
            if brought.name != "*" {
                take(
                    scope.resolve(at, &brought.path, MOST_STEPS),
                    brought.path.join("::"),
                    brought.line,
                );
                continue;
            }
            let Some(Found::Module(opened)) = scope.resolve(at, &brought.path, MOST_STEPS) else {
                continue;
            };
            for (word, &line) in
                module.words.iter().filter(|(word, _)| !module.items.contains(*word))
            {
                take(
                    scope.lookup(opened, word, MOST_STEPS),
                    format!("{}::{word}", brought.path.join("::")),
                    line,
                );
            }
        }
        for (path, line) in &module.paths {
            take(scope.resolve(at, path, MOST_STEPS), path.join("::"), *line);
        }
    }
    let import = |((from, to), (line, path))| Import { from, to, line, path };
    first.into_iter().map(import).collect()
}

struct Scope<'a> {
    modules: &'a [Module],
}

impl Scope<'_> {
    /// Returns whether this re-exports items below a module under the module's own name, and the module itself does not
    /// use it.
    fn is_face(&self, module: usize, brought: &Use) -> bool {
        let begin = match self.resolve(module, &brought.path[..1], MOST_STEPS) {
            Some(Found::Module(begin)) => begin,
            _ => return false,
        };
        let parent = self.modules[begin].parent;
        let below = begin == module || parent == module;
        brought.is_public && below && !self.modules[module].words.contains_key(&brought.name)
    }

    /// Returns the target of a path in the module `from`.
    fn resolve(&self, from: usize, path: &[String], steps: usize) -> Option<Found> {
        let steps = steps.checked_sub(1)?;
        let mut words = path.iter();
        let mut current = match words.next()?.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.modules[from].parent,
            word => match self.lookup(from, word, steps)? {
                Found::Module(module) => module,
                item => return Some(item),
            },
        };
        for word in words {
            current = match word.as_str() {
                "super" => self.modules[current].parent,
                word => match self.lookup(current, word, steps) {
                    Some(Found::Module(module)) => module,
                    Some(item) => return Some(item),
                    // Defined by a macro, as far as the text shows.
                    None => return Some(Found::Item(self.modules[current].file)),
                },
            };
        }
        Some(Found::Module(current))
    }

    /// Returns the meaning of a name in a module.
    fn lookup(&self, module: usize, name: &str, steps: usize) -> Option<Found> {
        let Module { children, items, uses, file, .. } = &self.modules[module];
        if let Some(&child) = children.get(name) {
            return Some(Found::Module(child));
        }
        if items.contains(name) {
            return Some(Found::Item(*file));
        }
        let steps = steps.checked_sub(1)?;
        let named = uses.iter().filter(|brought| brought.name == name);
        // A name that is imported from another crate under itself would otherwise be searched here for ever.
        let mut named = named.filter(|brought| brought.path[0] != name);
        if let Some(found) = named.find_map(|brought| self.resolve(module, &brought.path, steps)) {
            return Some(found);
        }
        let opened = uses.iter().filter(|brought| brought.name == "*" && brought.path[0] != name);
        opened.into_iter().find_map(|brought| match self.resolve(module, &brought.path, steps)? {
            Found::Module(opened) => self.lookup(opened, name, steps),
            Found::Item(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the imports of a crate made of these files, as `from -> to: path`.
    fn imports_of(files: &[(&str, &str)]) -> Vec<String> {
        let source = |&(path, text): &(&str, &str)| Source {
            path: format!("src/{path}"),
            text: text.to_owned(),
        };
        let sources: Vec<Source> = files.iter().map(source).collect();
        let shown = |import: &Import| {
            format!("{} -> {}: {}", files[import.from].0, files[import.to].0, import.path)
        };
        imports(&modules("src", &sources)).iter().map(shown).collect()
    }

    #[test]
    fn a_re_export_leads_to_the_file_of_the_item() {
        let files = [
            ("a/inner.rs", "pub(crate) struct A; pub(crate) fn f() { super::helper() }"),
            ("a/mod.rs", "mod inner; pub(crate) use inner::{A, f}; fn helper() {}"),
            ("b.rs", "use crate::a::A; fn g() { crate::a::f() }"),
            ("lib.rs", "mod a; mod b; pub use a::A;"),
        ];
        assert_eq!(
            imports_of(&files),
            ["a/inner.rs -> a/mod.rs: super::helper", "b.rs -> a/inner.rs: crate::a::A"]
        );
    }

    #[test]
    fn a_parent_that_uses_what_it_shows_imports_it() {
        let files = [("a.rs", "pub struct A;"), ("lib.rs", "mod a; pub use a::A; fn f(_: A) {}")];
        assert_eq!(imports_of(&files), ["lib.rs -> a.rs: a::A"]);
    }

    #[test]
    fn names_that_a_star_brings_count_where_they_are_used() {
        let files = [
            ("a.rs", "pub(crate) struct A; pub(crate) struct B;"),
            ("b.rs", "use crate::a::*;\nfn f(_: A) {}"),
            ("c.rs", "use crate::a::*;"),
            ("lib.rs", "mod a; mod b; mod c;"),
        ];
        assert_eq!(imports_of(&files), ["b.rs -> a.rs: crate::a::A"]);
    }

    #[test]
    fn modules_are_no_imports_but_what_is_named_through_them_is() {
        let files = [
            ("a.rs", "pub(crate) fn f() {}"),
            ("b.rs", "use crate::a; use std::a::x; fn g() { a::f(); std::a::f(); x::a(); }"),
            ("c.rs", "#[cfg(test)] mod tests { use crate::a::f; }"),
            ("lib.rs", "mod a; mod b; mod c;"),
        ];
        assert_eq!(imports_of(&files), ["b.rs -> a.rs: a::f"]);
    }
}
