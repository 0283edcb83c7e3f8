//! Here-documents: where their text stands, and what it runs.

use super::list::{Parser, Reading};
use super::tree::List;
use crate::analysis::WhyNot;

/// A here-document whose text is yet to come.
#[derive(Debug)]
pub(super) struct Pending {
    delimiter: String,
    /// Whether the text is taken as it stands.
    quoted: bool,
    /// Whether tabs in front of its lines are left out.
    tabs: bool,
}

impl Parser<'_> {
    pub(super) fn here_delimiter(&mut self, tabs: bool) -> Reading<()> {
        self.blanks()?;
        let quote = ["'", "\""].into_iter().find(|quote| self.source.eat(quote));
        let delimiter = self.source.run(|character| character.is_ascii_alphanumeric() || character == '_').to_owned();
        let closed = quote.is_none_or(|quote| self.source.eat(quote));
        let ends = !self.is_at_word() || self.source.peek().is_none();
        if delimiter.is_empty() || !closed || !ends {
            return Err(WhyNot::Unread("a here-document with an unusual end"));
        }
        self.pending.push(Pending { delimiter, quoted: quote.is_some(), tabs });
        Ok(())
    }

    /// Reads the texts that begin here, behind a newline.
    pub(super) fn here_documents(&mut self) -> Reading<()> {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.here_text(&pending)?;
            self.here_count += 1;
            if !pending.quoted {
                let runs = self.within(&text, Parser::runs_of_text)?;
                self.here_runs.extend(runs);
            }
        }
        Ok(())
    }

    fn here_text(&mut self, pending: &Pending) -> Reading<String> {
        let mut text = String::new();
        loop {
            let line = self.source.run(|character| character != '\n');
            let has_next = self.source.eat("\n");
            let bare = if pending.tabs { line.trim_start_matches('\t') } else { line };
            if bare == pending.delimiter {
                return Ok(text);
            }
            if !has_next {
                return Err(WhyNot::Unread("a here-document without its end"));
            }
            if !pending.quoted && line.ends_with('\\') {
                return Err(WhyNot::Unread("a here-document with a continued line"));
            }
            text.push_str(line);
            text.push('\n');
        }
    }

    /// What the substitutions in a text run.
    fn runs_of_text(&mut self) -> Reading<Vec<List>> {
        let mut runs = Vec::new();
        while let Some(next) = self.source.peek() {
            match next {
                '$' => {
                    self.expansion(true, &mut runs)?;
                }
                '`' => self.backticks(true, &mut runs)?,
                _ => {
                    self.source.take();
                    if next == '\\' {
                        self.source.take();
                    }
                }
            }
        }
        Ok(runs)
    }
}
