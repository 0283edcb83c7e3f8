//! Errors of templates that were not expanded, with advice on what to write instead.

use std::fmt;

use crate::definition::Finding;

/// Number of names in a message; the field has all.
const LISTED: usize = 30;

/// The call does not fit the template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("the template `{template}` has no argument `{name}`; {instead}")]
    UnknownArgument { template: String, name: String, instead: String },

    #[error("the template `{template}` needs {}; it takes {usage}", in_words(names))]
    Missing { template: String, names: Vec<String>, usage: String },

    #[error("`{name}` is given twice; give it once")]
    Twice { name: String },

    #[error("the quote in the value of `{name}` is not closed; end it with the same quote")]
    OpenQuote { name: String },

    #[error(
        "the template `{template}` becomes a prompt of {bytes} bytes with these values; the limit is {most_bytes} \
         (`task_tool.max_prompt_bytes`)"
    )]
    TooLong { template: String, bytes: usize, most_bytes: usize },
}

/// `path=…` and `style=…`.
fn in_words(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}=…`")).collect::<Vec<_>>().join(" and ")
}

/// No template has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownTemplate {
    pub asked: String,
    /// The existing names, likely matches first.
    pub known: Vec<String>,
    /// Reasons why files of this name do not count.
    pub absent: Vec<Finding>,
}

impl fmt::Display for UnknownTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, known, absent } = self;
        write!(f, "unknown template `{asked}`")?;
        for finding in absent {
            write!(f, " (its file does not count: {finding})")?;
        }
        if known.is_empty() {
            return f.write_str("; there are none: a template is a file in .sortie/templates");
        }
        let listed = &known[..known.len().min(LISTED)];
        write!(f, "; there are {}", listed.join(", "))?;
        match known.len() - listed.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
