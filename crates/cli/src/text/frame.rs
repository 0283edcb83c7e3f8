//! Boxes drawn around text.

use super::width;

const LEAST_INNER: usize = 45;
/// Left and right edge with their spaces.
const EDGES: usize = 4;

/// Columns that a title has in the edge of a box.
pub(crate) fn title_columns(columns: usize) -> usize {
    inner_columns(columns).saturating_sub(2)
}

/// Columns that a line has in a box.
pub(crate) fn inner_columns(columns: usize) -> usize {
    columns.saturating_sub(EDGES).max(1)
}

/// A box with a title in its upper edge, as wide as its content asks for and `columns` allow. Never wraps.
pub(crate) fn boxed(title: &str, lines: &[String], columns: usize) -> Vec<String> {
    let most = inner_columns(columns);
    let asked = lines.iter().map(|line| width::of(line)).chain([width::of(title) + 2]).max().unwrap_or_default();
    let inner = asked.max(LEAST_INNER).min(most);
    let title = width::cut(title, inner.saturating_sub(2));
    let rule = "─".repeat((inner + 2).saturating_sub(width::of(&title) + 3));
    let mut rows = vec![format!("┌─ {title} {rule}┐")];
    for line in lines {
        rows.push(format!("│ {} │", width::pad(&width::cut(line, inner), inner)));
    }
    rows.push(format!("└{}┘", "─".repeat(inner + 2)));
    rows
}

#[cfg(test)]
mod tests {
    use super::super::width::tests::SCRIPTS;
    use super::*;

    #[test]
    fn a_box_is_straight_in_every_script() {
        let (lines, widths): (Vec<String>, Vec<usize>) =
            SCRIPTS.into_iter().map(|(text, columns)| (text.to_owned(), columns)).unzip();
        let rows = boxed("explore", &lines, 80);
        for ((row, line), width) in rows[1..].iter().zip(&lines).zip(widths) {
            assert_eq!(*row, format!("│ {line}{} │", " ".repeat(LEAST_INNER - width)));
        }
        for (title, columns) in SCRIPTS {
            let edge = format!("┌─ {title} {}┐", "─".repeat(LEAST_INNER - 1 - columns));
            assert_eq!(boxed(title, &[], 80)[0], edge);
        }
    }

    #[test]
    fn every_row_of_a_box_is_equally_wide_and_fits() {
        for columns in [5, 12, 20, 60, 200] {
            let lines = ["short".to_owned(), "漢字 wide letters".to_owned(), "x".repeat(100)];
            let rows = boxed("explore · agent-abcdefghijkl", &lines, columns);
            let widths: Vec<usize> = rows.iter().map(|row| width::of(row)).collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{rows:#?}");
            assert!(widths[0] <= columns.max(8), "{columns}: {rows:#?}");
        }
    }
}
