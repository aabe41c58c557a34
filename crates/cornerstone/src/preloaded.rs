//! Libraries of this project that are loaded into a program before its own.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use launcher::LaunchOptions;

use crate::failure::Failure;

/// Variable that names the libraries that are loaded before all others.
const VARIABLE: &str = "LD_PRELOAD";

/// Finds a library, which the package `built_by` builds: beside this command, or in `lib` beside its folder.
pub(crate) fn find(name: &str, built_by: &str) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("finding this command's own file: {error}")))?;
    let folder = own.parent().unwrap_or(&own);
    // `cargo test` puts libraries into `deps`. The library of an earlier `cargo build` may still exist then, so the
    // newest is taken.
    let places = ["", "deps", "../lib"].map(|place| folder.join(place).join(name));
    let built = |path: &PathBuf| path.metadata().and_then(|one| one.modified()).ok();
    let found = places.into_iter().filter(|path| path.is_file()).max_by_key(built);
    let found = found.ok_or_else(|| {
        let why = format!("{name} is neither in '{}' nor in lib beside it", folder.display());
        Failure::failed(why).hint(format!("`cargo build -p {built_by}` makes it"))
    })?;
    let is_bad = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
    if found.as_os_str().as_encoded_bytes().iter().any(is_bad) {
        let why = format!("the system loads no library from '{}'", found.display());
        return Err(Failure::failed(why)
            .hint("install Cornerstone in a folder without blanks and colons in its path"));
    }
    Ok(found)
}

/// Lets the ranks of a run load a library before those of their programs. Libraries that the environment names already,
/// the program's own tools for instance, come after it, in their order. The run-time libraries of sanitizers come first,
/// as they must: `sanitizers` returns those of a program.
pub(crate) fn load(
    options: &mut LaunchOptions,
    library: &Path,
    sanitizers: impl Fn(&Path) -> Vec<PathBuf>,
) {
    let inherited = std::env::var_os(VARIABLE).unwrap_or_default();
    let given = named(&options.environment).unwrap_or(inherited);
    for other in &mut options.others {
        // What a program's own variables name holds for it in place of the common list.
        let given = named(&other.environment).unwrap_or_else(|| given.clone());
        let list = list(&sanitizers(&other.program), library, &given);
        other.environment.push((VARIABLE.into(), list));
    }
    let list = list(&sanitizers(&options.program), library, &given);
    options.environment.push((VARIABLE.into(), list));
}

/// Returns the libraries that variables name.
fn named(environment: &[(OsString, OsString)]) -> Option<OsString> {
    environment.iter().rfind(|(name, _)| name == VARIABLE).map(|(_, list)| list.clone())
}

/// Returns the list of the sanitizers, the library and the others.
fn list(sanitizers: &[PathBuf], library: &Path, others: &OsStr) -> OsString {
    // The loader divides at blanks and colons.
    let others = others.as_bytes().split(|byte| byte.is_ascii_whitespace() || *byte == b':');
    let others = others.filter(|one| !one.is_empty()).map(OsStr::from_bytes);
    let first: Vec<&OsStr> = sanitizers.iter().map(|path| path.as_os_str()).collect();
    let others: Vec<&OsStr> = others.filter(|one| !first.contains(one)).collect();
    [&first[..], &[library.as_os_str()], &others].concat().join(OsStr::new(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(list: &str) -> Vec<(OsString, OsString)> {
        vec![(VARIABLE.into(), list.into())]
    }

    #[test]
    fn libraries_come_before_those_of_the_user_and_after_sanitizers() {
        let mut options = LaunchOptions::new(3, Vec::new());
        options.program = "/clean".into();
        options.environment = variables("/tool.so  /other.so");
        options.others = ["/clean", "/sanitized"]
            .map(|program| launcher::OtherProgram {
                ranks: 1..2,
                program: program.into(),
                arguments: Vec::new(),
                environment: Vec::new(),
                directory: None,
            })
            .to_vec();
        options.others[0].environment = variables("/own.so");
        let sanitizers = |program: &Path| match program == Path::new("/sanitized") {
            true => vec![PathBuf::from("/asan.so")],
            false => Vec::new(),
        };
        load(&mut options, Path::new("/one.so"), sanitizers);
        load(&mut options, Path::new("/two.so"), sanitizers);
        let list = |environment: &[(OsString, OsString)]| named(environment).unwrap();
        assert_eq!(list(&options.environment), "/two.so:/one.so:/tool.so:/other.so");
        assert_eq!(list(&options.others[0].environment), "/two.so:/one.so:/own.so");
        let sanitized = "/asan.so:/two.so:/one.so:/tool.so:/other.so";
        assert_eq!(list(&options.others[1].environment), sanitized);
    }
}
