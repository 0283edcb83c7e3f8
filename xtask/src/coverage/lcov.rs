//! Reading the format of lcov: for every file, how often each of its lines was run.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Whether each line of a file that can be run was run, by its number.
pub(super) type Lines = BTreeMap<usize, bool>;

/// All files of a report.
pub(super) fn parse(report: &str) -> BTreeMap<PathBuf, Lines> {
    let mut files: BTreeMap<PathBuf, Lines> = BTreeMap::new();
    let mut current = PathBuf::new();
    for record in report.lines() {
        if let Some(path) = record.strip_prefix("SF:") {
            current = PathBuf::from(path);
        } else if let Some((number, was_run)) = record.strip_prefix("DA:").and_then(line) {
            *files.entry(current.clone()).or_default().entry(number).or_default() |= was_run;
        }
    }
    files
}

/// `12,3`: the line and how often it was run.
fn line(record: &str) -> Option<(usize, bool)> {
    let (number, count) = record.split_once(',')?;
    Some((number.parse().ok()?, count != "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_as_run_if_any_record_says_so() {
        let report =
            "SF:/a.rs\nFN:1,f\nDA:1,0\nDA:2,5\nend_of_record\nSF:/b.rs\nDA:1,0\nend_of_record\nSF:/a.rs\nDA:1,2\n";
        let files = parse(report);
        assert_eq!(files[&PathBuf::from("/a.rs")], Lines::from([(1, true), (2, true)]));
        assert_eq!(files[&PathBuf::from("/b.rs")], Lines::from([(1, false)]));
    }
}
