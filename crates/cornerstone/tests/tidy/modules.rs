//! The modules of a crate: their declarations, imports and mentioned paths.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::Source;
use crate::tokens::{Token, tokens, without_tests};

/// A module, which is a file or is in brackets in one.
#[derive(Default)]
pub(crate) struct Module {
    /// Index of the file in the crate's sources.
    pub(crate) file: usize,
    /// Index of the parent among the modules; that of the root is 0, and the root is its own parent.
    pub(crate) parent: usize,
    pub(crate) children: BTreeMap<String, usize>,
    /// Types, functions, constants and macros that are defined here.
    pub(crate) items: BTreeSet<String>,
    pub(crate) uses: Vec<Use>,
    /// Paths of two and more words outside of `use`, with the line of each.
    pub(crate) paths: Vec<(Vec<String>, usize)>,
    /// Words outside of `use` without a path before them, with the first line of each.
    pub(crate) words: BTreeMap<String, usize>,
}

/// A path that `use` imports.
pub(crate) struct Use {
    pub(crate) path: Vec<String>,
    /// Name of the import here; `*` for all names in it.
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) is_public: bool,
}

/// Returns the modules of the crate that consists of these files, without those for tests; the root is the first.
///
/// `sources` are the files of the crate's `src/`, whose path is `folder`. A crate with `lib.rs` is that library.
pub(crate) fn modules(folder: &str, sources: &[Source]) -> Vec<Module> {
    let place = |path: &str| sources.iter().position(|source| source.path == path);
    let root = ["lib", "main"].iter().find_map(|name| place(&format!("{folder}/{name}.rs")));
    let root = root.unwrap_or_else(|| panic!("{folder}: neither lib.rs nor main.rs"));
    let mut modules = vec![Module { file: root, ..Module::default() }];
    // A module, and the folder of its children.
    let mut unread = vec![(0, folder.to_owned())];
    while let Some((module, folder)) = unread.pop() {
        let all = tokens(&sources[modules[module].file].text);
        let mut reader = Reader { tokens: &without_tests(&all), at: 0, modules: &mut modules };
        for (parent, name, inner) in reader.read(module) {
            let inside = inner.iter().fold(folder.clone(), |path, part| format!("{path}/{part}"));
            let found = place(&format!("{inside}/{name}.rs"))
                .or_else(|| place(&format!("{inside}/{name}/mod.rs")));
            let file = found.unwrap_or_else(|| panic!("{inside}: no file for mod {name}"));
            let child = modules.len();
            modules.push(Module { file, parent, ..Module::default() });
            modules[parent].children.insert(name.clone(), child);
            unread.push((child, format!("{inside}/{name}")));
        }
    }
    modules
}

/// Reader of one file.
struct Reader<'a, 'b> {
    tokens: &'b [Token<'a>],
    at: usize,
    modules: &'b mut Vec<Module>,
}

/// A module in another file: its parent, its name, and the modules in brackets in which it is declared.
type Declared = (usize, String, Vec<String>);

const DEFINING: &[&str] = &["struct", "enum", "union", "trait", "type", "fn", "const", "static"];

impl Reader<'_, '_> {
    fn text(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    /// Reads the file of `module`, and returns the modules that it declares.
    fn read(&mut self, module: usize) -> Vec<Declared> {
        let mut declared = Vec::new();
        // The modules in brackets that are open, with the depth at which each began.
        let mut open = vec![(module, 0, String::new())];
        let mut depth = 0;
        while self.at < self.tokens.len() {
            let (current, begin, _) = open[open.len() - 1];
            match self.text(0) {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if depth < begin {
                        open.pop();
                    }
                }
                "mod" if self.text(2) == ";" => {
                    let inner = open.iter().skip(1).map(|(_, _, name)| name.clone()).collect();
                    declared.push((current, self.text(1).to_owned(), inner));
                    self.at += 2;
                }
                "mod" if self.text(2) == "{" => {
                    depth += 1;
                    let name = self.text(1).to_owned();
                    open.push((self.child(current, &name), depth, name));
                    self.at += 2;
                }
                "use" => self.read_use(current),
                word if DEFINING.contains(&word) && depth == begin => {
                    let name = self.text(1).to_owned();
                    self.modules[current].items.insert(name);
                }
                "macro_rules" => {
                    let name = self.text(2).to_owned();
                    self.modules[current].items.insert(name);
                }
                _ => self.read_path(current),
            }
            self.at += 1;
        }
        declared
    }

    /// Adds a module in brackets.
    fn child(&mut self, parent: usize, name: &str) -> usize {
        let child = self.modules.len();
        let file = self.modules[parent].file;
        self.modules.push(Module { file, parent, ..Module::default() });
        self.modules[parent].children.insert(name.to_owned(), child);
        child
    }

    /// Reads `use` up to its semicolon.
    fn read_use(&mut self, module: usize) {
        let before = self.tokens[..self.at].last().map_or("", |token| token.text);
        let is_public = before == "pub" || before == ")";
        self.at += 1;
        let mut found = Vec::new();
        self.read_tree(&[], &mut found);
        for (path, name, line) in found {
            self.modules[module].uses.push(Use { path, name, line, is_public });
        }
    }

    /// Reads the text after `prefix` up to the comma or bracket that ends it.
    fn read_tree(&mut self, prefix: &[String], found: &mut Vec<(Vec<String>, String, usize)>) {
        let mut path = prefix.to_vec();
        let mut name = None;
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        loop {
            match self.text(0) {
                "::" => self.at += 1,
                "{" => {
                    while !["}", ""].contains(&self.text(0)) {
                        self.at += 1;
                        if self.text(0) != "}" {
                            self.read_tree(&path, found);
                        }
                    }
                    self.at += 1;
                    return;
                }
                "as" => {
                    name = Some(self.text(1).to_owned());
                    self.at += 2;
                }
                "*" => {
                    name = Some("*".to_owned());
                    self.at += 1;
                }
                "self" if !path.is_empty() => self.at += 1,
                "," | "}" | ";" | "" => break,
                word => {
                    path.push(word.to_owned());
                    self.at += 1;
                }
            }
        }
        if let Some(last) = path.last().cloned() {
            found.push((path, name.unwrap_or(last), line));
        }
    }

    /// Reads the path or word at this position, if there is one.
    fn read_path(&mut self, module: usize) {
        let first = self.tokens[self.at];
        let before = self.tokens[..self.at].last().map_or("", |token| token.text);
        if !first.is_word() || [".", "::"].contains(&before) {
            return;
        }
        let mut path = vec![first.text.to_owned()];
        while self.text(1) == "::" && self.tokens.get(self.at + 2).is_some_and(Token::is_word) {
            path.push(self.text(2).to_owned());
            self.at += 2;
        }
        let module = &mut self.modules[module];
        module.words.entry(path[0].clone()).or_insert(first.line);
        if path.len() > 1 {
            module.paths.push((path, first.line));
        }
    }
}
