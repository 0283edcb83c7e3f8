//! `Frame`: text collected until the end tag decides its form.

use super::inline::Inline;

/// The form of a frame's text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Role {
    Marked(&'static str),
    Raised(&'static str),
    Quotation,
    Code,
    /// `None` if the target cannot be fetched.
    Link(Option<String>),
    Heading(usize),
    Cell {
        columns: usize,
        rows: usize,
    },
    Caption,
}

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) role: Role,
    pub(super) inline: Inline,
    /// Number of elements open at its start: it ends with the next one.
    pub(super) depth: usize,
}

impl Role {
    /// True if blocks within it are reduced to words in a row.
    pub(super) fn holds_blocks(&self) -> bool {
        matches!(self, Self::Link(_) | Self::Heading(_) | Self::Cell { .. } | Self::Caption)
    }

    /// True if it never has more than a few lines.
    pub(super) fn is_short(&self) -> bool {
        matches!(self, Self::Link(_) | Self::Heading(_))
    }
}

impl Frame {
    /// Formats the text.
    pub(super) fn render(&self) -> String {
        let text = self.inline.text();
        if text.is_empty() {
            return String::new();
        }
        match &self.role {
            Role::Marked(mark) => format!("{mark}{text}{mark}"),
            Role::Raised(mark) => format!("{mark}{text}"),
            Role::Quotation => format!("\"{text}\""),
            Role::Code => code(&self.inline.on_one_line()),
            Role::Link(href) => link(&self.inline.on_one_line(), href.as_deref()),
            Role::Heading(level) => format!("{} {}", "#".repeat(*level), self.inline.on_one_line()),
            Role::Cell { .. } | Role::Caption => self.inline.on_one_line(),
        }
    }
}

fn link(text: &str, href: Option<&str>) -> String {
    match href {
        // Symbols for "link to this section".
        None if matches!(text, "¶" | "#" | "§" | "🔗") => String::new(),
        None => text.to_owned(),
        Some(href) if href == text => format!("<{href}>"),
        Some(href) if href.contains(['(', ')']) => format!("[{text}](<{href}>)"),
        Some(href) => format!("[{text}]({href})"),
    }
}

fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Returns the longest run of one character.
pub(super) fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
