//! The kernel's tracer `osnoise`, which reports every interrupt, softirq and thread that took a processor, with name
//! and time.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use contract::{TimeSpan, TracedNoise};
use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};

use crate::trace_line::{Noise, parse};

/// The mount point of the kernel's tracing file system.
pub(crate) const TRACEFS: &str = "/sys/kernel/tracing";
const PREFIX: &str = "cornerstone-";
const WITH_THREADS: &str = "OSNOISE_WORKLOAD";
const WITHOUT_THREADS: &str = "NO_OSNOISE_WORKLOAD";
const EVENTS: [&str; 4] = ["irq_noise", "nmi_noise", "softirq_noise", "thread_noise"];

/// A trace of one processor, in an instance of its own, so that other traces on this machine go on undisturbed.
#[derive(Debug)]
pub(crate) struct Trace {
    instance: PathBuf,
    /// The file of the tracer's options, if they were changed and must be restored.
    options: Option<PathBuf>,
    pipe: File,
    /// The beginning of a line whose end has not been read yet.
    rest: Vec<u8>,
    thread: u32,
}

impl Trace {
    /// Begins to trace `processor`. `root` is the mount point of the tracing file system.
    pub(crate) fn begin(root: &Path, processor: usize) -> Result<Trace, String> {
        check_tracer(root)?;
        let options = leave_threads_out(root)?;
        let instances = root.join("instances");
        remove_orphans(&instances);
        let instance = instances.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&instance).or_else(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(format!("making {}: {error}", instance.display())),
        })?;
        match start(&instance, processor) {
            Ok(pipe) => {
                let thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
                Ok(Trace { instance, options, pipe, rest: Vec::new(), thread })
            }
            Err(why) => {
                put_back(&instance, options.as_deref());
                Err(why)
            }
        }
    }

    /// Returns the events since the last call, the oldest first, without those of this thread itself.
    pub(crate) fn read(&mut self) -> Vec<TracedNoise> {
        // An empty non-blocking pipe is an error. All that was read before it is in `rest`.
        let _ = self.pipe.read_to_end(&mut self.rest);
        let now = clock_gettime(ClockId::Monotonic);
        let now_ns = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
        let complete = self.rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let text: Vec<u8> = self.rest.drain(..complete).collect();
        let of_others = |noise: &Noise| noise.thread != Some(self.thread);
        String::from_utf8_lossy(&text)
            .lines()
            .filter_map(parse)
            .filter(of_others)
            .map(|noise| TracedNoise {
                name: noise.name,
                age: TimeSpan::from_ns(now_ns.saturating_sub(noise.at_ns)),
                length: TimeSpan::from_ns(noise.length_ns),
            })
            .collect()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        put_back(&self.instance, self.options.as_deref());
    }
}

fn check_tracer(root: &Path) -> Result<(), String> {
    let tracers = read(&root.join("available_tracers")).map_err(|why| {
        format!("{why}; this needs root, and `mount -t tracefs tracefs {TRACEFS}`")
    })?;
    match tracers.split_whitespace().any(|tracer| tracer == "osnoise") {
        true => Ok(()),
        false => Err("this kernel was built without CONFIG_OSNOISE_TRACER".into()),
    }
}

/// Switches the tracer's own threads off, which would take the processor from the rank. Returns the file of the options
/// if this has changed it.
fn leave_threads_out(root: &Path) -> Result<Option<PathBuf>, String> {
    let path = root.join("osnoise/options");
    let options = read(&path).unwrap_or_default();
    let has = |option: &str| options.split_whitespace().any(|word| word == option);
    if has(WITHOUT_THREADS) {
        return Ok(None);
    }
    if !has(WITH_THREADS) {
        return Err(format!(
            "the tracer osnoise of this kernel always runs threads of its own, which would take the processor from the \
             rank; since Linux 6.3 {} has {WITH_THREADS}",
            path.display()
        ));
    }
    write(&path, WITHOUT_THREADS)?;
    Ok(Some(path))
}

/// Configures an instance and starts it. Returns the pipe of its lines.
fn start(instance: &Path, processor: usize) -> Result<File, String> {
    write(&instance.join("trace_clock"), "mono")?;
    write(&instance.join("tracing_cpumask"), &mask(processor))?;
    for event in EVENTS {
        write(&instance.join("events/osnoise").join(event).join("enable"), "1")?;
    }
    let path = instance.join(format!("per_cpu/cpu{processor}/trace_pipe"));
    let mut how = OpenOptions::new();
    how.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let pipe = how.open(&path).map_err(|error| format!("opening {}: {error}", path.display()))?;
    write(&instance.join("current_tracer"), "osnoise")?;
    write(&instance.join("tracing_on"), "1")?;
    Ok(pipe)
}

/// Ends a trace and frees its memory. Errors are ignored: the next trace removes what is left.
fn put_back(instance: &Path, options: Option<&Path>) {
    let _ = write(&instance.join("current_tracer"), "nop");
    let _ = fs::remove_dir(instance);
    if let Some(path) = options {
        let _ = write(path, WITH_THREADS);
    }
}

/// Removes the instances of processes that no longer exist.
fn remove_orphans(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let is_number = |process: &&str| process.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(process) = process.filter(is_number)
            && !Path::new("/proc").join(process).exists()
        {
            put_back(&entry.path(), None);
        }
    }
}

/// Returns the mask of a processor: groups of 32 bits in hexadecimal digits, the highest first.
fn mask(processor: usize) -> String {
    let zeros = ",00000000".repeat(processor / 32);
    format!("{:x}{zeros}", 1_u32 << (processor % 32))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("reading {}: {error}", path.display()))
}

/// Writes to an existing file: the kernel creates those of an instance.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let explain = |error| format!("writing {text} to {}: {error}", path.display());
    let mut file = OpenOptions::new().write(true).truncate(true).open(path).map_err(explain)?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(explain)
}

#[cfg(test)]
mod tests;
