//! The limit on idle states of the processors: the deeper an idle state, the longer its exit latency.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// A process that holds this file open limits the exit latency of all processors to the number that it wrote, in
/// microseconds (Linux, Documentation/power/pm_qos_interface.rst).
pub(crate) const FILE: &str = "/dev/cpu_dma_latency";

/// Limits the exit latency to zero for as long as the returned file is open.
pub(crate) fn hold_off(path: &Path) -> Result<File, String> {
    let explain = |error: std::io::Error| {
        format!("{}: {error}; this needs root, or permission to write to it", path.display())
    };
    let mut file = OpenOptions::new().write(true).open(path).map_err(explain)?;
    file.write_all(&0_i32.to_ne_bytes()).map_err(explain)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_zero_and_a_refusal_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cpu_dma_latency");
        let why = hold_off(&path).unwrap_err();
        assert!(why.contains("cpu_dma_latency: ") && why.contains("root"), "{why}");
        std::fs::write(&path, []).unwrap();
        drop(hold_off(&path).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), [0; 4]);
    }
}
