use tempfile::TempDir;

use super::*;

/// A folder with the files of tracefs that a rank on processor 33 uses, and with the instance that the kernel would
/// create.
fn made_up(tracers: &str, options: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("available_tracers", tracers);
    file("osnoise/options", options);
    let of_instance = |name: &str| format!("instances/{PREFIX}{}/{name}", std::process::id());
    for name in ["trace_clock", "tracing_cpumask", "current_tracer", "tracing_on"] {
        file(&of_instance(name), "");
    }
    for event in EVENTS {
        file(&of_instance(&format!("events/osnoise/{event}/enable")), "0");
    }
    file(&of_instance("per_cpu/cpu33/trace_pipe"), "");
    folder
}

fn instance(folder: &TempDir) -> PathBuf {
    folder.path().join("instances").join(format!("{PREFIX}{}", std::process::id()))
}

const WHOLE: (&str, &str) = ("timerlat osnoise function nop\n", "OSNOISE_WORKLOAD PANIC_ON_STOP\n");

#[test]
fn a_trace_covers_one_processor_without_threads_and_its_end_restores_the_options() {
    let folder = made_up(WHOLE.0, WHOLE.1);
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    let trace = Trace::begin(folder.path(), 33).unwrap();
    let of_instance = |name: &str| read(instance(&folder).join(name));
    assert_eq!(of_instance("tracing_cpumask"), "2,00000000");
    assert_eq!(
        (of_instance("trace_clock"), of_instance("tracing_on")),
        ("mono".into(), "1".into())
    );
    assert_eq!(of_instance("current_tracer"), "osnoise");
    assert_eq!(of_instance("events/osnoise/thread_noise/enable"), "1");
    assert_eq!(read(folder.path().join("osnoise/options")), WITHOUT_THREADS);
    drop(trace);
    assert_eq!(of_instance("current_tracer"), "nop");
    assert_eq!(read(folder.path().join("osnoise/options")), WITH_THREADS);
}

#[test]
fn events_of_others_are_read_once_and_in_whole_lines() {
    let folder = made_up(WHOLE.0, WITHOUT_THREADS);
    let mut trace = Trace::begin(folder.path(), 33).unwrap();
    let add = |text: &str| {
        let path = instance(&folder).join("per_cpu/cpu33/trace_pipe");
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    let line =
        |event: &str| format!("rank-9 [033] d... 0.000001: {event} start 0.0 duration 70 ns\n");
    let own = format!("thread_noise: rank:{}", trace.thread);
    add(&(line(&own) + &line("irq_noise: local_timer:236") + &line("thread_noise: cc1:8")[..20]));
    let names = |traced: Vec<TracedNoise>| -> Vec<String> {
        traced.into_iter().map(|noise| noise.name).collect()
    };
    let first = trace.read();
    assert_eq!(first[0].length, TimeSpan::from_ns(70));
    // Its time stamp is a microsecond after the start of the machine.
    assert!(first[0].age > TimeSpan::from_us(1_000));
    assert_eq!(names(first), ["interrupt local_timer"]);
    assert!(trace.read().is_empty());
    add(&line("thread_noise: cc1:8")[20..]);
    assert_eq!(names(trace.read()), ["thread cc1"]);
}

#[test]
fn errors_name_what_is_missing() {
    let without = |folder: &TempDir| Trace::begin(folder.path(), 33).unwrap_err();
    let nothing = tempfile::tempdir().unwrap();
    let why = without(&nothing);
    assert!(why.contains("available_tracers: ") && why.contains("mount -t tracefs"), "{why}");
    let why = without(&made_up("function nop\n", WHOLE.1));
    assert!(why.contains("CONFIG_OSNOISE_TRACER"), "{why}");
    let why = without(&made_up(WHOLE.0, "\n"));
    assert!(why.contains("since Linux 6.3") && why.contains("osnoise/options"), "{why}");
    // A failure restores the options.
    let folder = made_up(WHOLE.0, WHOLE.1);
    fs::remove_file(instance(&folder).join("trace_clock")).unwrap();
    assert!(without(&folder).contains("trace_clock"));
    let options = fs::read_to_string(folder.path().join("osnoise/options")).unwrap();
    assert_eq!(options, WITH_THREADS);
}

#[test]
fn instances_of_processes_that_no_longer_exist_are_removed_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    // No process has the first number: the highest is 2^22.
    let names = [format!("{PREFIX}99999999"), format!("{PREFIX}{}", std::process::id())];
    let names = [names[0].as_str(), &names[1], "cornerstone-x", "somebody"];
    names.iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
    remove_orphans(folder.path());
    let left = names.map(|name| folder.path().join(name).exists());
    assert_eq!(left, [false, true, true, true]);
}
