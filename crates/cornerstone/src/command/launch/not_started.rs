//! What to do about a program that the system does not start.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::preloaded;

/// Permission of anybody to execute a file.
const EXECUTE: u32 = 0o111;

/// Returns a hint on a program that was not found, or that the system does not execute.
pub(super) fn hint(program: &str, is_missing: bool) -> String {
    let path = Path::new(program);
    let is_name = path.components().count() == 1 && !program.contains('/');
    let metadata = path.metadata();
    match (is_missing, metadata) {
        (true, Ok(_)) if is_name => format!("write ./{program} for the file in this folder"),
        (true, Err(_)) if is_name => "no folder of PATH contains it; check its name".into(),
        (true, Err(_)) => "there is no such file; check its path".into(),
        (true, Ok(_)) => "the file is there, but not the interpreter that it names".into(),
        (false, Ok(data)) if data.is_dir() => "it is a folder; name a program in it".into(),
        (false, Ok(data)) if data.permissions().mode() & EXECUTE == 0 => {
            format!("make it executable with `chmod +x {program}`, or name its interpreter first")
        }
        (false, Ok(_)) => {
            "it is no program of this machine; a script begins with #! and its interpreter".into()
        }
        (false, Err(_)) => "check its path and its permissions".into(),
    }
}

/// Status of a program whose libraries the loader does not find, and of a shell that does not find a program.
const STATUS_NOT_FOUND: u8 = 127;

/// Returns a hint on a rank that ended with `status` because something was not found; `None` for another status.
pub(super) fn hint_of_status(status: u8) -> Option<String> {
    let folder = || {
        let found =
            ["libmpi_abi.so.1", "libmpi_abi.so"].map(|name| preloaded::find(name, "libmpi-abi"));
        Some(found.into_iter().find_map(Result::ok)?.parent()?.display().to_string())
    };
    (status == STATUS_NOT_FOUND).then(|| match folder() {
        Some(folder) => format!(
            "127 means that the loader or a shell has not found something; if it is libmpi_abi.so.1: \
             LD_LIBRARY_PATH={folder}"
        ),
        None => "127 means that the loader or a shell has not found something".into(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_hint_depends_on_what_is_in_the_place_of_the_program() {
        let lab = tempfile::tempdir().unwrap();
        let file = lab.path().join("program");
        let path = file.to_str().unwrap();
        assert!(hint("no-program-has-this-name", true).contains("PATH"));
        assert!(hint(path, true).contains("no such file"));
        fs::write(&file, "#!/not/there\n").unwrap();
        assert!(hint(path, true).contains("interpreter"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(hint(path, false).contains("chmod +x"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(hint(path, false).contains("#!"));
        assert!(hint(lab.path().to_str().unwrap(), false).contains("folder"));
        // Tests run in the folder of the crate, which contains this file.
        assert_eq!(hint("Cargo.toml", true), "write ./Cargo.toml for the file in this folder");
        assert_eq!(hint_of_status(1), None);
    }
}
