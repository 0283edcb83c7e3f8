//! The tables of rooms in `ARCHITECTURE.md`: below a heading for each crate, one row for each room, lowest first.

use super::super::file::File;
use super::super::finding::Finding;
use super::House;

pub(crate) const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "### Rooms of ";
const HEAD: [&str; 2] = ["| Room | Owns |", "| --- | --- |"];
const MEND: &str = "run `cargo xtask tidy --write`, which takes the rows from the `//!` of the rooms";

pub(super) fn page(files: &[File]) -> Option<&str> {
    files.iter().find(|file| file.path() == PAGE).map(File::text)
}

pub(super) fn check(houses: &[House<'_>], page: Option<&str>) -> Vec<Finding> {
    let lines: Vec<&str> = page.unwrap_or_default().lines().collect();
    let mut findings: Vec<Finding> = houses.iter().flat_map(|house| silent(house)).collect();
    for house in houses {
        let Some(table) = Table::of(house.plan.folder, &lines) else {
            let what = format!("no heading `{}`", heading(house.plan.folder));
            let mend = "write it where the table shall stand, and run `cargo xtask tidy --write`";
            findings.push(Finding::error(PAGE, what, mend));
            continue;
        };
        findings.extend(table.differences(&rows(house), &lines));
    }
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with(HEADING)) {
        if !houses.iter().any(|house| heading(house.plan.folder) == *line) {
            let what = format!("`{line}` is of a crate without rooms");
            findings.push(at(index, what, "delete the table, or add the crate to xtask/src/tidy/rooms.rs"));
        }
    }
    findings
}

/// The page with all its tables as the sources have them.
pub(super) fn rewritten(houses: &[House<'_>], page: &str) -> Option<String> {
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    for house in houses {
        let now: Vec<&str> = lines.iter().map(String::as_str).collect();
        let Some(table) = Table::of(house.plan.folder, &now) else { continue };
        let mut wanted: Vec<String> = HEAD.iter().map(|line| (*line).to_owned()).collect();
        wanted.extend(rows(house).into_iter().map(|(_, row)| row));
        if table.rows.is_empty() {
            wanted.insert(0, String::new());
        }
        lines.splice(table.rows, wanted);
    }
    let text = lines.join("\n") + "\n";
    (text != page).then_some(text)
}

/// Rooms whose file does not begin with the room's contents.
fn silent(house: &House<'_>) -> Vec<Finding> {
    let doors = house.rooms.iter().filter_map(|room| house.door(room));
    let silent = doors.filter(|door| owns(door).is_none());
    let mend = "begin with `//!` and one plain sentence that says what the room owns";
    silent.map(|door| Finding::at(door, 1, "the room does not say what it owns", mend)).collect()
}

/// Each room with its row.
fn rows(house: &House<'_>) -> Vec<(&'static str, String)> {
    let row = |room: &&'static str| Some((*room, format!("| `{room}` | {} |", owns(house.door(room)?)?)));
    house.rooms.iter().filter_map(row).collect()
}

/// The first sentence of a file's header, as it stands in a table.
fn owns(file: &File) -> Option<String> {
    let header = file.text().lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = header.take_while(|line| !line.is_empty()).collect();
    let text = paragraph.join(" ");
    let ends = |&(at, _): &(usize, &str)| text[at + 2..].starts_with(|c: char| !c.is_lowercase());
    let sentence = text.match_indices(". ").find(ends).map_or(text.as_str(), |(at, _)| &text[..at]);
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    // A link in rustdoc is plain code here.
    let plain = sentence.replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    (!plain.is_empty()).then_some(plain)
}

fn heading(folder: &str) -> String {
    format!("{HEADING}`{folder}`")
}

fn at(index: usize, what: impl Into<String>, mend: &str) -> Finding {
    Finding::error(format!("{PAGE}:{}", index + 1), what, mend)
}

/// Place of a crate's table.
struct Table {
    heading: usize,
    /// All lines that begin with a bar; none, where the table is still to be written.
    rows: std::ops::Range<usize>,
}

impl Table {
    fn of(folder: &str, lines: &[&str]) -> Option<Self> {
        let wanted = heading(folder);
        let heading = lines.iter().position(|line| *line == wanted)?;
        let is_row = |index: &usize| lines[*index].starts_with('|');
        let next = (heading + 1..lines.len()).find(|&index| lines[index].starts_with('#')).unwrap_or(lines.len());
        let begin = (heading + 1..next).find(is_row).unwrap_or(heading + 1);
        let end = (begin..next).take_while(is_row).last().map_or(begin, |last| last + 1);
        Some(Self { heading, rows: begin..end })
    }

    fn differences(&self, wanted: &[(&str, String)], lines: &[&str]) -> Vec<Finding> {
        let mut findings = Vec::new();
        let present: Vec<(usize, &str)> =
            self.rows.clone().skip(HEAD.len()).map(|index| (index, lines[index])).collect();
        for (room, row) in wanted {
            let begins = format!("| `{room}` |");
            match present.iter().find(|(_, line)| line.starts_with(&begins)) {
                None => findings.push(at(self.heading, format!("no row for the room `{room}`"), MEND)),
                Some((index, line)) if line != row => {
                    findings.push(at(*index, format!("the room `{room}` says of itself: {row}"), MEND));
                }
                Some(_) => {}
            }
        }
        for (index, line) in &present {
            if !wanted.iter().any(|(room, _)| line.starts_with(&format!("| `{room}` |"))) {
                findings.push(at(*index, format!("a row that belongs to no room: {line}"), MEND));
            }
        }
        let in_order = present.iter().map(|(_, line)| *line).eq(wanted.iter().map(|(_, row)| row.as_str()));
        if findings.is_empty() && !in_order {
            findings.push(at(self.heading, "the rooms are not in their order, lowest first", MEND));
        }
        findings
    }
}
