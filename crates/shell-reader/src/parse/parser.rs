//! The state of a parser, and the steps that every part of the grammar takes.

use super::source::Source;
use super::tree::List;
use crate::findings::WhyNot;

/// A part of the line, or the reason why it is not read.
pub(super) type Reading<T> = Result<T, WhyNot>;

/// Words that end a list where a command could begin.
pub(super) const CLOSING: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];

/// A line that is being read.
pub(super) struct Parser<'a> {
    pub(super) source: Source<'a>,
    /// Here-documents whose text begins behind the next newline.
    pub(super) pending: Vec<PendingText>,
    /// How many here-documents were read.
    pub(super) here_count: usize,
    /// What their texts run.
    pub(super) here_runs: Vec<List>,
    /// How many commands were read, within substitutions too.
    pub(super) commands: usize,
    pub(super) depth: usize,
}

/// A here-document whose text is yet to come.
#[derive(Debug)]
pub(super) struct PendingText {
    pub(super) delimiter: String,
    /// Whether the text is taken as it stands.
    pub(super) quoted: bool,
    pub(super) tabs: LeadingTabs,
}

/// The treatment of tabs in front of the lines of a here-document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeadingTabs {
    Kept,
    /// `<<-`
    LeftOut,
}

/// Whether an expansion stands in double quotes, or in a text that is read as if it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    Bare,
    Quoted,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            source: Source::new(text),
            pending: Vec::new(),
            here_count: 0,
            here_runs: Vec::new(),
            commands: 0,
            depth: 0,
        }
    }

    /// Reads another text as a part of this one.
    pub(super) fn within<'b, T>(
        &mut self,
        text: &'b str,
        read: impl FnOnce(&mut Parser<'b>) -> Reading<T>,
    ) -> Reading<T> {
        let mut inner = Parser { commands: self.commands, depth: self.depth + 1, ..Parser::new(text) };
        let found = read(&mut inner)?;
        self.commands = inner.commands;
        self.here_count += inner.here_count;
        self.here_runs.append(&mut inner.here_runs);
        Ok(found)
    }

    /// Whether this word of the language comes next, and ends there.
    pub(super) fn is_at_reserved(&self, word: &str) -> bool {
        let behind = self.source.rest().strip_prefix(word);
        behind.is_some_and(|behind| behind.chars().next().is_none_or(ends_word))
    }

    /// Passes over this word of the language if it comes next.
    pub(super) fn eat_reserved(&mut self, word: &str) -> bool {
        self.is_at_reserved(word) && self.source.eat(word)
    }

    /// Passes over what has to come next: a word of the language, or `)`.
    pub(super) fn expect(&mut self, word: &'static str) -> Reading<()> {
        let found = if word == ")" { self.source.eat(word) } else { self.eat_reserved(word) };
        if found { Ok(()) } else { Err(WhyNot::Unread("a command that is not closed")) }
    }

    /// Passes over blanks, continued lines and a comment.
    pub(super) fn skip_blanks(&mut self) -> Reading<()> {
        loop {
            self.source.run(|character| character == ' ' || character == '\t');
            if !self.source.looks_at("\\\n") {
                break;
            }
            // Elsewhere it would join what stands on both sides of it.
            if !self.source.is_behind_blank() {
                return Err(WhyNot::Unread("a line that is continued within a word"));
            }
            self.source.eat("\\\n");
            if !self.source.rest().starts_with([' ', '\t']) {
                break;
            }
        }
        if self.source.looks_at("#") {
            self.source.run(|character| character != '\n');
        }
        Ok(())
    }

    /// Whether a word begins here.
    pub(super) fn is_at_word(&self) -> bool {
        let next = self.source.rest();
        next.starts_with("<(") || next.starts_with(">(") || next.chars().next().is_some_and(|next| !ends_word(next))
    }

    /// The `)` behind a list. A here-document that is still open would have its text elsewhere.
    pub(super) fn close(&mut self) -> Reading<()> {
        if !self.pending.is_empty() {
            return Err(WhyNot::Unread("a here-document without its text"));
        }
        self.expect(")")
    }
}

/// Whether a character stands between words.
pub(super) fn ends_word(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}
