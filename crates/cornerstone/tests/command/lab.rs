//! The built command in a folder of its own, and its processes.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time limit beyond that of any command here, on a machine under any load. Only a hang reaches it.
pub(crate) const NO_HANG: Duration = Duration::from_secs(600);

/// Variable in the environment of every process that a test starts. Ranks inherit it, so each of them can be found.
const MARK: &str = "CORNERSTONE_TEST_MARK";

/// A working folder, and a mark for the processes that work there.
pub(crate) struct Lab {
    folder: tempfile::TempDir,
    mark: String,
}

/// The outcome of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit status; `None` if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command under way.
pub(crate) struct Running<'a> {
    lab: &'a Lab,
    child: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Lab {
    pub(crate) fn new() -> Lab {
        static LABS: AtomicU32 = AtomicU32::new(0);
        let number = LABS.fetch_add(1, Ordering::Relaxed);
        Lab {
            folder: tempfile::tempdir().unwrap(),
            mark: format!("{}-{number}", std::process::id()),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the mark as a variable's assignment.
    pub(crate) fn mark(&self) -> String {
        format!("{MARK}={}", self.mark)
    }

    /// Returns the command with these words, to be started in the folder.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cornerstone"));
        command.args(words).current_dir(self.folder.path());
        self.marked(command)
    }

    /// Adds the mark of the processes of this lab to another command.
    pub(crate) fn marked(&self, mut command: Command) -> Command {
        command.env(MARK, &self.mark);
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        self.start(words).wait()
    }

    /// Runs the command and expects success.
    pub(crate) fn succeed(&self, words: &[&str]) -> Ended {
        let ended = self.run(words);
        assert_eq!(ended.status, Some(0), "{words:?}: {ended:#?}");
        ended
    }

    pub(crate) fn start(&self, words: &[&str]) -> Running<'_> {
        self.spawn(self.command(words))
    }

    pub(crate) fn spawn(&self, command: Command) -> Running<'_> {
        let mut command = with_default_signals(&command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = drain(child.stdout.take().unwrap());
        let stderr = drain(child.stderr.take().unwrap());
        Running { lab: self, child, stdout, stderr }
    }

    /// Returns the processes with this lab's mark.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mark = self.mark();
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| environment(*pid).contains(&mark))
            .collect()
    }

    /// Waits until no process is left. Returns whether that happened.
    pub(crate) fn becomes_empty(&self) -> bool {
        eventually(|| self.processes().is_empty())
    }

    /// Returns the measurements in a results file; the last line may be truncated.
    pub(crate) fn measurements(&self, name: &str) -> Vec<Value> {
        self.records(name).into_iter().filter(|record| record["kind"] == "measurement").collect()
    }

    /// Returns the whole lines of a results file.
    pub(crate) fn records(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the exit status that follows from the periods in a results file: 1 if a given one is refused, 3 if it is
    /// not proven or a search found none, else 0.
    pub(crate) fn status_of_periods(&self, name: &str) -> i32 {
        let status = |search: &Value| {
            let [sustained, refused] = ["shortest_sustained_us", "longest_refused_us"]
                .map(|field| search[field].is_number());
            match (search["end"] == "one-period", sustained, refused) {
                (true, false, true) => 1,
                (true, true, _) if search["proven"] == false => 3,
                (_, true, _) => 0,
                (_, false, _) => 3,
            }
        };
        let measurements = self.measurements(name);
        let with_search = measurements.iter().filter(|one| one["search"].is_object());
        let all: Vec<i32> = with_search.map(|one| status(&one["search"])).collect();
        assert!(!all.is_empty(), "no period in {name}");
        [1, 3].into_iter().find(|status| all.contains(status)).unwrap_or(0)
    }

    /// Expects that no process is left, and then calls `holds`.
    #[track_caller]
    fn is_left(&self, holds: &impl Fn(&Lab)) {
        assert!(self.becomes_empty(), "processes are left: {:?}", self.processes());
        holds(self);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }
}

/// Returns the same command with default actions for the signals that end it. If the tests were started with these
/// ignored (by `nohup`, or in the background of a shell), it would inherit that.
fn with_default_signals(command: &Command) -> Command {
    let mut wrapped = Command::new("env");
    wrapped.arg("--default-signal=HUP,INT,TERM").arg(command.get_program());
    wrapped.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    wrapped
}

impl Drop for Lab {
    fn drop(&mut self) {
        // A test that fails in the middle must not leave ranks that spin.
        for pid in self.processes() {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    }
}

impl Running<'_> {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the process of a rank.
    pub(crate) fn rank(&self, rank: usize) -> Option<u32> {
        let place = format!("rank={rank} ");
        let mine = self.lab.processes().into_iter().filter(|pid| *pid != self.id());
        mine.into_iter()
            .find(|pid| environment(*pid).iter().any(|variable| variable.contains(&place)))
    }

    /// Returns the process of a rank, once it has started. A process in exec shows no environment for a moment, so a
    /// second search might not find it. The number is therefore taken from the same search.
    pub(crate) fn started(&self, rank: usize) -> u32 {
        let mut found = None;
        let is_there = eventually(|| {
            found = self.rank(rank);
            found.is_some()
        });
        assert!(is_there, "rank {rank} did not start");
        found.unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Waits for the end. If the command hangs, kills it and fails.
    pub(crate) fn wait(mut self) -> Ended {
        let limit = Instant::now() + NO_HANG;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > limit {
                let _ = self.child.kill();
                let stderr = self.stderr.join().unwrap();
                panic!("the command hung; it said: {stderr}");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        Ended {
            status: status.code(),
            stdout: self.stdout.join().unwrap(),
            stderr: self.stderr.join().unwrap(),
        }
    }
}

/// Starts a run in a new lab for each of its two ranks, kills that rank, and expects that the output names it and
/// contains `printed`. Then calls `holds` to check the remaining state.
#[track_caller]
pub(crate) fn kill_each_rank(
    start: impl Fn(&Lab) -> Running<'_>,
    printed: &str,
    holds: impl Fn(&Lab),
) {
    for rank in [0, 1] {
        let lab = Lab::new();
        let running = start(&lab);
        signal(running.rank(rank).expect("the rank runs"), "KILL");
        running.wait().refuses(1, &[&format!("rank {rank}"), "SIGKILL", printed]);
        lab.is_left(&holds);
    }
}

/// Starts a run, sends its launcher a signal, and expects that it ends with `status` and prints how to resume. Then
/// calls `holds` to check the remaining state.
#[track_caller]
pub(crate) fn interrupt(
    (name, status): (&str, i32),
    start: impl Fn(&Lab) -> Running<'_>,
    holds: impl Fn(&Lab),
) {
    let lab = Lab::new();
    let running = start(&lab);
    running.signal(name);
    running.wait().refuses(status, &["cornerstone run --resume run.jsonl"]);
    lab.is_left(&holds);
}

impl Ended {
    /// Returns each line of standard output as JSON.
    pub(crate) fn json(&self) -> Vec<Value> {
        let read =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.stdout.lines().map(read).collect()
    }

    /// Expects an error with this status, or an undecided result with status 3, and a message that contains each of
    /// `words` and no panic.
    #[track_caller]
    pub(crate) fn refuses(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, Some(status), "{self:#?}");
        let kind = if status == 3 { "cornerstone: undecided: " } else { "cornerstone: error: " };
        assert!(self.stderr.contains(kind), "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "'{word}' is missing: {self:#?}");
        }
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
    }
}

pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(status.unwrap().success());
}

/// Returns the words of a command line without quotes.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Waits for a condition. Returns whether it became true.
pub(crate) fn eventually(mut done: impl FnMut() -> bool) -> bool {
    let limit = Instant::now() + NO_HANG;
    while Instant::now() < limit {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Prints that a test was skipped, and the reason, without the test runner's capture of output.
pub(crate) fn skip(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Returns the environment with which a process was started; empty for one that has ended.
fn environment(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}
