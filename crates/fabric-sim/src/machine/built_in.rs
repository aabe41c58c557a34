//! The built-in machines, and the search for a machine by name or file.

use std::path::Path;

use definition_files::read_file;

use super::{Machine, MachineError, parse};

macro_rules! machines {
    ($($name:literal),* $(,)?) => {
        const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../machines/", $name, ".toml")))),*];
    };
}

machines![
    "ametek-s14",
    "ametek-s14-beta",
    "cluster",
    "fast-ethernet",
    "fat-tree",
    "fem",
    "gigabit-ethernet",
    "ipsc",
    "mark-iii",
    "myrinet",
    "paragon-osf1",
    "paragon-osf1-plain",
    "paragon-sunmos",
    "scale-atm",
    "scale-cluster",
    "scale-faults",
    "scale-sci",
    "sci-ring",
    "sci-scali",
    "sharc-ring",
    "sharc-fast-clock",
    "sharc-fast-links",
    "tigersharc",
];

/// Returns the names of the built-in machines.
pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// Returns the built-in machines.
pub fn built_in() -> Vec<Machine> {
    BUILT_IN.iter().map(|(name, text)| parse_built_in(name, text)).collect()
}

/// Returns the text of the file of a built-in machine, to be changed to another one.
///
/// # Errors
/// [`MachineError::Unknown`] with the most similar name.
pub fn built_in_text(name: &str) -> Result<&'static str, MachineError> {
    let unknown = || MachineError::Unknown { name: name.into(), suggestion: suggestion(name) };
    BUILT_IN.iter().find(|(other, _)| *other == name).map(|(_, text)| *text).ok_or_else(unknown)
}

/// Returns the machine called `name`: a built-in one, or the one in the file `name` if it ends in `.toml`.
///
/// # Errors
/// [`MachineError::Unknown`] with the most similar name, and [`MachineError::File`] with the mistake in the file.
pub fn find(name: &str) -> Result<Machine, MachineError> {
    if name.ends_with(".toml") {
        return Ok(parse(name, &read_file("machine file", Path::new(name))?)?);
    }
    find_built_in(name)
}

/// Returns the built-in machine called `name`. Opens no file, so a name from a file is harmless here.
///
/// # Errors
/// [`MachineError::Unknown`] with the most similar name.
pub fn find_built_in(name: &str) -> Result<Machine, MachineError> {
    Ok(parse_built_in(name, built_in_text(name)?))
}

fn parse_built_in(name: &str, text: &str) -> Machine {
    parse(&format!("machines/{name}.toml"), text).expect("a test reads every built-in machine")
}

fn suggestion(name: &str) -> String {
    let distance = |other: &str| strsim::damerau_levenshtein(name, other);
    match built_in_names().min_by_key(|other| distance(other)) {
        Some(near) if distance(near) <= 1 + near.len() / 3 => format!(" (is it `{near}`?)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines");
        let entries = fs::read_dir(folder).unwrap();
        let files = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let in_folder: BTreeSet<String> =
            files.filter_map(|file| file.strip_suffix(".toml").map(str::to_owned)).collect();
        let listed: BTreeSet<String> = built_in_names().map(str::to_owned).collect();
        assert_eq!(listed, in_folder);
    }

    #[test]
    fn every_built_in_machine_is_sound_and_bears_its_files_name() {
        for (name, text) in BUILT_IN {
            let machine =
                parse(&format!("machines/{name}.toml"), text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(machine.name, *name);
        }
    }

    #[test]
    fn a_name_that_is_nearly_right_is_suggested() {
        let error = find("paragon-osf").unwrap_err().to_string();
        assert!(
            error.starts_with("there is no machine `paragon-osf` (is it `paragon-osf1`?)"),
            "{error}"
        );
        assert!(find("no/such/file.toml").unwrap_err().to_string().contains("no/such/file.toml"));
    }
}
