//! The standard input and output of ranks: where they come from and where they go (docs/decisions/0070).

mod copying;
mod input;
mod lines;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use launcher::{LaunchOptions, Streams};
use rustix::fs::fstat;

use crate::arguments::StreamArguments;
use crate::failure::Failure;
use crate::utc;
pub(crate) use copying::Copying;
use copying::{Source, Target};
use lines::{Lines, Marks};

/// A place to which output goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    Output,
    Error,
    File {
        path: PathBuf,
        /// True if several ranks write to it.
        is_shared: bool,
    },
}

/// Sets the input and the output of ranks of this host, which are `ranks` of a run of `all`. Returns the thread that
/// copies their output, unless it goes its way without.
///
/// # Errors
/// A file cannot be made, the system has no more descriptors, or the rank that is to read is not there.
pub(crate) fn connect(
    options: &mut LaunchOptions,
    arguments: &StreamArguments,
    ranks: &[usize],
    all: usize,
) -> Result<Option<Copying>, Failure> {
    options.input = input::input(arguments.stdin.unwrap_or_default(), ranks.len())?;
    let mut plan = Plan::new(arguments, all);
    if plan.is_needless() {
        return Ok(None);
    }
    for &rank in ranks {
        options.streams.push(plan.streams(rank)?);
    }
    if plan.sources.is_empty() {
        return Ok(None);
    }
    Copying::start(plan.sources, plan.targets).map(Some).map_err(|error| failed(0, &error))
}

/// The places and pipes of ranks so far.
struct Plan<'a> {
    arguments: &'a StreamArguments,
    /// Number of ranks of the run.
    all: usize,
    /// True if this process's standard output and standard error are one file.
    are_one: bool,
    /// Places that ranks write to without a pipe.
    direct: HashMap<Place, Arc<File>>,
    /// Numbers of the places to which [`Copying`] writes.
    by_place: HashMap<Place, usize>,
    targets: Vec<Target>,
    sources: Vec<Source>,
}

impl<'a> Plan<'a> {
    fn new(arguments: &'a StreamArguments, all: usize) -> Self {
        Plan {
            arguments,
            all,
            are_one: is_same(&io::stdout(), &io::stderr()),
            direct: HashMap::new(),
            by_place: HashMap::new(),
            targets: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// Returns whether ranks write to the streams of this process themselves.
    fn is_needless(&self) -> bool {
        let places = self.places(0);
        places == (Place::Output, Place::Error)
            && !self.is_piped(&places.0)
            && !self.is_piped(&places.1)
    }

    /// Returns the streams of a rank.
    fn streams(&mut self, rank: usize) -> Result<Streams, Failure> {
        let places = self.places(rank);
        let output = self.stream(rank, &places.0)?;
        // What goes to one place goes there by one stream, so that it stays in its order.
        let are_own = places == (Place::Output, Place::Error);
        let are_one = are_own && self.are_one && self.is_piped(&places.0);
        let error = match are_one || places.0 == places.1 {
            true => output.clone(),
            false => self.stream(rank, &places.1)?,
        };
        Ok(Streams { output, error })
    }

    /// Returns the places of the output and the errors of a rank.
    fn places(&self, rank: usize) -> (Place, Place) {
        let place = |pattern: &Option<String>, own| match pattern {
            Some(pattern) => Place::File {
                path: filled(pattern, rank),
                is_shared: self.all > 1 && filled(pattern, rank) == filled(pattern, rank + 1),
            },
            None => own,
        };
        let output = place(&self.arguments.output_files, Place::Output);
        let error = match self.arguments.merge_errors {
            true => output.clone(),
            false => place(&self.arguments.error_files, Place::Error),
        };
        (output, error)
    }

    /// Returns whether output goes to a place by a pipe to this process. Somebody has to keep lines whole, unless one
    /// rank alone writes there, or all write to a terminal, to which the C library writes line by line.
    fn is_piped(&self, place: &Place) -> bool {
        let may_mix = match place {
            Place::Output => self.all > 1 && !io::stdout().is_terminal(),
            Place::Error => self.all > 1 && !io::stderr().is_terminal(),
            Place::File { is_shared, .. } => *is_shared,
        };
        may_mix || self.arguments.marks_lines()
    }

    fn stream(&mut self, rank: usize, place: &Place) -> Result<Arc<File>, Failure> {
        if !self.is_piped(place) {
            if let Some(file) = self.direct.get(place) {
                return Ok(file.clone());
            }
            let file = Arc::new(open(place)?);
            if matches!(place, Place::Output | Place::Error) {
                self.direct.insert(place.clone(), file.clone());
            }
            return Ok(file);
        }
        let target = match self.by_place.get(place) {
            Some(&target) => target,
            None => {
                self.targets.push(Target { file: open(place)?, name: name(place) });
                self.by_place.insert(place.clone(), self.targets.len() - 1);
                self.targets.len() - 1
            }
        };
        let (pipe, end) = io::pipe().map_err(|error| failed(rank, &error))?;
        let marks = Marks {
            rank: self.arguments.prefix.then_some(rank),
            time: self.arguments.timestamps.then_some(utc::now_with_milliseconds),
        };
        self.sources.push(Source { pipe, lines: Lines::new(marks), target });
        Ok(Arc::new(File::from(OwnedFd::from(end))))
    }
}

/// Opens a place.
fn open(place: &Place) -> Result<File, Failure> {
    let opened = match place {
        Place::Output => io::stdout().as_fd().try_clone_to_owned().map(File::from),
        Place::Error => io::stderr().as_fd().try_clone_to_owned().map(File::from),
        Place::File { path, .. } => create(path),
    };
    opened.map_err(|error| {
        let why = format!("opening {}: {error}", name(place));
        match place {
            Place::File { .. } => Failure::usage(why).hint("check the folder and its permissions"),
            _ => Failure::failed(why),
        }
    })
}

/// Returns the path of a pattern for a rank.
fn filled(pattern: &str, rank: usize) -> PathBuf {
    let host = || fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let mut path = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => match letters.next() {
                Some('r') => path += &rank.to_string(),
                Some('h') => path += host().trim(),
                Some('%') => path.push('%'),
                other => path.extend(['%'].into_iter().chain(other)),
            },
            other => path.push(other),
        }
    }
    path.into()
}

/// Returns whether two descriptors are of one file.
pub(crate) fn is_same(one: &impl AsFd, other: &impl AsFd) -> bool {
    let file = |fd: BorrowedFd<'_>| fstat(fd).ok().map(|file| (file.st_dev, file.st_ino));
    file(one.as_fd()).is_some() && file(one.as_fd()) == file(other.as_fd())
}

/// Returns a failure to make a pipe or thread for a rank.
fn failed(rank: usize, error: &io::Error) -> Failure {
    Failure::failed(format!("making the pipes for rank {rank}: {error}"))
        .hint("it takes four descriptors a rank: raise `ulimit -Hn`, or start fewer ranks")
}

fn name(place: &Place) -> String {
    match place {
        Place::Output => "standard output".into(),
        Place::Error => "standard error".into(),
        Place::File { path, .. } => format!("'{}'", path.display()),
    }
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_a_file_for_each_rank() {
        let path = |pattern| filled(pattern, 7).display().to_string();
        assert_eq!(path("out/rank.%r/stdout"), "out/rank.7/stdout");
        assert_eq!(path("50%%-%r%r"), "50%-77");
        assert_eq!(path("%q-%"), "%q-%");
        assert!(!path("%h").contains('%'));
    }

    #[test]
    fn ranks_share_a_pipe_only_where_their_lines_could_mix() {
        let plan = |pattern: Option<&str>, all| {
            let output_files = pattern.map(String::from);
            let arguments = StreamArguments { output_files, ..StreamArguments::default() };
            let plan = Plan::new(&arguments, all);
            let (output, _) = plan.places(0);
            plan.is_piped(&output)
        };
        assert!(!plan(Some("%r.txt"), 4));
        assert!(plan(Some("all.txt"), 4));
        assert!(!plan(Some("all.txt"), 1));
        assert!(!plan(None, 1));
    }
}
