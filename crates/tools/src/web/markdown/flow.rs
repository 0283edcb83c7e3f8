//! `Flow`: blocks one below the other, inside quotes and list items.

/// Prefix of the lines of a quote or an item.
#[derive(Debug)]
struct Margin {
    /// Prefix of its first line, until that is written.
    first: Option<String>,
    rest: String,
}

/// The distance between two blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    Line,
    Blank,
}

#[derive(Debug)]
pub(super) struct Flow {
    text: String,
    margins: Vec<Margin>,
    gap: Gap,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self { text: String::new(), margins: Vec::new(), gap: Gap::Line }
    }

    /// Requests a blank line before the next block, except at the very start of an item or a quote.
    pub(super) fn part(&mut self) {
        if self.margins.last().is_none_or(|margin| margin.first.is_none()) {
            self.gap = Gap::Blank;
        }
    }

    /// Sets the distance to the next block.
    pub(super) fn set_gap(&mut self, gap: Gap) {
        self.gap = gap;
    }

    /// Opens a quote or an item with the prefix of its first line. The other lines get blanks of the same width, or the
    /// quote's mark.
    pub(super) fn indent(&mut self, first: &str) {
        let rest = if first.starts_with('>') { first.to_owned() } else { " ".repeat(first.chars().count()) };
        self.margins.push(Margin { first: Some(first.to_owned()), rest });
    }

    pub(super) fn outdent(&mut self) {
        self.margins.pop();
    }

    /// Writes a block's lines.
    pub(super) fn write(&mut self, block: &str) {
        for line in block.lines() {
            if !self.text.is_empty() {
                self.text.push('\n');
                if self.gap == Gap::Blank {
                    let margin: String = self.started().map(|margin| margin.rest.as_str()).collect();
                    self.text.push_str(margin.trim_end());
                    self.text.push('\n');
                }
            }
            self.gap = Gap::Line;
            for margin in &mut self.margins {
                let first = margin.first.take();
                self.text.push_str(first.as_deref().unwrap_or(&margin.rest));
            }
            self.text.push_str(line);
            self.text.truncate(self.text.trim_end_matches(' ').len());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// The quotes and items with at least one written line.
    fn started(&self) -> impl Iterator<Item = &Margin> {
        self.margins.iter().take_while(|margin| margin.first.is_none())
    }
}
