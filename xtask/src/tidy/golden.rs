//! Golden files, which pin the shape of stored and sent data. A blank one would prove nothing.

use super::file::File;
use super::finding::Finding;

/// No golden file is blank.
pub(super) fn not_blank(files: &[File]) -> Vec<Finding> {
    let blank = |file: &&File| file.path().contains("/golden/") && file.text().trim().is_empty();
    let report =
        |file: &File| Finding::error(file.path(), "a golden file without content", "write it anew, or delete it");
    files.iter().filter(blank).map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    #[test]
    fn a_blank_golden_file_is_found() {
        let files = [File::new("crates/a/tests/golden/a.json", "\n"), File::new("crates/a/tests/golden/b.json", "{}")];
        assert_eq!(render(&not_blank(&files)), "crates/a/tests/golden/a.json: a golden file without content\n");
    }
}
