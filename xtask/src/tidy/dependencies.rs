//! The walls between crates: which may link which, and which alone may link something heavy.
//!
//! Dependencies point downwards, layer by layer. Tests may use anything.

use sortie_workshop::{Dependency, Package};

use super::finding::Finding;

/// Each crate's layer, by package name. A new crate gets its line here first.
const LAYERS: &[(&str, u8)] = &[
    ("sortie-crash", 0),
    ("sortie-mutant", 0),
    ("sortie-protocol", 0),
    ("sortie-schema", 0),
    ("sortie-shell-reader", 0),
    ("sortie-workshop", 0),
    ("sortie-agents", 1),
    ("sortie-contract", 1),
    ("sortie-journal", 1),
    ("sortie-llm", 1),
    ("sortie-offline", 1),
    ("sortie-policy", 1),
    ("sortie-sandbox", 1),
    ("sortie-tools", 2),
    ("sortie-engine", 3),
    ("sortie-mcp", 4),
    ("sortie", 5),
    ("sortie-bench", 6),
    ("sortie-testkit", 6),
    ("sortie-torture", 6),
    ("xtask", 6),
];

/// Edges inside one layer.
const EXCEPTIONS: &[(&str, &str)] =
    &[("sortie-agents", "sortie-policy"), ("sortie-llm", "sortie-offline"), ("sortie-shell-reader", "sortie-mutant")];

/// Edges that point downwards and are still wrong: the test kit plays the world around the program and knows its nouns
/// alone.
const FORBIDDEN: &[(&str, &str)] = &[("sortie-testkit", "sortie"), ("sortie-testkit", "sortie-engine")];

/// Programs that judge the others from outside.
const WORKSHOP: &[&str] = &["sortie-bench", "sortie-torture", "xtask"];

/// The one crate that they link, and nothing else does.
const SHARED: &str = "sortie-workshop";

/// Foreign crates that are confined to some of ours.
const CONFINED: &[(&str, &[&str])] = &[
    ("anyhow", &["sortie", "sortie-bench", "sortie-torture", "sortie-workshop", "xtask"]),
    ("clap", &["sortie"]),
    ("granit-parser", &["sortie-agents"]),
    ("html5ever", &["sortie-tools"]),
    ("landlock", &["sortie-sandbox"]),
    ("libc", &["sortie-sandbox"]),
    ("regex", &["sortie-schema"]),
    ("reqwest", &["sortie-llm", "sortie-mcp", "sortie-tools"]),
    ("rusqlite", &["sortie-journal"]),
    ("rustls", &["sortie-llm", "sortie-tools"]),
    ("seccompiler", &["sortie-sandbox"]),
];

/// Crates of plain data and decisions: nothing in them waits.
const WITHOUT_ASYNC: &[&str] = &[
    "sortie-agents",
    "sortie-contract",
    "sortie-offline",
    "sortie-policy",
    "sortie-protocol",
    "sortie-schema",
    "sortie-shell-reader",
];

pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    packages.iter().flat_map(check_package).collect()
}

/// Every crate of the table is there.
pub(super) fn stale_layers(packages: &[Package]) -> Vec<Finding> {
    let gone = LAYERS.iter().filter(|(name, _)| packages.iter().all(|package| package.name != *name));
    let report = |(name, _): &(&str, u8)| {
        let what = format!("`{name}` has a layer, and is no crate");
        Finding::error("xtask/src/tidy/dependencies.rs", what, "take it out of `LAYERS`")
    };
    gone.map(report).collect()
}

fn check_package(package: &Package) -> Vec<Finding> {
    let place = format!("{}/Cargo.toml", package.folder());
    let Some(layer) = layer(&package.name) else {
        let mend = "give it a layer in xtask/src/tidy/dependencies.rs, and a row in ARCHITECTURE.md";
        return vec![Finding::error(place, format!("`{}` stands in no layer", package.name), mend)];
    };
    let linked = package.dependencies.iter().filter(|dependency| !is_for_tests(dependency));
    linked
        .filter_map(|dependency| {
            let (what, mend) = wrong(&package.name, layer, &dependency.name)?;
            Some(Finding::error(place.clone(), what, mend))
        })
        .collect()
}

/// Judges an edge: the fault and its mending, if there is one.
fn wrong(from: &str, from_layer: u8, to: &str) -> Option<(String, &'static str)> {
    if to == "sortie-testkit" {
        let what = format!("`{from}` links `{to}`, which is for tests");
        return Some((what, "move it to [dev-dependencies]"));
    }
    if (WORKSHOP.contains(&from) || from == SHARED) && to != SHARED && layer(to).is_some() {
        let what = format!("`{from}` links `{to}`, so it no longer builds when that one does not");
        return Some((what, "run the program instead of linking it"));
    }
    if to == SHARED && !WORKSHOP.contains(&from) {
        let what = format!("`{from}` links `{to}`, which is for the programs that judge it");
        return Some((what, "leave it to xtask, bench and torture"));
    }
    if let Some(to_layer) = layer(to) {
        let fine = (to_layer < from_layer && !FORBIDDEN.contains(&(from, to))) || EXCEPTIONS.contains(&(from, to));
        let what =
            format!("`{from}` (layer {from_layer}) links `{to}` (layer {to_layer}), against the table of crates");
        return (!fine)
            .then_some((what, "depend downwards only: put the shared noun into protocol, or the wiring into cli"));
    }
    if let Some((_, allowed)) = CONFINED.iter().find(|(name, _)| *name == to) {
        let what = format!("`{from}` links `{to}`, which is confined to {}", allowed.join(", "));
        return (!allowed.contains(&from)).then_some((what, "use the port of the crate that has it"));
    }
    let what = format!("`{from}` links `{to}`, but nothing in it waits or does I/O");
    (to == "tokio" && WITHOUT_ASYNC.contains(&from)).then_some((what, "keep it pure; let the caller wait"))
}

fn layer(package: &str) -> Option<u8> {
    LAYERS.iter().find(|(name, _)| *name == package).map(|&(_, layer)| layer)
}

fn is_for_tests(dependency: &Dependency) -> bool {
    dependency.kind.as_deref() == Some("dev")
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;
    use sortie_workshop::Workspace;

    fn check_edge(from: &str, kind: Option<&str>, to: &str) -> String {
        render(&check(&workspace(from, kind, to).packages))
    }

    fn workspace(from: &str, kind: Option<&str>, to: &str) -> Workspace {
        let metadata = serde_json::json!({
            "workspace_root": "", "target_directory": "",
            "packages": [{
                "id": from, "name": from, "version": "0.1.0", "manifest_path": "crates/a/Cargo.toml", "targets": [],
                "dependencies": [{ "name": to, "kind": kind }],
            }],
        });
        serde_json::from_value(metadata).unwrap()
    }

    #[test]
    fn dependencies_point_downwards() {
        assert_eq!(check_edge("sortie-engine", None, "sortie-tools"), "");
        assert_eq!(check_edge("sortie-agents", None, "sortie-policy"), "");
        assert_eq!(
            check_edge("sortie-journal", None, "sortie-llm"),
            "a/Cargo.toml: `sortie-journal` (layer 1) links `sortie-llm` (layer 1), against the table of crates\n"
        );
        assert_ne!(check_edge("sortie-policy", None, "sortie-agents"), "");
        assert_ne!(check_edge("sortie-protocol", Some("build"), "sortie-journal"), "");
        assert_ne!(check_edge("sortie-testkit", None, "sortie-engine"), "");
        assert_ne!(check_edge("sortie-engine", None, "sortie"), "");
    }

    #[test]
    fn only_tests_use_the_testkit() {
        assert_eq!(check_edge("sortie-engine", Some("dev"), "sortie-testkit"), "");
        assert_eq!(
            check_edge("sortie-engine", None, "sortie-testkit"),
            "a/Cargo.toml: `sortie-engine` links `sortie-testkit`, which is for tests\n"
        );
    }

    #[test]
    fn the_workshop_and_the_program_do_not_link_each_other() {
        for from in WORKSHOP {
            assert_ne!(check_edge(from, None, "sortie-protocol"), "");
            assert_eq!(check_edge(from, None, SHARED), "");
        }
        assert_ne!(check_edge(SHARED, None, "sortie-protocol"), "");
        assert_ne!(check_edge("sortie", None, SHARED), "");
    }

    #[test]
    fn heavy_crates_are_confined() {
        assert_eq!(check_edge("sortie-llm", None, "reqwest"), "");
        assert_eq!(
            check_edge("sortie-engine", None, "reqwest"),
            "a/Cargo.toml: `sortie-engine` links `reqwest`, which is confined to sortie-llm, sortie-mcp, sortie-tools\n"
        );
        assert_ne!(check_edge("sortie-protocol", None, "tokio"), "");
        assert_eq!(check_edge("sortie-engine", None, "tokio"), "");
    }

    #[test]
    fn a_crate_that_the_table_does_not_know_is_found() {
        assert_eq!(check_edge("sortie-new", None, "serde"), "a/Cargo.toml: `sortie-new` stands in no layer\n");
    }

    #[test]
    fn a_layer_without_its_crate_is_found() {
        let found = render(&stale_layers(&workspace("sortie-tools", None, "serde").packages));
        let gone = "xtask/src/tidy/dependencies.rs: `sortie-engine` has a layer, and is no crate\n";
        assert!(found.contains(gone) && !found.contains("`sortie-tools`"), "{found}");
    }
}
