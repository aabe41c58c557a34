//! Tests kernels of the HPEC Challenge, as a user runs them.

use crate::lab::Lab;

#[test]
fn each_kernel_has_a_rate_for_each_of_its_data_sets() {
    let lab = Lab::new();
    let words = ["run", "tdfir", "fdfir", "qr", "cfar", "--time-limit", "20ms", "--launches", "1"];
    lab.succeed(&[&words[..], &["--out", "run.jsonl"]].concat());
    let found = lab.measurements("run.jsonl");
    for (name, sets) in [("tdfir", 2), ("fdfir", 2), ("qr", 3), ("cfar", 4)] {
        let is_rate = |m: &&serde_json::Value| m["benchmark"] == name && m["metric"] == "rate";
        let rates: Vec<_> = found.iter().filter(is_rate).collect();
        assert_eq!(rates.len(), sets, "{name}: {found:#?}");
        for rate in rates {
            assert_eq!(rate["unit"], "MFLOP/s");
            assert!(rate["median"].as_f64().unwrap() > 0.0, "{rate:#?}");
        }
    }
    // The peak of the core is measured with them, and each has its share of it.
    assert!(found.iter().any(|m| m["benchmark"] == "peak"), "{found:#?}");
}
