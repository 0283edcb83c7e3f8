//! `Inline`: a stretch of text in which white space is collapsed.

#[derive(Debug, Default)]
pub(super) struct Inline {
    text: String,
    /// White space before the first word, and after the last.
    leads: bool,
    trails: bool,
}

impl Inline {
    /// Adds text from a page, collapsing white space.
    pub(super) fn push(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                // Invisible.
                '\u{ad}' | '\u{200b}' | '\u{feff}' => {}
                c if c.is_whitespace() => self.space(),
                c => {
                    self.take_space();
                    self.text.push(c);
                }
            }
        }
    }

    /// Adds text verbatim.
    pub(super) fn push_raw(&mut self, text: &str) {
        self.take_space();
        self.text.push_str(text);
    }

    pub(super) fn space(&mut self) {
        if self.text.is_empty() { self.leads = true } else { self.trails = true }
    }

    /// Begins a new line.
    pub(super) fn line_break(&mut self) {
        self.trails = false;
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Adds the rendered form of another stretch, with the white space around it.
    pub(super) fn append(&mut self, rendered: &str, of: &Self) {
        if of.leads {
            self.space();
        }
        if !rendered.is_empty() {
            self.push_raw(rendered);
        }
        if of.trails {
            self.space();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The text, without white space around it.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }

    /// The text on one line.
    pub(super) fn on_one_line(&self) -> String {
        self.text.trim().replace('\n', " ")
    }

    fn take_space(&mut self) {
        if std::mem::take(&mut self.trails) && !self.text.ends_with('\n') {
            self.text.push(' ');
        }
    }
}
