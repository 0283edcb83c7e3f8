//! Rows as aligned columns.

use super::{neutral, width};

/// Formats rows. Columns are as wide as their widest cell and two spaces apart, without padding at the end of a line.
/// Cells are neutralised: they quote files and servers.
pub(crate) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let rows: Vec<[String; COLUMNS]> = rows.iter().map(|row| row.each_ref().map(|cell| neutral::line(cell))).collect();
    let columns: [usize; COLUMNS] =
        std::array::from_fn(|at| rows.iter().map(|row| width::of(&row[at])).max().unwrap_or_default());
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, columns) in row.iter().zip(columns) {
            line += &width::pad(cell, columns + 2);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_with_text() {
        let rows = [["a", "漢字", "x"], ["long", "b", ""], ["\u{1b}[2J", "", "two\nlines"]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a     漢字  x\nlong  b\n␛[2J        two lines\n");
        assert_eq!(table::<3>(&[]), "");
    }
}
