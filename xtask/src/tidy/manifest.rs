//! Manifests of members: they inherit what the workspace decides, and they hide no tests.

use toml::{Table, Value};

use super::file::File;
use super::finding::Finding;

/// Package keys whose value the workspace decides.
const INHERITED: [&str; 5] = ["version", "edition", "rust-version", "license", "publish"];

/// Every member has a description, inherits the rest of its package table, and the lints.
pub(super) fn inherits(file: &File) -> Vec<Finding> {
    each_member(file, |manifest| {
        let package = manifest.get("package").and_then(Value::as_table);
        let mut wrong = Vec::new();
        for key in INHERITED {
            if !package.and_then(|package| package.get(key)).is_some_and(is_inherited) {
                wrong.push((format!("`{key}` is not the workspace's"), format!("write `{key}.workspace = true`")));
            }
        }
        let description = package.and_then(|package| package.get("description")).and_then(Value::as_str);
        if description.is_none_or(|text| text.trim().is_empty()) {
            let mend = "write one line: what the crate owns".to_owned();
            wrong.push(("no description".to_owned(), mend));
        }
        if !manifest.get("lints").is_some_and(is_inherited) {
            let mend = "write `[lints]` and `workspace = true`".to_owned();
            wrong.push(("the workspace's lints do not hold here".to_owned(), mend));
        }
        wrong
    })
}

/// Versions, features and sources of dependencies stand in the root manifest, once.
pub(super) fn leaves_versions_to_the_root(file: &File) -> Vec<Finding> {
    each_member(file, |manifest| {
        dependencies(manifest)
            .filter(|(_, value)| !is_inherited_alone(value))
            .map(|(name, _)| {
                let mend =
                    format!("declare it under [workspace.dependencies] and write `{name}.workspace = true` here");
                (format!("`{name}` has a version, features or a source of its own"), mend)
            })
            .collect()
    })
}

/// No target is kept from `cargo test`.
pub(super) fn hides_no_tests(file: &File) -> Vec<Finding> {
    const HIDING: [&str; 6] = ["autotests", "autobins", "autoexamples", "test", "doctest", "harness"];
    each_member(file, |manifest| {
        let tables = manifest.iter().flat_map(|(section, value)| {
            let tables = match value {
                Value::Table(table) => vec![table],
                Value::Array(tables) => tables.iter().filter_map(Value::as_table).collect(),
                _ => Vec::new(),
            };
            tables.into_iter().map(move |table| (section, table))
        });
        tables
            .flat_map(|(section, table)| table.iter().map(move |(key, value)| (section, key, value)))
            .filter(|(_, key, value)| HIDING.contains(&key.as_str()) && value.as_bool() == Some(false))
            .map(|(section, key, _)| (format!("`{key} = false` in [{section}] hides tests"), "remove it".to_owned()))
            .collect()
    })
}

/// Crates that `cargo xtask` builds when it needs them.
const LEFT_OUT: [&str; 4] = ["bench", "torture", "workshop", "xtask"];

/// Plain cargo commands cover every crate of the program and its tests.
pub(super) fn default_members(files: &[File]) -> Vec<Finding> {
    let Some(root) = files.iter().find(|file| file.path() == "Cargo.toml") else { return Vec::new() };
    let manifest: Table = root.text().parse().unwrap_or_default();
    let listed: Vec<&str> = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("default-members"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    files
        .iter()
        .filter(|file| file.is_member_manifest() && !file.owner().is_some_and(|owner| LEFT_OUT.contains(&owner)))
        .filter_map(|file| file.path().strip_suffix("/Cargo.toml"))
        .filter(|folder| !listed.contains(folder))
        .map(|folder| {
            let mend = format!("add \"{folder}\" to default-members in the root Cargo.toml");
            Finding::error("Cargo.toml", format!("plain cargo commands leave out {folder}"), mend)
        })
        .collect()
}

fn each_member(file: &File, rule: impl Fn(&Table) -> Vec<(String, String)>) -> Vec<Finding> {
    if !file.is_member_manifest() {
        return Vec::new();
    }
    let wrong = match file.text().parse::<Table>() {
        Ok(manifest) => rule(&manifest),
        Err(error) => vec![(format!("not TOML: {}", error.message()), "mend the syntax".to_owned())],
    };
    wrong.into_iter().map(|(what, mend)| Finding::error(file.path(), what, mend)).collect()
}

/// All dependencies of all kinds, those of single platforms included.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&String, &Value)> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = std::iter::once(manifest).chain(platforms.filter_map(|(_, value)| value.as_table()));
    tables.flat_map(|table| {
        ["dependencies", "dev-dependencies", "build-dependencies"]
            .into_iter()
            .filter_map(|kind| table.get(kind).and_then(Value::as_table))
            .flatten()
    })
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

fn is_inherited_alone(value: &Value) -> bool {
    is_inherited(value) && value.as_table().is_some_and(|table| table.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    const GOOD: &str = "\
[package]
name = \"sortie-a\"
description = \"What it owns\"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
publish.workspace = true

[dependencies]
serde.workspace = true

[lints]
workspace = true
";

    fn check(rule: fn(&File) -> Vec<Finding>, text: &str) -> String {
        render(&rule(&File::new("crates/a/Cargo.toml", text)))
    }

    #[test]
    fn a_good_manifest_passes_all() {
        for rule in [inherits, leaves_versions_to_the_root, hides_no_tests] {
            assert_eq!(check(rule, GOOD), "");
        }
    }

    #[test]
    fn a_key_that_is_not_inherited_is_found() {
        for (good, bad, what) in [
            ("edition.workspace = true", "edition = \"2021\"", "`edition` is not the workspace's"),
            ("publish.workspace = true\n", "", "`publish` is not the workspace's"),
            ("\"What it owns\"", "\"\"", "no description"),
            (
                "[lints]\nworkspace = true",
                "[lints.rust]\ndead_code = \"allow\"",
                "the workspace's lints do not hold here",
            ),
        ] {
            assert_eq!(check(inherits, &GOOD.replace(good, bad)), format!("crates/a/Cargo.toml: {what}\n"));
        }
    }

    #[test]
    fn a_version_or_feature_outside_the_root_is_found() {
        for bad in ["serde = \"1\"", "serde = { workspace = true, features = [\"rc\"] }", "serde = { git = \"x\" }"] {
            assert_eq!(
                check(leaves_versions_to_the_root, &GOOD.replace("serde.workspace = true", bad)),
                "crates/a/Cargo.toml: `serde` has a version, features or a source of its own\n"
            );
        }
        let platform = format!("{GOOD}\n[target.'cfg(unix)'.dev-dependencies]\nnix = \"1\"\n");
        assert_ne!(check(leaves_versions_to_the_root, &platform), "");
    }

    #[test]
    fn a_hidden_test_is_found() {
        let hidden = format!("{GOOD}\n[[test]]\nname = \"it\"\ntest = false\n");
        assert_eq!(check(hides_no_tests, &hidden), "crates/a/Cargo.toml: `test = false` in [test] hides tests\n");
        let hidden = GOOD.replace("[package]", "[package]\nautotests = false");
        assert_ne!(check(hides_no_tests, &hidden), "");
    }

    #[test]
    fn a_member_that_plain_cargo_leaves_out_is_found() {
        let root = File::new("Cargo.toml", "[workspace]\ndefault-members = [\"crates/a\"]\n");
        let files = [root, File::new("crates/a/Cargo.toml", GOOD), File::new("crates/b/Cargo.toml", GOOD)];
        assert_eq!(render(&default_members(&files)), "Cargo.toml: plain cargo commands leave out crates/b\n");
    }
}
