//! Memory cost of calls, measured in a process of its own, where no other test adds to it.

use std::fs::{self, OpenOptions};
use std::process::Command;

use serde_json::{Value, json};

use crate::project::Project;

/// Memory beyond what the process had before the call.
pub(crate) const MAX_EXTRA_KIB: u64 = 64 * 1024;
/// Names the only test to run in this process.
const ALONE: &str = "TOOLS_TEST_ALONE";

#[test]
fn a_search_through_lines_of_gibibytes_stays_within_its_memory() {
    measure("a_search_through_lines_of_gibibytes_stays_within_its_memory", |project| {
        project.write("a.txt", "needle\n");
        endless_line(project, "big");
        fs::write(project.path("long"), vec![b'a'; 20 << 20]).unwrap();
        vec![
            ("Grep", json!({"pattern": "needle", "output_mode": "content"}), "a.txt\n1:needle\n[2 files skipped"),
            (
                "Grep",
                json!({"pattern": "a+", "path": "big", "multiline": true}),
                "[no match in 0 files; 1 file skipped",
            ),
            ("Read", json!({"file_path": "big"}), "line 1 has no end within 67116868 bytes"),
        ]
    });
}

#[test]
fn a_match_of_a_hundred_thousand_lines_in_many_files_stays_within_its_memory() {
    measure("a_match_of_a_hundred_thousand_lines_in_many_files_stays_within_its_memory", |project| {
        for n in 0..100 {
            project.write(&format!("{n}"), "a\n".repeat(100_000));
        }
        vec![(
            "Grep",
            json!({"pattern": "a.*a", "multiline": true, "output_mode": "content", "head_limit": 0}),
            "[first 1 match, cut at 50 KiB",
        )]
    });
}

#[test]
fn an_ignore_file_full_of_wildcards_stays_within_its_memory() {
    measure("an_ignore_file_full_of_wildcards_stays_within_its_memory", |project| {
        project.write("a.txt", "needle\n");
        let rules: Vec<_> = (0..4_500).map(|n| format!("*{n}*x*y*z")).collect();
        project.write(".gitignore", rules.join("\n"));
        vec![("Grep", json!({"pattern": "needle"}), "a.txt")]
    });
}

fn endless_line(project: &Project, path: &str) {
    project.write(path, "a".repeat(16 * 1024));
    OpenOptions::new().write(true).open(project.path(path)).unwrap().set_len(2 << 30).unwrap();
}

/// Runs the calls from `prepare` in a process of their own; each output must contain the text given with its call.
fn measure(test: &str, prepare: fn(&Project) -> Vec<(&str, Value, &str)>) {
    alone(&format!("memory::{test}"), || {
        let project = Project::new(&[]);
        let calls = prepare(&project);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for (tool, arguments, expected) in calls {
            let (output, extra) = extra_kib(|| runtime.block_on(project.run(tool, arguments.clone())));
            let shown: String =
                output.for_model.chars().rev().take(500).collect::<Vec<_>>().into_iter().rev().collect();
            assert!(output.for_model.contains(expected), "{tool} {arguments}: {shown}");
            assert!(extra < MAX_EXTRA_KIB, "{tool} {arguments}: {extra} KiB");
        }
    });
}

/// Runs a test's work in a process of its own. The test is named by its full path.
pub(crate) fn alone(test: &str, work: impl FnOnce()) {
    alone_with(test, &[], work);
}

/// Runs a test's work in a process of its own, with more in the environment.
pub(crate) fn alone_with(test: &str, variables: &[(&str, String)], work: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return work();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ALONE, test)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns the result of a piece of work, and the extra memory it used.
pub(crate) fn extra_kib<T>(work: impl FnOnce() -> T) -> (T, u64) {
    // Resets the peak.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = peak_memory_kib();
    let value = work();
    (value, peak_memory_kib() - before)
}

/// Peak memory of this process since the last reset.
fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
