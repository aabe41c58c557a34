//! Writes the revision that the build is made from into the environment variable `CORNERSTONE_REVISION`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap_or(root);
    let revision = revision(&root).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=CORNERSTONE_REVISION={revision}");
    println!("cargo::rerun-if-changed=build.rs");
    // Without these a revision would go stale: a commit moves the log of HEAD, an edit makes the tree dirty.
    println!("cargo::rerun-if-changed={}", root.join("crates").display());
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&root, &["rev-parse", "--git-path", name])
            && root.join(&path).exists()
        {
            println!("cargo::rerun-if-changed={}", root.join(path).display());
        }
    }
}

/// Returns the short hash of the commit in `root`, with `-dirty` if the sources were changed. Returns none where `root`
/// is not the top of a checkout (an unpacked archive, perhaps inside somebody else's checkout), and without git.
fn revision(root: &Path) -> Option<String> {
    let top = PathBuf::from(git(root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root {
        return None;
    }
    // Tags are excluded: the version already stands beside the revision.
    git(root, &["describe", "--always", "--dirty", "--exclude=*"])
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !text.is_empty()).then_some(text)
}
