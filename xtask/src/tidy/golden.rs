//! Golden files: what is stored or sent must keep its shape. A folder without any would prove nothing.

use std::path::Path;

use anyhow::{Context, Result};

use super::file::File;
use super::finding::Finding;

/// No golden file is blank.
pub(super) fn not_blank(files: &[File]) -> Vec<Finding> {
    let blank = |file: &&File| file.path().contains("/golden/") && file.text().trim().is_empty();
    let report =
        |file: &File| Finding::error(file.path(), "a golden file without content", "write it anew, or delete it");
    files.iter().filter(blank).map(report).collect()
}

/// Every folder below one named `golden` holds something. Git does not track empty folders, so this looks at the disk.
pub(super) fn not_empty(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in folders(&root.join("crates"))? {
        visit(&package, root, false, &mut findings)?;
    }
    Ok(findings)
}

fn visit(folder: &Path, root: &Path, golden: bool, findings: &mut Vec<Finding>) -> Result<()> {
    let golden = golden || folder.file_name().is_some_and(|name| name == "golden");
    let below = folders(folder)?;
    if golden && below.is_empty() && std::fs::read_dir(folder)?.next().is_none() {
        let place = folder.strip_prefix(root).unwrap_or(folder).display().to_string();
        findings.push(Finding::error(place, "a golden folder without files", "write the golden files, or delete it"));
    }
    below.iter().try_for_each(|folder| visit(folder, root, golden, findings))
}

fn folders(parent: &Path) -> Result<Vec<std::path::PathBuf>> {
    let entries = std::fs::read_dir(parent).with_context(|| format!("cannot list {}", parent.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    #[test]
    fn an_empty_golden_folder_is_found() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["crates/a/tests/golden/v1", "crates/a/tests/golden/v2", "crates/b/src/empty"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        std::fs::write(root.path().join("crates/a/tests/golden/v1/a.json"), "{}").unwrap();
        let found = not_empty(root.path()).unwrap();
        assert_eq!(render(&found), "crates/a/tests/golden/v2: a golden folder without files\n");
    }

    #[test]
    fn a_blank_golden_file_is_found() {
        let files = [File::new("crates/a/tests/golden/a.json", "\n"), File::new("crates/a/tests/golden/b.json", "{}")];
        assert_eq!(render(&not_blank(&files)), "crates/a/tests/golden/a.json: a golden file without content\n");
    }
}
