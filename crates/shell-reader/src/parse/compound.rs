//! Commands that are made of lists: groups, conditions, loops, choices and functions.

use super::list::{CLOSING, Parser, Reading, ends_word};
use super::tree::{Command, List, Shape, Spelled};
use crate::analysis::WhyNot;

/// Tests whose words are computed, which can run what stands in a variable.
const COMPUTED: [&str; 8] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];

impl Parser<'_> {
    /// The compound command that comes next, if it is one.
    pub(super) fn compound(&mut self) -> Reading<Option<Shape>> {
        if self.source.looks_at("((") {
            return Err(WhyNot::Unread("arithmetic"));
        }
        let shape = if self.source.eat("(") {
            let list = self.body()?;
            self.close()?;
            Shape::Subshell(list)
        } else if self.reserved("{") {
            let list = self.body()?;
            self.expect("}")?;
            Shape::Group(list)
        } else if self.reserved("if") {
            self.condition()?
        } else if self.reserved("while") || self.reserved("until") {
            let condition = self.body()?;
            Shape::While { condition, body: self.loop_body()? }
        } else if self.reserved("for") {
            self.each()?
        } else if self.reserved("case") {
            self.choice()?
        } else if self.reserved("[[") {
            self.test()?
        } else if ["function", "select", "coproc"].iter().any(|word| self.is_at_reserved(word)) {
            return Err(WhyNot::Unread("`function`, `select` or `coproc`"));
        } else if CLOSING.iter().chain(&["!", "in", "]]"]).any(|word| self.is_at_reserved(word)) {
            return Err(WhyNot::Unread("something out of place"));
        } else {
            return Ok(None);
        };
        Ok(Some(shape))
    }

    /// The `)` behind a list. A here-document that is still open would have its text elsewhere.
    pub(super) fn close(&mut self) -> Reading<()> {
        if !self.pending.is_empty() {
            return Err(WhyNot::Unread("a here-document without its text"));
        }
        self.expect(")")
    }

    fn condition(&mut self) -> Reading<Shape> {
        let mut branches = Vec::new();
        loop {
            let condition = self.body()?;
            self.expect("then")?;
            branches.push((condition, self.body()?));
            if !self.reserved("elif") {
                break;
            }
        }
        let otherwise = if self.reserved("else") { Some(self.body()?) } else { None };
        self.expect("fi")?;
        Ok(Shape::If { branches, otherwise })
    }

    fn loop_body(&mut self) -> Reading<List> {
        self.expect("do")?;
        let body = self.body()?;
        self.expect("done")?;
        Ok(body)
    }

    fn each(&mut self) -> Reading<Shape> {
        self.blanks()?;
        let name = self.source.run(|character| character.is_ascii_alphanumeric() || character == '_');
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            return Err(WhyNot::Unread("a loop without a name"));
        }
        self.newlines()?;
        if !self.reserved("in") {
            return Err(WhyNot::Unread("a loop over no words"));
        }
        let mut words = Vec::new();
        loop {
            self.blanks()?;
            if !self.is_at_word() {
                break;
            }
            words.push(self.word()?);
        }
        if !self.source.eat(";") && !self.source.looks_at("\n") {
            return Err(WhyNot::Unread("something out of place"));
        }
        self.newlines()?;
        Ok(Shape::For { words, body: self.loop_body()? })
    }

    fn choice(&mut self) -> Reading<Shape> {
        self.blanks()?;
        let mut words = vec![self.some_word()?];
        self.newlines()?;
        self.expect("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.reserved("esac") {
                return Ok(Shape::Case { words, arms });
            }
            self.source.eat("(");
            loop {
                self.blanks()?;
                words.push(self.some_word()?);
                self.blanks()?;
                if !self.source.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            arms.push(self.list()?);
            let ended = self.source.eat(";;&") || self.source.eat(";;") || self.source.eat(";&");
            if !ended && !self.is_at_reserved("esac") {
                return Err(WhyNot::Unread("a choice that is not closed"));
            }
        }
    }

    fn some_word(&mut self) -> Reading<Spelled> {
        if self.is_at_word() { self.word() } else { Err(WhyNot::Unread("a word missing")) }
    }

    /// `[[ … ]]` on one line, without patterns that have a grammar of their own.
    fn test(&mut self) -> Reading<Shape> {
        let mut words = Vec::new();
        // Behind an operator the shell takes even `]]` for a word.
        let mut complete = false;
        loop {
            self.source.run(|character| character == ' ' || character == '\t');
            if self.is_at_reserved("]]") && !complete {
                return Err(WhyNot::Unread("a test that is not complete"));
            }
            if self.reserved("]]") {
                return Ok(Shape::Test(words));
            }
            if let Some(operator) = ["&&", "||", "(", ")"].iter().find(|operator| self.source.eat(operator)) {
                complete = *operator == ")";
                continue;
            }
            if self.source.looks_at("#") || !self.is_at_word() || self.source.peek().is_some_and(ends_word) {
                return Err(WhyNot::Unread("a test that is not understood"));
            }
            let word = self.word()?;
            if word.word.text().is_some_and(|text| text == "=~" || COMPUTED.contains(&text)) {
                return Err(WhyNot::Unread("a test that computes"));
            }
            let operator = |text: &str| text.starts_with('-') || ["!", "=", "==", "!="].contains(&text);
            complete = !word.bare_text().is_some_and(operator);
            words.push(word);
        }
    }

    /// `()` and the body of a function whose name was read.
    pub(super) fn function(&mut self) -> Reading<Command> {
        self.source.eat("(");
        self.blanks()?;
        self.expect(")")?;
        self.newlines()?;
        let body = self.command()?;
        if matches!(body.shape, Shape::Simple { .. }) {
            return Err(WhyNot::Unread("a function without a body"));
        }
        Ok(Command { shape: Shape::Function(Box::new(body)), redirects: Vec::new() })
    }
}
