//! Imports that lead from a room to one above it.

use std::collections::HashMap;

use super::super::finding::Finding;
use super::super::token::tokens;
use super::path::{imports, paths};
use super::{House, Placed, TOP};

pub(super) fn check(house: &House<'_>) -> Vec<Finding> {
    let reexports = reexports(house);
    let rust = house.files.iter().filter(|placed| placed.file.is_rust());
    rust.flat_map(|placed| check_file(house, &reexports, placed)).collect()
}

fn check_file(house: &House<'_>, reexports: &HashMap<String, Option<String>>, placed: &Placed<'_>) -> Vec<Finding> {
    let from = placed.shelf();
    let Some(rank) = house.rank(from).filter(|&rank| rank < TOP) else { return Vec::new() };
    let tokens = tokens(placed.file.code());
    let mut findings = Vec::new();
    for path in paths(&tokens, &placed.module()) {
        let first = path.words.first().copied().unwrap_or("*");
        // Re-exports of other crates belong to no room.
        let to = match (house.rank(first), reexports.get(first)) {
            (Some(_), _) => first,
            (None, Some(Some(shelf))) => shelf,
            (None, Some(None)) => continue,
            (None, None) if house.files.iter().any(|other| other.shelf() == first) => continue,
            (None, None) => "lib.rs",
        };
        if house.rank(to).unwrap_or(TOP) > rank {
            let what = format!("`{from}` uses `{to}`, which lies above it: `crate::{}`", path.words.join("::"));
            findings.push(Finding::at(placed.file, path.line, what, "move the item down, or pass a port"));
        }
    }
    findings
}

/// Maps each name that the root of the crate brings in to its room or file; `None` for other crates.
fn reexports(house: &House<'_>) -> HashMap<String, Option<String>> {
    let mut found = HashMap::new();
    for root in house.files.iter().filter(|placed| ["lib.rs", "main.rs"].contains(&placed.path)) {
        for path in imports(&tokens(root.file.code())) {
            let shelf = path.words.first().copied().unwrap_or_default();
            let ours = house.files.iter().any(|placed| placed.shelf() == shelf);
            found.insert(path.name.to_owned(), ours.then(|| shelf.to_owned()));
        }
    }
    found
}
