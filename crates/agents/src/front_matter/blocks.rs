//! Splits front matter that is not valid YAML into blocks of lines, one for each key.

use std::borrow::Cow;

use crate::front_matter::document::FIRST_LINE;
use crate::front_matter::file_findings::Defect;
use crate::front_matter::keys::{self, KEYS, PROSE, TOOL_LISTS};
use crate::front_matter::yaml::{self, Failure};

/// The blocks of front matter.
pub(crate) struct Split<'a> {
    pub(crate) blocks: Vec<Block<'a>>,
    /// Lines above the first key, with their numbers.
    above: Vec<(usize, &'a str)>,
}

/// A top-level key with all lines that belong to it.
pub(crate) struct Block<'a> {
    pub(crate) key: &'a str,
    pub(crate) line: usize,
    /// The first begins with the key in YAML form; comments are blank.
    lines: Vec<Cow<'a, str>>,
    /// Indices of lines below the key that belong to no key, in order.
    stray: Vec<usize>,
    /// Number of lines at the end taken from below, because they read as one text with the rest.
    absorbed: usize,
}

pub(crate) fn split(front_matter: &str) -> Split<'_> {
    let mut split = Split { blocks: Vec::new(), above: Vec::new() };
    for (line, text) in front_matter.lines().enumerate().map(|(index, text)| (index + FIRST_LINE, text)) {
        if let Some(block) = Block::begun_by(text, line) {
            split.blocks.push(block);
            continue;
        }
        let blank = text.trim().is_empty() || text.starts_with('#');
        match split.blocks.last_mut() {
            // Kept as a line, so that later lines keep their numbers.
            Some(block) if blank => block.lines.push("".into()),
            Some(block) => {
                if !belongs_to_value(text) {
                    block.stray.push(block.lines.len());
                }
                block.lines.push(text.into());
            }
            None if blank => {}
            None => split.above.push((line, text)),
        }
    }
    split
}

/// Merges lines below a prose value into it, up to the next known key, if some cannot be anything else. Examples in
/// descriptions look like `user: …` and `<example>`.
pub(crate) fn absorb(blocks: Vec<Block<'_>>) -> Vec<Block<'_>> {
    let mut rest = blocks.into_iter().peekable();
    let mut read: Vec<Block<'_>> = Vec::new();
    while let Some(mut block) = rest.next() {
        if !PROSE.contains(&block.key) {
            read.push(block);
            continue;
        }
        let is_known = |key: &str| KEYS.contains(&key) || keys::narrowing(key).is_some();
        let mut below: Vec<Block<'_>> = std::iter::from_fn(|| rest.next_if(|next| !is_known(next.key))).collect();
        let has_stray = |block: &Block<'_>| !block.stray.is_empty();
        if has_stray(&block) || below.iter().any(has_stray) || block.is_not_yaml() {
            block.take(std::mem::take(&mut below));
        }
        read.push(block);
        read.append(&mut below);
    }
    read
}

/// Indented lines and list items belong to the key above them.
fn belongs_to_value(line: &str) -> bool {
    line.starts_with([' ', '\t']) || line == "-" || line.starts_with("- ")
}

impl Split<'_> {
    /// Numbers of the lines that belong to no key.
    pub(crate) fn stray(&self) -> Vec<usize> {
        let above = self.above.iter().map(|(line, _)| *line);
        above.chain(self.blocks.iter().flat_map(|block| block.stray.iter().map(|at| block.line + at))).collect()
    }

    /// The first stray line that could limit the agent.
    pub(crate) fn lost_narrowing(&self) -> Option<Defect> {
        let defect =
            |line, message| Defect { line: Some(line), message, fix: "write `key: value`, or delete the line" };
        let seems = |line, text: &str| {
            let key = keys::key_inside(text)?;
            Some(defect(line, format!("a line that seems to mean `{key}`, but belongs to no key")))
        };
        let of_block = |block: &Block<'_>| {
            let first = block.line + block.stray.first()?;
            if TOOL_LISTS.contains(&block.key) {
                return Some(defect(first, format!("a line below `{}` that belongs to no key", block.key)));
            }
            block.stray.iter().find_map(|&at| seems(block.line + at, block.lines[at].as_ref()))
        };
        let above = self.above.iter().find_map(|&(line, text)| seems(line, text));
        above.or_else(|| self.blocks.iter().find_map(of_block))
    }
}

impl<'a> Block<'a> {
    fn begun_by(text: &'a str, line: usize) -> Option<Self> {
        let block = |key, first| Some(Self { key, line, lines: vec![first], stray: Vec::new(), absorbed: 0 });
        if let Some((key, _)) = keys::key_of(text) {
            return block(key, text.into());
        }
        let (key, value) = keys::known_key(text)?;
        block(key, format!("{key}: {}", value.trim_start()).into())
    }

    fn take(&mut self, below: Vec<Block<'a>>) {
        let own = self.stray.first().map_or(0, |first| self.lines.len() - first);
        self.stray.clear();
        self.absorbed = own;
        for block in below {
            self.absorbed += block.lines.len();
            self.lines.extend(block.lines);
        }
    }

    fn is_stray(&self, at: usize) -> bool {
        self.stray.binary_search(&at).is_ok()
    }

    /// The text without the stray lines.
    pub(crate) fn text(&self) -> String {
        let line = |(at, line)| if self.is_stray(at) { "" } else { line };
        let lines: Vec<&str> = self.lines.iter().map(AsRef::as_ref).enumerate().map(line).collect();
        lines.join("\n")
    }

    /// True if a tab in the indentation can explain the parser's error on this line.
    pub(crate) fn has_tab(&self, line: usize) -> bool {
        let indented = |line: &str| line[..line.len() - line.trim_start().len()].contains('\t');
        let Some(from) = line.checked_sub(self.line).filter(|from| *from < self.lines.len()) else { return false };
        // For a plain text the parser names the first line, whichever line has the tab.
        let count = if self.is_plain() { self.lines.len() } else { 1 };
        self.lines[from..].iter().take(count).any(|line| indented(line))
    }

    fn is_not_yaml(&self) -> bool {
        matches!(yaml::parse(&self.text(), self.line), Err(Failure::Syntax { .. }))
    }

    pub(crate) fn has_absorbed(&self) -> bool {
        self.absorbed > 0
    }

    /// The extent of a merged text, for a message.
    pub(crate) fn extent(&self) -> String {
        let last = self.lines.iter().rposition(|line| !line.trim().is_empty()).unwrap_or_default();
        if self.has_absorbed() { format!(", up to line {}", self.line + last) } else { String::new() }
    }

    /// The first non-empty line of the value.
    fn beginning(&self) -> &str {
        let value = self.lines.first().and_then(|line| line.split_once(':')).map_or("", |(_, value)| value);
        let below = self.lines[1..].iter().map(AsRef::as_ref);
        std::iter::once(value).chain(below).map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }

    /// True if the value has no quotes and no other mark of its end.
    pub(crate) fn is_plain(&self) -> bool {
        !self.beginning().starts_with(['|', '>', '"', '\''])
    }

    /// Refuses a value that contains a key.
    pub(crate) fn no_key_inside(&self) -> Result<(), Defect> {
        let below = self.lines.iter().enumerate().skip(1);
        let found =
            below.filter(|(at, _)| !self.is_stray(*at)).find_map(|(at, line)| Some((at, keys::key_inside(line)?)));
        let Some((at, key)) = found else { return Ok(()) };
        let message = format!("`{key}` inside the value of `{}`", self.key);
        let fix = "begin the line with the key if it is one, or put the value in quotes";
        Err(Defect { line: Some(self.line + at), message, fix })
    }

    /// The value as the plain text that it looks like; `None` if it looks like something else.
    pub(crate) fn plain_text(&self) -> Option<String> {
        let first = self.lines.first()?.split_once(':')?.1.trim();
        let alias = first.starts_with('*') && first.len() > 1;
        let list = TOOL_LISTS.contains(&self.key) && first.starts_with(['[', '{', '"', '\'']);
        if first.is_empty() || first.starts_with(['|', '>', '&', '!']) || alias || list {
            return None;
        }
        let more = self.lines[1..].iter().map(|line| line.trim());
        let text: Vec<&str> = std::iter::once(first).chain(more).filter(|line| !line.is_empty()).collect();
        Some(text.join(if self.has_absorbed() { "\n" } else { " " }))
    }
}
