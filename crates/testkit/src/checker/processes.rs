//! N6: no process of the run remains.

use std::fs;
use std::path::Path;

/// Processes whose program or working directory is below a folder: pid and command line. Zombies count as gone.
pub fn left_below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes =
        entries.filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()));
    processes
        .filter_map(|entry| {
            let process = entry.path();
            let is_below = |link: &str| fs::read_link(process.join(link)).is_ok_and(|to| to.starts_with(folder));
            if !is_below("exe") && !is_below("cwd") {
                return None;
            }
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            Some(format!("{} {line}", entry.file_name().display()))
        })
        .collect()
}
