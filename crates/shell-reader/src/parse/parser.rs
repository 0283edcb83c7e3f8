//! The state of a parser, and the steps shared by all parts of the grammar.

use super::source::Source;
use super::tree::List;
use crate::findings::WhyNot;

/// A part of the line, or the reason why it cannot be read.
pub(super) type Reading<T> = Result<T, WhyNot>;

/// Words that end a list if they stand where a command could begin.
pub(super) const CLOSING: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];

/// A line being parsed.
pub(super) struct Parser<'a> {
    pub(super) source: Source<'a>,
    /// Here-documents whose text begins after the next newline.
    pub(super) pending: Vec<PendingText>,
    /// Number of here-documents read.
    pub(super) here_count: usize,
    /// Commands run by the here-documents.
    pub(super) here_runs: Vec<List>,
    /// Number of commands read, including those in substitutions.
    pub(super) commands: usize,
    pub(super) depth: usize,
}

/// A here-document whose text follows later.
#[derive(Debug)]
pub(super) struct PendingText {
    pub(super) delimiter: String,
    /// True if the text is taken literally.
    pub(super) quoted: bool,
    pub(super) tabs: LeadingTabs,
}

/// Treatment of tabs at the start of a here-document's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeadingTabs {
    Kept,
    /// `<<-`
    LeftOut,
}

/// Quoting around an expansion: in double quotes, or in a text that is read as if it were.
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

    /// Parses another text as a part of this one.
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

    /// True if this reserved word comes next and ends there.
    pub(super) fn is_at_reserved(&self, word: &str) -> bool {
        let behind = self.source.rest().strip_prefix(word);
        behind.is_some_and(|behind| behind.chars().next().is_none_or(ends_word))
    }

    /// Skips this reserved word if it comes next.
    pub(super) fn eat_reserved(&mut self, word: &str) -> bool {
        self.is_at_reserved(word) && self.source.eat(word)
    }

    /// Skips a required token: a reserved word, or `)`.
    pub(super) fn expect(&mut self, word: &'static str) -> Reading<()> {
        let found = if word == ")" { self.source.eat(word) } else { self.eat_reserved(word) };
        if found { Ok(()) } else { Err(WhyNot::Unread("an unclosed command")) }
    }

    /// Skips blanks, continued lines and a comment.
    pub(super) fn skip_blanks(&mut self) -> Reading<()> {
        loop {
            self.source.run(|character| character == ' ' || character == '\t');
            if !self.source.looks_at("\\\n") {
                break;
            }
            // Elsewhere the continuation would join the words on both sides.
            if !self.source.is_behind_blank() {
                return Err(WhyNot::Unread("a line continuation within a word"));
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

    /// True if a word begins here.
    pub(super) fn is_at_word(&self) -> bool {
        let next = self.source.rest();
        next.starts_with("<(") || next.starts_with(">(") || next.chars().next().is_some_and(|next| !ends_word(next))
    }

    /// Reads the `)` after a list. The text of an open here-document would follow elsewhere, so that fails.
    pub(super) fn close(&mut self) -> Reading<()> {
        if !self.pending.is_empty() {
            return Err(WhyNot::Unread("a here-document without its text"));
        }
        self.expect(")")
    }
}

/// True if the character separates words.
pub(super) fn ends_word(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}
