//! Open MPI's options for the output of ranks.

use std::ffi::OsString;

use crate::failure::Failure;

/// Returns the options of `launch` that write the output of each rank below a folder, where Open MPI writes it.
pub(super) fn folder(folder: &str) -> Vec<OsString> {
    // What follows a colon says whether it is printed, too.
    let folder = folder.split(':').next().unwrap_or_default().replace('%', "%%");
    let file = |name: &str| OsString::from(format!("{folder}/1/rank.%r/{name}"));
    vec!["--output-files".into(), file("stdout"), "--error-files".into(), file("stderr")]
}

/// Returns the options of `launch` for the directives of `--output`.
pub(super) fn list(option: &str, list: &str) -> Result<Vec<OsString>, Failure> {
    let mut words: Vec<OsString> = Vec::new();
    for word in list.split([',', ':']) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match (&*name.to_lowercase(), value) {
            ("tag" | "rank" | "tag-detailed" | "tag-fullname", "") => words.push("--prefix".into()),
            ("timestamp", "") => words.push("--timestamps".into()),
            ("merge" | "merge-stderr-to-stdout", "") => words.push("--merge-errors".into()),
            ("" | "raw" | "copy" | "nocopy", "") => {}
            ("dir" | "directory", value) if !value.is_empty() => words.extend(folder(value)),
            ("file", value) if !value.is_empty() => {
                let pattern = OsString::from(format!("{}.%r", value.replace('%', "%%")));
                words.extend(["--output-files".into(), pattern, "--merge-errors".into()]);
            }
            _ => {
                return Err(Failure::usage(format!("mpiexec: {option} {word} is not supported"))
                    .hint("write tag, timestamp, merge, file=PREFIX or dir=FOLDER, or --output-files PATTERN"));
            }
        }
    }
    words.dedup();
    Ok(words)
}

/// Returns whether the list of `--display` asks for the places of the ranks, and what of it has no effect.
pub(super) fn displayed(option: &str, list: &str) -> Result<(bool, Vec<String>), Failure> {
    let mut shows_places = false;
    let mut without_effect = Vec::new();
    for word in list.split([',', ':']) {
        match &*word.to_lowercase() {
            "map" | "bind" | "bindings" | "map-devel" => shows_places = true,
            "allocation" | "topo" | "parseable" | "parsable" => {
                without_effect.push(format!("{option} {word}"));
            }
            _ => {
                return Err(Failure::usage(format!("mpiexec: {option} {word} is not supported"))
                    .hint(
                        "write map or bind, which print the host and the processors of each rank",
                    ));
            }
        }
    }
    Ok((shows_places, without_effect))
}
