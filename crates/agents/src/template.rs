//! Templates: tasks that someone has put into words once, with places for what differs from time to time.
//!
//! A file says what a template is (`read::template`), [`Templates`] which one a name means, [`Given`] what was said for
//! its arguments. Expanding puts the values in as they are, once: what looks like a place in a value is text.

mod applied;
mod body;
mod call;
mod error;
mod given;
mod lines;
mod shelf;

pub(crate) use self::body::{Body, Piece, is_name};
pub use self::error::{TemplateError, UnknownTemplate};
pub use self::given::Given;
pub use self::lines::template_lines;
pub use self::shelf::Templates;

use crate::Origin;

/// The place for free text, which every template has without saying so.
pub(crate) const INPUT: &str = "input";

/// A task in words, with places in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// That of its file.
    pub name: String,
    /// What it is for, on one line.
    pub description: String,
    /// Who does it, unless the one who asks says otherwise.
    pub agent: Option<String>,
    /// By which model, unless the one who asks says otherwise.
    pub model: Option<String>,
    pub arguments: Vec<Argument>,
    /// As it is written: `{{path}}` is the place of the argument `path`, `{{input}}` that of the free text.
    pub text: String,
    pub origin: Origin,
}

/// Something that differs from time to time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    /// What it is when nobody says; `None`: somebody must.
    pub default: Option<String>,
}

impl Template {
    /// The text with the values in their places, if that has no more than `most_bytes`. Free text that has no place goes
    /// to the end, as a paragraph of its own.
    pub fn expand(&self, given: &Given, most_bytes: usize) -> Result<String, TemplateError> {
        self.refuse_unknown(given)?;
        self.refuse_missing(given)?;
        let body = Body::parse(&self.text);
        let mut text = Bounded { text: String::new(), most_bytes, bytes: 0 };
        for piece in &body.pieces {
            text.push(match piece {
                Piece::Text(text) => text,
                Piece::Place { name, .. } => self.value(name, given),
            });
        }
        if !given.input.is_empty() && !body.has(INPUT) {
            text.push("\n\n");
            text.push(&given.input);
        }
        text.finish(&self.name)
    }

    /// How it is called: `path=… [style=…] [words]`.
    pub fn usage(&self) -> String {
        let argument = |argument: &Argument| match argument.default {
            None => format!("{}=… ", argument.name),
            Some(_) => format!("[{}=…] ", argument.name),
        };
        self.arguments.iter().map(argument).collect::<String>() + "[words]"
    }

    fn value<'a>(&'a self, name: &str, given: &'a Given) -> &'a str {
        if name == INPUT {
            return &given.input;
        }
        let default = || self.arguments.iter().find(|argument| argument.name == name)?.default.as_deref();
        given.value(name).or_else(default).unwrap_or_default()
    }

    fn refuse_unknown(&self, given: &Given) -> Result<(), TemplateError> {
        let is_known = |name: &str| self.arguments.iter().any(|argument| argument.name == name);
        match given.names().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => Err(TemplateError::unknown_argument(self, name)),
        }
    }

    fn refuse_missing(&self, given: &Given) -> Result<(), TemplateError> {
        let is_missing = |argument: &&Argument| argument.default.is_none() && given.value(&argument.name).is_none();
        let missing: Vec<String> =
            self.arguments.iter().filter(is_missing).map(|argument| argument.name.clone()).collect();
        if missing.is_empty() { Ok(()) } else { Err(TemplateError::missing(self, missing)) }
    }
}

/// A text that grows up to a bound, and only counts from there.
struct Bounded {
    text: String,
    most_bytes: usize,
    bytes: usize,
}

impl Bounded {
    fn push(&mut self, text: &str) {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes <= self.most_bytes {
            self.text.push_str(text);
        }
    }

    fn finish(self, template: &str) -> Result<String, TemplateError> {
        let Self { text, most_bytes, bytes } = self;
        if bytes <= most_bytes {
            return Ok(text);
        }
        Err(TemplateError::TooLong { template: template.to_owned(), bytes, most_bytes })
    }
}
