//! `Table`: a table, collected row by row.

/// Maximum number of columns; a cell may request millions.
const MAX_COLUMNS: usize = 50;
/// Minimum cost of a cell, even if empty.
const CELL_BYTES: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    /// For each column, the number of following rows in which a cell from above occupies it.
    taken: Vec<usize>,
    /// True if it only arranges the page: its cells are blocks.
    pub(super) is_layout: bool,
}

impl Table {
    pub(super) fn begin_row(&mut self) {
        // Spans in columns that the previous row did not reach also get one row shorter.
        let n_reached = self.rows.last().map_or(0, Vec::len);
        for taken in self.taken.iter_mut().skip(n_reached) {
            *taken = taken.saturating_sub(1);
        }
        self.rows.push(Vec::new());
    }

    /// Adds a cell with its width and height. Returns its cost besides its text.
    pub(super) fn push(&mut self, cell: &str, columns: usize, rows: usize) -> usize {
        if self.rows.is_empty() {
            self.begin_row();
        }
        let Some(row) = self.rows.last_mut() else { return 0 };
        let n_before = row.len();
        while let Some(taken) = self.taken.get_mut(row.len()).filter(|taken| **taken > 0) {
            *taken -= 1;
            row.push(String::new());
        }
        let at = row.len();
        row.push(cell.to_owned());
        let n_more = columns.saturating_sub(1).min(MAX_COLUMNS.saturating_sub(row.len()));
        row.extend(std::iter::repeat_n(String::new(), n_more));
        let width = row.len().min(MAX_COLUMNS);
        self.taken.resize(self.taken.len().max(width), 0);
        self.taken[at.min(width)..width].fill(rows.saturating_sub(1));
        CELL_BYTES * (row.len() - n_before)
    }

    /// Returns the blocks of the table: the table itself or, if it means nothing as one, its cells.
    pub(super) fn blocks(&mut self) -> Vec<String> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let n_columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        if self.is_layout || n_columns < 2 || rows.len() < 2 {
            return rows.into_iter().flatten().filter(|cell| !cell.is_empty()).collect();
        }
        let mut lines = Vec::with_capacity(rows.len() + 1);
        for mut row in rows {
            row.resize(n_columns.min(row.len().max(MAX_COLUMNS)), String::new());
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            lines.push(format!("| {} |", cells.join(" | ")));
            if lines.len() == 1 {
                lines.push(format!("|{}", " --- |".repeat(row.len())));
            }
        }
        vec![lines.join("\n")]
    }
}
