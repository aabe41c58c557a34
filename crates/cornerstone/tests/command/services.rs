//! Tests services, on every fabric that needs only this host.

use crate::lab::{Lab, signal};

#[test]
fn services_are_measured_on_real_and_simulated_fabrics() {
    let lab = Lab::new();
    for (at, fabric) in ["local", "tcp", "sim:cluster"].into_iter().enumerate() {
        let out = format!("{at}.jsonl");
        let words = ["run", "services", "--sizes", "8,512,4KiB", "--time-limit", "50ms"];
        let ended = lab.succeed(&[&words[..], &["--fabric", fabric, "--out", &out]].concat());
        let measured = |name: &str, metric: &str| {
            let all = lab.measurements(&out);
            all.iter().filter(|one| one["benchmark"] == name && one["metric"] == metric).count()
        };
        assert_eq!(measured("active-messages", "time"), 3, "{ended:#?}");
        assert_eq!(measured("active-stream", "rate"), 3, "{ended:#?}");
        // Both modes, with another rank and with itself; the other sizes are no buffers.
        assert_eq!(measured("send-and-receive", "time"), 4, "{ended:#?}");
        // The longest size is no tuple.
        assert_eq!(measured("tuple-space", "rate"), 2, "{ended:#?}");
        // Three variants of a broadcast, and an allgather, of each length.
        assert_eq!(measured("ring-protocol", "time"), 4 * 3, "{ended:#?}");
        // Messages, blocks and memory of each length, and signals.
        assert_eq!(measured("hcs", "time"), 3 * 3 + 1, "{ended:#?}");
        assert!(lab.becomes_empty());
    }
}

#[test]
fn a_rank_that_dies_in_a_service_is_named_and_ends_the_run() {
    for name in ["active-stream", "tuple-space", "send-and-receive", "ring-protocol", "hcs"] {
        let lab = Lab::new();
        let words = ["run", name, "--sizes", "8", "--time-limit", "100s", "--precision", "1e-9"];
        let running = lab.start(&[&words[..], &["--ranks", "3", "--out", "run.jsonl"]].concat());
        signal(running.started(1), "KILL");
        running.wait().refuses(1, &["rank 1", "SIGKILL"]);
        assert!(lab.becomes_empty());
    }
}
