//! Rings of the Scalable Coherent Interface under load.

use crate::lab::Lab;

#[test]
fn neighbours_get_what_links_carry_and_the_results_can_be_reported() {
    let lab = Lab::new();
    let words = ["sci", "--destinations", "downstream,upstream", "--pace", "available"];
    let ended = lab.succeed(&[&words[..], &["--duration-us", "300", "--out", "r.jsonl"]].concat());
    // Links of 125 MB/s: 64 bytes of each of 8 nodes in 41 + 5 x 7 symbols are 421 MB/s, in 41 x 7 + 5 are 110.
    let rate = |rule: &str| -> f64 {
        let lines = &mut ended.stdout.lines();
        let line = lines.find(|line| line.trim_start().starts_with(rule)).expect(rule);
        let words: Vec<&str> = line.split_whitespace().collect();
        let unit = words.iter().position(|word| *word == "MB/s").expect("a rate");
        words[unit - 1].parse().expect("a number")
    };
    assert!((337.0..=423.0).contains(&rate("downstream")), "{ended:#?}");
    assert!((88.0..=111.0).contains(&rate("upstream")), "{ended:#?}");
    // Two rules, each with a throughput and a delay.
    assert_eq!(lab.measurements("r.jsonl").len(), 4);

    lab.succeed(&["report", "r.jsonl"]);
    let page = std::fs::read_to_string(lab.path("r.html")).unwrap();
    assert!(page.contains("Message passing on sci, simulated"));
}

#[test]
fn what_cannot_be_is_told() {
    let lab = Lab::new();
    for (arguments, told) in [
        (["--shape", "star:4"], "ring:8"),
        (["--destinations", "fixed:8"], "no node 8 among 8"),
        (["--operation", "move:100"], "16, 64 or 256"),
        (["--urgent", "9"], "no node 9 among 8"),
        (["--queue", "0"], "hold no packet"),
        (["--out", "/nowhere/rings.jsonl"], "/nowhere/rings.jsonl"),
    ] {
        let ended = lab.run(&["sci", arguments[0], arguments[1], "--duration-us", "10"]);
        assert_eq!(ended.status, Some(2), "{arguments:?}: {ended:#?}");
        assert!(ended.stderr.contains(told), "{arguments:?}: {ended:#?}");
    }
}
