//! A place in the source of a program.

use std::fmt;
use std::path::Path;

/// A function and a line of a program, as far as debug information names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SourcePlace {
    pub(crate) function: Option<String>,
    /// The file, as debug information or an interpreter names it, and the number of the line, from 1 on.
    pub(crate) line: Option<(String, u32)>,
    /// File of code and offset in it, if neither is known.
    pub(crate) code: Option<String>,
}

impl SourcePlace {
    /// Reads what an interpreter has noted: `function, file:line`, or any other words.
    pub(crate) fn noted(text: &str) -> Self {
        let (function, at) = match text.rsplit_once(", ") {
            Some((function, at)) => (Some(function.to_owned()), at),
            None => (None, text),
        };
        let line = at.rsplit_once(':');
        match line.and_then(|(file, line)| Some((file.to_owned(), line.parse().ok()?))) {
            Some(line) => SourcePlace { function, line: Some(line), code: None },
            None => SourcePlace { code: Some(text.to_owned()), ..SourcePlace::default() },
        }
    }

    /// Returns the name of the file without its folder.
    pub(crate) fn file_name(&self) -> Option<&str> {
        let (file, _) = self.line.as_ref()?;
        Some(Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file))
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.file_name().zip(self.line.as_ref().map(|(_, line)| line));
        match (&self.function, line) {
            (Some(function), Some((file, line))) => write!(f, "{function}, {file}:{line}"),
            (Some(function), None) => f.write_str(function),
            (None, Some((file, line))) => write!(f, "{file}:{line}"),
            (None, None) => f.write_str(self.code.as_deref().unwrap_or("?")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shown_with_the_name_of_its_file_alone() {
        let place = SourcePlace {
            function: Some("Mesh::scatter<double, 3>".into()),
            line: Some(("/home/user/mesh.cpp".into(), 12)),
            code: None,
        };
        assert_eq!(place.to_string(), "Mesh::scatter<double, 3>, mesh.cpp:12");
        assert_eq!(SourcePlace { function: None, ..place.clone() }.to_string(), "mesh.cpp:12");
        let noted = SourcePlace::noted("Mesh::scatter<double, 3>, mesh.cpp:12");
        assert_eq!(noted.to_string(), place.to_string());
        assert_eq!(noted.line, Some(("mesh.cpp".into(), 12)));
        for other in ["other places", "?", "setup, in a library"] {
            assert_eq!(SourcePlace::noted(other).to_string(), other);
            assert_eq!(SourcePlace::noted(other).line, None);
        }
    }
}
