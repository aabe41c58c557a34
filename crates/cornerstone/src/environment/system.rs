//! Reading small text files of the kernel, under a root that tests replace.

use std::path::{Path, PathBuf};

/// The kernel's files: `/proc` and `/sys` under `root`.
#[derive(Debug)]
pub(super) struct System {
    root: PathBuf,
}

impl System {
    /// Returns the files of this machine.
    pub(super) fn this() -> Self {
        System::under("/")
    }

    /// Returns the files under `root`.
    pub(super) fn under(root: impl Into<PathBuf>) -> Self {
        System { root: root.into() }
    }

    /// Returns the text of a file without the white space around it, or `None` if it cannot be read or is empty.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let text = std::fs::read(self.path(path)).ok()?;
        let text = String::from_utf8_lossy(&text).trim_matches(['\0', '\n', ' ', '\t']).to_string();
        (!text.is_empty()).then_some(text)
    }

    /// Returns whether this file or folder exists.
    pub(super) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Returns the names in a folder that are `prefix` and a number, in the order of the numbers.
    pub(super) fn numbered(&self, folder: &str, prefix: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<(u64, String)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                Some((name.strip_prefix(prefix)?.parse().ok()?, name))
            })
            .collect();
        names.sort();
        names.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the value of the first line `name: value` (or `name value`) of a file.
    pub(super) fn field(&self, path: &str, name: &str) -> Option<String> {
        field(&self.text(path)?, name)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(Path::new(path).strip_prefix("/").unwrap_or(Path::new(path)))
    }
}

/// Returns the value of the first line `name: value` (or `name value`) of `text`.
pub(super) fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        let value = rest.trim_start();
        // A longer name with the same beginning (`model` and `model name`) is another field.
        let ends_here = value.starts_with(':') || rest.len() > value.len();
        let value = value.strip_prefix(':').unwrap_or(value).trim();
        let other = value.contains(':') && !rest.trim_start().starts_with(':');
        (ends_here && !other && !value.is_empty()).then(|| value.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_whole_names() {
        let text = "model\t\t: 2\nmodel name\t: AMD EPYC\nMemTotal:  100 kB\nusage 5";
        assert_eq!(field(text, "model name"), Some("AMD EPYC".into()));
        assert_eq!(field(text, "model"), Some("2".into()));
        assert_eq!(field(text, "MemTotal"), Some("100 kB".into()));
        assert_eq!(field(text, "usage"), Some("5".into()));
        assert_eq!(field(text, "Mem"), None);
    }
}
