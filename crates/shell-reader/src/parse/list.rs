//! The grammar of lists, pipelines and simple commands. What it does not know for certain is an error, never a guess.

use super::here_document::Pending;
use super::source::Source;
use super::tree::{Assignment, Command, Item, List, Pipeline, Shape, Spelled, Then};
use crate::analysis::{MAX_PARTS, WhyNot};

/// Deeper nesting is not read.
const MAX_DEPTH: usize = 30;

/// Words that end a list where a command could begin.
pub(super) const CLOSING: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];

pub(super) type Reading<T> = Result<T, WhyNot>;

pub(super) struct Parser<'a> {
    pub(super) source: Source<'a>,
    /// Here-documents whose text begins behind the next newline.
    pub(super) pending: Vec<Pending>,
    /// How many here-documents were read.
    pub(super) here_count: usize,
    /// What their texts run.
    pub(super) here_runs: Vec<List>,
    /// How many commands were read, within substitutions too.
    pub(super) commands: usize,
    pub(super) depth: usize,
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

    /// The whole text.
    pub(super) fn line(&mut self) -> Reading<List> {
        let list = self.list()?;
        match self.source.peek() {
            None if self.pending.is_empty() => Ok(list),
            None => Err(WhyNot::Unread("a here-document without its text")),
            Some(_) => Err(WhyNot::Unread("something out of place")),
        }
    }

    /// Commands up to what can only end them.
    pub(super) fn list(&mut self) -> Reading<List> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(WhyNot::Unread("too many levels"));
        }
        let mut items = Vec::new();
        loop {
            self.newlines()?;
            if self.is_at_end_of_list() {
                break;
            }
            let mut item = self.item()?;
            self.blanks()?;
            let next = self.source.peek();
            item.background = next == Some('&');
            items.push(item);
            match next {
                Some(';') if matches!(self.source.second(), Some(';' | '&')) => break,
                Some(';' | '&') => {
                    self.source.take();
                }
                Some('\n') => {}
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(items)
    }

    /// A list with something in it.
    pub(super) fn body(&mut self) -> Reading<List> {
        let list = self.list()?;
        if list.is_empty() { Err(WhyNot::Unread("a command missing")) } else { Ok(list) }
    }

    fn is_at_end_of_list(&self) -> bool {
        let next = self.source.rest();
        next.is_empty()
            || next.starts_with([')', ';', '&', '|'])
            || CLOSING.iter().any(|closing| self.is_at_reserved(closing))
    }

    /// Whether this word of the language comes next, and ends there.
    pub(super) fn is_at_reserved(&self, word: &str) -> bool {
        let behind = self.source.rest().strip_prefix(word);
        behind.is_some_and(|behind| behind.chars().next().is_none_or(ends_word))
    }

    pub(super) fn reserved(&mut self, word: &str) -> bool {
        self.is_at_reserved(word) && self.source.eat(word)
    }

    pub(super) fn expect(&mut self, word: &'static str) -> Reading<()> {
        let found = if word == ")" { self.source.eat(word) } else { self.reserved(word) };
        if found { Ok(()) } else { Err(WhyNot::Unread("a command that is not closed")) }
    }

    fn item(&mut self) -> Reading<Item> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks()?;
            let then = if self.source.eat("&&") {
                Then::OnSuccess
            } else if self.source.eat("||") {
                Then::OnFailure
            } else {
                break;
            };
            self.newlines()?;
            rest.push((then, self.pipeline()?));
        }
        Ok(Item { first, rest, background: false })
    }

    fn pipeline(&mut self) -> Reading<Pipeline> {
        let mut negated = false;
        loop {
            if self.reserved("!") {
                negated = !negated;
            } else if self.reserved("time") {
                self.blanks()?;
                if self.source.looks_at("-") {
                    return Err(WhyNot::Unread("an option of `time`"));
                }
            } else {
                break;
            }
            self.blanks()?;
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks()?;
            let piped = !self.source.looks_at("||") && (self.source.eat("|&") || self.source.eat("|"));
            if !piped {
                return Ok(Pipeline { negated, commands });
            }
            self.newlines()?;
            commands.push(self.command()?);
        }
    }

    pub(super) fn command(&mut self) -> Reading<Command> {
        self.commands += 1;
        if self.commands > MAX_PARTS {
            return Err(WhyNot::TooManyParts);
        }
        let Some(shape) = self.compound()? else { return self.simple() };
        let mut redirects = Vec::new();
        loop {
            self.blanks()?;
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Command { shape, redirects }),
            }
        }
    }

    fn simple(&mut self) -> Reading<Command> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::<Spelled>::new(), Vec::new());
        loop {
            self.blanks()?;
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if self.source.looks_at("(") && words.len() == 1 && assignments.is_empty() && redirects.is_empty() {
                return self.function();
            } else if !self.is_at_word() {
                break;
            } else if let Some(assignment) = self.assignment(words.is_empty())? {
                assignments.push(assignment);
            } else {
                words.push(self.word()?);
            }
        }
        if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
            return Err(WhyNot::Unread("a command missing"));
        }
        Ok(Command { shape: Shape::Simple { assignments, words }, redirects })
    }

    /// `NAME=value` in front of a command.
    fn assignment(&mut self, in_front: bool) -> Reading<Option<Assignment>> {
        let before = self.source.clone();
        let name = self.source.run(|character| character.is_ascii_alphanumeric() || character == '_').to_owned();
        let is_name = in_front && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if is_name && self.source.looks_at("[") {
            return Err(WhyNot::Unread("a part of an array that is set"));
        }
        if !is_name || !(self.source.eat("=") || self.source.eat("+=")) {
            self.source = before;
            return Ok(None);
        }
        if self.source.looks_at("(") {
            return Err(WhyNot::Unread("an array"));
        }
        Ok(Some(Assignment { name, value: self.word()? }))
    }

    /// Passes over blanks, continued lines and a comment.
    pub(super) fn blanks(&mut self) -> Reading<()> {
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

    /// Passes over blanks and newlines, and over the here-documents behind a newline.
    pub(super) fn newlines(&mut self) -> Reading<()> {
        loop {
            self.blanks()?;
            if !self.source.eat("\n") {
                return Ok(());
            }
            self.here_documents()?;
        }
    }

    pub(super) fn is_at_word(&self) -> bool {
        let next = self.source.rest();
        next.starts_with("<(") || next.starts_with(">(") || next.chars().next().is_some_and(|next| !ends_word(next))
    }
}

/// Whether a character stands between words.
pub(super) fn ends_word(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}
