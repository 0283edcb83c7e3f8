//! Tables that programs write into the documentation, between two marks.

use std::path::Path;

use anyhow::{Context, Result};

/// The lines around a table.
#[derive(Debug, Clone, Copy)]
pub struct Marks {
    pub begin: &'static str,
    pub end: &'static str,
}

/// Puts a table into a page, in the place of the one between the marks.
pub fn write(path: &Path, marks: Marks, table: &str) -> Result<()> {
    let place = path.display();
    let page = std::fs::read_to_string(path).with_context(|| format!("cannot read {place}"))?;
    let page = replace(&page, marks, table).with_context(|| format!("{place} has no line `{}`", marks.begin))?;
    std::fs::write(path, page).with_context(|| format!("cannot write {place}"))
}

fn replace(page: &str, marks: Marks, table: &str) -> Option<String> {
    let Marks { begin, end } = marks;
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{table}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_between_the_marks_changes() {
        let marks = Marks { begin: "<!-- a -->", end: "<!-- b -->" };
        let page = "# Page\n<!-- a -->\nold\n<!-- b -->\nafter\n";
        let expected = "# Page\n<!-- a -->\n\nnew\n\n<!-- b -->\nafter\n";
        assert_eq!(replace(page, marks, "new\n").as_deref(), Some(expected));
        assert_eq!(replace("# Page\n", marks, "new\n"), None);
    }
}
