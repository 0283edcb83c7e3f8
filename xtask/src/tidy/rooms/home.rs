//! Methods stand where their type is declared, and a type has them in at most two files.

use std::collections::{BTreeMap, BTreeSet};

use super::super::file::File;
use super::super::finding::Finding;
use super::super::item::{inherent_impls, types};
use super::super::token::tokens;
use super::{House, Placed};

const MOST_FILES: usize = 2;

/// Place of a type's declaration.
#[derive(Clone, Copy)]
struct Home<'h> {
    placed: &'h Placed<'h>,
    line: usize,
}

pub(super) fn check(house: &House<'_>) -> Vec<Finding> {
    let homes = homes(house);
    let mut findings = Vec::new();
    let mut spread: BTreeMap<(&str, &str), (Home<'_>, BTreeSet<&str>)> = BTreeMap::new();
    for placed in house.files.iter().filter(|placed| placed.file.is_rust()) {
        for found in inherent_impls(&tokens(placed.file.code())) {
            // A name that several files declare means the nearest.
            let near = |home: &&Home<'_>| common(home.placed.path, placed.path);
            let Some(&home) = homes.get(found.name).and_then(|homes| homes.iter().max_by_key(near)) else { continue };
            if home.placed.shelf() != placed.shelf() {
                let at_home = home.placed.shelf();
                let what = format!("an impl of `{}` outside `{at_home}`, which declares it", found.name);
                let mend = format!("move it into `{at_home}`, or make it a function of `{}`", placed.shelf());
                findings.push(Finding::at(placed.file, found.line, what, mend));
            }
            if !is_test(placed.file, found.line) {
                let key = (home.placed.path, homes.get_key_value(found.name).map_or("", |(name, _)| name.as_str()));
                spread.entry(key).or_insert((home, BTreeSet::new())).1.insert(placed.path);
            }
        }
    }
    let too_wide = spread.into_iter().filter(|(_, (_, files))| files.len() > MOST_FILES);
    findings.extend(too_wide.map(|((_, name), (home, files))| {
        let list: Vec<&str> = files.into_iter().collect();
        let what = format!("`{name}` has its methods in {} files: {}", list.len(), list.join(", "));
        let mend = "find the second type in it, and give that its own fields and methods";
        Finding::at(home.placed.file, home.line, what, mend)
    }));
    findings
}

fn homes<'h>(house: &'h House<'_>) -> BTreeMap<String, Vec<Home<'h>>> {
    let mut homes: BTreeMap<String, Vec<Home<'h>>> = BTreeMap::new();
    for placed in house.files.iter().filter(|placed| placed.file.is_rust()) {
        for found in types(&tokens(placed.file.code())).into_iter().filter(|found| !found.alias) {
            homes.entry(found.name.to_owned()).or_default().push(Home { placed, line: found.line });
        }
    }
    homes
}

fn is_test(file: &File, line: usize) -> bool {
    file.lines().nth(line - 1).is_some_and(|line| line.test)
}

/// Length of the common beginning of two paths.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}
