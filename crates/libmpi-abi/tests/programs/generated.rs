//! Tests that the generated files match the data.

#[path = "../../generator/mod.rs"]
mod generator;

#[test]
fn generated_files_are_not_stale() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, contents) in generator::generate(folder).unwrap() {
        let committed = std::fs::read_to_string(folder.join(path)).unwrap_or_default();
        assert!(
            committed == contents,
            "{path} is stale; run `cargo run -p libmpi-abi --example generate`"
        );
    }
}
