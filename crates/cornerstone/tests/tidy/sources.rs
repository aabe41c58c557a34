//! The files that are read.

use std::fs;
use std::path::{Path, PathBuf};

/// A file of the repository.
pub(crate) struct Source {
    /// Path from the root of the repository, with `/` between.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate lies in the repository")
}

/// Returns the files under `folder` whose names end in one of `extensions`, in the order of their paths. An empty
/// extension stands for names without one.
pub(crate) fn sources(folder: &str, extensions: &[&str]) -> Vec<Source> {
    let root = root();
    let mut paths = Vec::new();
    collect(&root.join(folder), extensions, &mut paths);
    paths.sort();
    let read = |path: PathBuf| Source {
        path: path.strip_prefix(&root).expect("found below the root").display().to_string(),
        text: fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    };
    paths.into_iter().map(read).collect()
}

fn collect(folder: &Path, extensions: &[&str], paths: &mut Vec<PathBuf>) {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("a folder that can be read").path()) {
        if path.is_dir() {
            collect(&path, extensions, paths);
        } else if extensions.iter().any(|wanted| path.extension().unwrap_or_default() == *wanted) {
            paths.push(path);
        }
    }
}

/// Returns the names of the crates, which are those of their folders.
pub(crate) fn crates() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).expect("the folder of the crates");
    let folders = entries.map(|entry| entry.expect("a folder that can be read").path());
    let crates = folders.filter(|folder| folder.join("src").is_dir());
    let mut names: Vec<String> =
        crates.filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned())).collect();
    names.sort();
    names
}
