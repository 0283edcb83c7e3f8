//! A text and the position up to which it was read.

/// A text and a position in it, which is always a character boundary.
#[derive(Debug, Clone)]
pub(super) struct Source<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character after the next one.
    pub(super) fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn looks_at(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    pub(super) fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Steps back over one ASCII character.
    pub(super) fn back(&mut self) {
        self.at -= 1;
    }

    /// Skips this text if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.looks_at(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Skips matching characters and returns them.
    pub(super) fn run(&mut self, of_kind: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|character| !of_kind(character)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// True if a blank precedes this position.
    pub(super) fn is_behind_blank(&self) -> bool {
        self.text[..self.at].ends_with([' ', '\t'])
    }
}
