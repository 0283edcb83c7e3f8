//! A template: a reusable prompt, with placeholders for the parts that vary.

use sortie_protocol::{TaskRequest, nearest};

use crate::definition::Origin;
use crate::templates::argument_values::Given;
use crate::templates::body::{Body, INPUT, Piece};
use crate::templates::error::TemplateError;

/// A prompt with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Name of its file.
    pub name: String,
    /// Its purpose, on one line.
    pub description: String,
    /// The agent to use, unless the caller names one.
    pub agent: Option<String>,
    /// The model to use, unless the caller names one.
    pub model: Option<String>,
    pub arguments: Vec<Argument>,
    /// As written: `{{path}}` is the placeholder of the argument `path`, `{{input}}` that of the free text.
    pub text: String,
    pub origin: Origin,
}

/// A part that varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    /// Value if none is given; `None` if one is required.
    pub default: Option<String>,
}

impl Template {
    /// The text with the values filled in, if it is no longer than `most_bytes`. Free text without a placeholder
    /// becomes a paragraph at the end.
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

    /// Its call syntax: `path=… [style=…] [words]`.
    pub fn usage(&self) -> String {
        let argument = |argument: &Argument| match argument.default {
            None => format!("{}=… ", argument.name),
            Some(_) => format!("[{}=…] ", argument.name),
        };
        self.arguments.iter().map(argument).collect::<String>() + "[words]"
    }

    /// Fills in the template's agent and model, and adds the notice.
    #[must_use]
    pub fn serving(&self, mut request: TaskRequest) -> TaskRequest {
        if let Some(agent) = &self.agent
            && (request.agent_is_usual || request.agent.is_empty())
        {
            request.agent.clone_from(agent);
            request.agent_is_usual = false;
        }
        if request.model.is_none() {
            request.model.clone_from(&self.model);
        }
        request.notices.push(format!("the prompt is the template `{}` ({})", self.name, self.origin));
        request
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
            Some(name) => Err(self.unknown_argument(name)),
        }
    }

    fn unknown_argument(&self, name: &str) -> TemplateError {
        let names = self.arguments.iter().map(|argument| argument.name.as_str());
        let instead = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it takes {}", self.usage()),
        };
        TemplateError::UnknownArgument { template: self.name.clone(), name: name.to_owned(), instead }
    }

    fn refuse_missing(&self, given: &Given) -> Result<(), TemplateError> {
        let is_missing = |argument: &&Argument| argument.default.is_none() && given.value(&argument.name).is_none();
        let missing: Vec<String> =
            self.arguments.iter().filter(is_missing).map(|argument| argument.name.clone()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(TemplateError::Missing { template: self.name.clone(), names: missing, usage: self.usage() })
    }
}

/// A text that grows up to a limit, and is only counted beyond it.
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
