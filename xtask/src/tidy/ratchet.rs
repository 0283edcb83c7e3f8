//! Numbers that only fall: how often each crate may still break a rule that it did not always have.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::file::File;
use super::finding::Finding;
use super::{habit, rooms};

/// The numbers, by rule and crate. A missing number is zero.
pub(super) const PAGE: &str = "xtask/src/tidy/left.toml";

const OPENING: &str = "\
# How often each crate may still break a rule. No number rises; `cargo xtask tidy --write` lowers them.
";

/// Most places that are listed of a crate that breaks a rule too often.
const TOLD: usize = 20;

struct Rule {
    name: &'static str,
    find: fn(&[&File]) -> Vec<Finding>,
    holds_in: fn(&str) -> bool,
}

const RULES: &[Rule] = &[
    Rule { name: "tuple-parameters", find: habit::tuple_parameters, holds_in: |_| true },
    Rule { name: "bool-parameters", find: habit::bool_parameters, holds_in: rooms::has_rooms },
    Rule { name: "twin-types", find: habit::twin_types, holds_in: rooms::has_rooms },
    Rule { name: "leaning-docs", find: habit::leaning_docs, holds_in: |_| true },
    Rule { name: "long-sentences", find: habit::long_sentences, holds_in: |_| true },
    Rule { name: "wide-comments", find: habit::wide_comments, holds_in: |_| true },
];

type Numbers = BTreeMap<String, BTreeMap<String, usize>>;

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let left = match left(files) {
        Ok(left) => left,
        Err(why) => return vec![Finding::error(PAGE, why, "write a table for each rule, and a number for each crate")],
    };
    let mut findings = Vec::new();
    for (rule, owner, found) in found(files) {
        let allowed = number(&left, rule.name, owner);
        if found.len() == allowed {
            continue;
        }
        let what = format!("{}: `{owner}` has {}, and {allowed} are left to it", rule.name, found.len());
        let fewer = found.len() < allowed;
        let mend = if fewer { "run `cargo xtask tidy --write`" } else { "mend the new one; each place is told, too" };
        findings.push(Finding::error(PAGE, what, mend));
        findings.extend(found.into_iter().take(if fewer { 0 } else { TOLD }));
    }
    findings
}

/// The page with each number that has fallen.
pub(super) fn lowered(files: &[File]) -> Option<String> {
    let left = left(files).ok()?;
    let mut text = OPENING.to_owned();
    let mut rule_before = "";
    for (rule, owner, found) in found(files) {
        let number = found.len().min(number(&left, rule.name, owner));
        if number > 0 && rule_before != rule.name {
            rule_before = rule.name;
            write!(text, "\n[{rule_before}]\n").ok();
        }
        if number > 0 {
            writeln!(text, "{owner} = {number}").ok();
        }
    }
    let page = files.iter().find(|file| file.path() == PAGE)?;
    (page.text() != text).then_some(text)
}

fn left(files: &[File]) -> Result<Numbers, String> {
    let page = files.iter().find(|file| file.path() == PAGE).map_or("", File::text);
    toml::from_str(page).map_err(|error| error.message().to_owned())
}

fn number(left: &Numbers, rule: &str, owner: &str) -> usize {
    left.get(rule).and_then(|crates| crates.get(owner)).copied().unwrap_or_default()
}

/// All findings, by rule and crate.
fn found(files: &[File]) -> Vec<(&'static Rule, &str, Vec<Finding>)> {
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        if let Some(owner) = file.owner() {
            crates.entry(owner).or_default().push(file);
        }
    }
    let rules = RULES.iter().flat_map(|rule| crates.iter().map(move |(owner, files)| (rule, *owner, files)));
    let holding = rules.filter(|(rule, owner, _)| (rule.holds_in)(owner));
    holding.map(|(rule, owner, files)| (rule, owner, (rule.find)(files))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(left: &str, docs: usize) -> [File; 2] {
        [File::new(PAGE, left), File::new("crates/a/src/a.rs", "/// Whoever comes.\nfn f() {}\n".repeat(docs))]
    }

    fn check(left: &str, docs: usize) -> Vec<String> {
        super::check(&files(left, docs)).iter().map(ToString::to_string).collect()
    }

    const LEFT: &str = "[leaning-docs]\na = 2\n";

    #[test]
    fn as_many_as_were_left_are_fine() {
        assert_eq!(check(LEFT, 2), [] as [&str; 0]);
        assert_eq!(check("", 0), [] as [&str; 0]);
    }

    #[test]
    fn one_more_is_found_with_its_place_and_is_not_written_down() {
        let found = check("", 1);
        let count =
            "leaning-docs: `a` has 1, and 0 are left to it\n    mend: mend the new one; each place is told, too";
        assert_eq!(found[0], format!("error: {PAGE}: {count}"));
        assert!(found[1].starts_with("error: crates/a/src/a.rs:1: a doc comment begins with `Whoever`"), "{found:?}");
        assert_eq!(lowered(&files(&format!("{OPENING}\n{LEFT}"), 3)), None);
    }

    #[test]
    fn one_less_is_found_and_written_down() {
        let count = "leaning-docs: `a` has 1, and 2 are left to it\n    mend: run `cargo xtask tidy --write`";
        assert_eq!(check(LEFT, 1), [format!("error: {PAGE}: {count}")]);
        assert_eq!(lowered(&files(LEFT, 1)), Some(format!("{OPENING}\n[leaning-docs]\na = 1\n")));
        assert_eq!(lowered(&files(LEFT, 0)), Some(OPENING.to_owned()));
    }
}
