//! Front matter as a list of keys and values: as YAML, or if that fails, key by key.
//!
//! People write `description: Use when: …`, which is not YAML but clear. Such a value is read as plain text, and the
//! author is told to quote it. Broken structures (a list, a block without indentation) are not guessed at, and no line
//! that could limit the agent is ever left out.

use crate::definition::Dialect;
use crate::front_matter::blocks::{self, Block};
use crate::front_matter::document::FIRST_LINE;
use crate::front_matter::file_findings::Defect;
use crate::front_matter::yaml::{self, Entry, Failure, Node, Value};

/// No real definition has more keys than this, and each could become a finding.
const MAX_KEYS: usize = 64;

/// Fix for tabs, which YAML does not accept as indentation.
const WITHOUT_TABS: &str = "indent with spaces";

/// Parsed front matter.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) entries: Vec<Entry>,
    /// Values that are not YAML and were read as plain text.
    pub(crate) tolerated: Vec<Defect>,
    /// Lines that belong to no key.
    pub(crate) stray_lines: Vec<usize>,
}

pub(crate) fn parse(front_matter: &str, dialect: Dialect) -> Result<Parsed, Defect> {
    match yaml::parse(front_matter, FIRST_LINE) {
        Ok(entries) => {
            if let Some(entry) = entries.get(MAX_KEYS) {
                return Err(too_many(entry.line));
            }
            no_key_in_a_plain_value(front_matter, &entries)?;
            Ok(Parsed { entries, ..Parsed::default() })
        }
        Err(Failure::Syntax { line, message }) => by_key(front_matter, dialect, line, &message),
        Err(Failure::Refused(defect)) => Err(defect),
    }
}

/// Refuses a line that YAML reads as part of a plain value and people as the next key: `  tools:Read`.
fn no_key_in_a_plain_value(front_matter: &str, entries: &[Entry]) -> Result<(), Defect> {
    for block in blocks::split(front_matter).blocks {
        let is_text = |entry: &&Entry| entry.line == block.line && matches!(entry.value.value, Value::Text(_));
        if block.is_plain() && entries.iter().find(is_text).is_some() {
            block.no_key_inside()?;
        }
    }
    Ok(())
}

/// Reads front matter that is not YAML; the error is at `line` for `reason`.
fn by_key(front_matter: &str, dialect: Dialect, line: usize, reason: &str) -> Result<Parsed, Defect> {
    if let Some(index) = front_matter.lines().position(|line| line.trim_end() == "...") {
        return Err(yaml::second_document(FIRST_LINE + index));
    }
    let mut split = blocks::split(front_matter);
    if dialect == Dialect::Foreign {
        split.blocks = blocks::absorb(split.blocks);
    }
    let mut parsed = Parsed { stray_lines: split.stray(), ..Parsed::default() };
    if let Some(defect) = split.lost_narrowing() {
        return Err(defect);
    }
    for block in &split.blocks {
        read(block, &mut parsed)?;
    }
    if parsed.tolerated.is_empty() && parsed.stray_lines.is_empty() {
        let message = format!("not YAML as a whole ({reason}); the keys were read one by one");
        let has_tab = split.blocks.iter().any(|block| block.has_tab(line));
        let fix = if has_tab { WITHOUT_TABS } else { "write it as YAML" };
        parsed.tolerated.push(Defect { line: Some(line), message, fix });
    }
    Ok(parsed)
}

fn read(block: &Block<'_>, parsed: &mut Parsed) -> Result<(), Defect> {
    match yaml::parse(&block.text(), block.line) {
        Ok(entries) => {
            let plain = matches!(entries[..], [Entry { value: Node { value: Value::Text(_), .. }, .. }]);
            if plain && block.is_plain() {
                block.no_key_inside()?;
            }
            entries.into_iter().try_for_each(|entry| add(&mut parsed.entries, entry))
        }
        Err(Failure::Refused(defect)) if !block.has_absorbed() => Err(defect),
        Err(failure) => {
            let (line, message) = failure.into_parts(block.line);
            let Some(text) = block.plain_text() else {
                let fix = if block.has_tab(line) { WITHOUT_TABS } else { "write it as YAML, or quote the value" };
                return Err(Defect { line: Some(line), message, fix });
            };
            block.no_key_inside()?;
            let message =
                format!("`{}` is not YAML ({message}); it was read as plain text{}", block.key, block.extent());
            let fix = if block.has_tab(line) { WITHOUT_TABS } else { "put the value in quotes" };
            parsed.tolerated.push(Defect { line: Some(line), message, fix });
            let value = Node { line: block.line, is_quoted: false, value: Value::Text(text) };
            add(&mut parsed.entries, Entry { key: block.key.to_owned(), line: block.line, value })
        }
    }
}

fn add(entries: &mut Vec<Entry>, entry: Entry) -> Result<(), Defect> {
    yaml::unique(entries, &entry.key, entry.line)?;
    if entries.len() == MAX_KEYS {
        return Err(too_many(entry.line));
    }
    entries.push(entry);
    Ok(())
}

fn too_many(line: usize) -> Defect {
    Defect { line: Some(line), message: format!("more than {MAX_KEYS} keys"), fix: "an agent needs fewer" }
}
