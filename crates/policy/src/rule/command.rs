//! Patterns for shell commands: `git diff:*` for all that begins with these words, anything else exactly.
//!
//! What permits looks at plain words only, so that nothing can hide in quotes, substitutions or a second command. What
//! forbids looks at each command of a line; it is a net for accidents, since a shell has more spellings than any rule.

use crate::pairs::Pairs;

/// A pattern for commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    words: Vec<String>,
    /// Whether further words may follow.
    open: bool,
}

impl CommandPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let prefix = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        let said = prefix.unwrap_or(text);
        if said.contains('*') {
            return Err("`*` stands for further words only, at the end: `git diff:*`");
        }
        let words: Vec<String> = said.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() { Err("it names no command") } else { Ok(Self { words, open: prefix.is_some() }) }
    }

    /// Whether it may let this command through.
    pub(crate) fn permits(&self, command: &Command<'_>) -> bool {
        command.plain && self.covers(&command.whole)
    }

    /// Whether it speaks of this command, or of one of those that it is made of.
    pub(crate) fn speaks_of(&self, command: &Command<'_>) -> bool {
        self.covers(&command.whole) || command.parts.iter().any(|part| self.covers(part))
    }

    fn covers(&self, command: &[&str]) -> bool {
        (self.open && command.len() >= self.words.len() || command.len() == self.words.len())
            && self.words.iter().zip(command).all(|(own, word)| own == word)
    }

    /// What occurs in every command that it covers.
    pub(crate) fn pairs(&self) -> Pairs {
        let mut pairs = Pairs::default();
        self.words.iter().for_each(|word| pairs.add_name(word));
        pairs
    }
}

/// A command taken apart.
pub(crate) struct Command<'a> {
    plain: bool,
    /// All its words.
    whole: Vec<&'a str>,
    /// The words of each command on the line, where there may be several.
    parts: Vec<Vec<&'a str>>,
}

impl<'a> Command<'a> {
    pub(crate) fn new(command: &'a str) -> Self {
        const BETWEEN: [char; 9] = [';', '|', '&', '\n', '\r', '(', ')', '`', '{'];
        let words = |text: &'a str| text.split_whitespace().collect();
        let plain = is_plain(command);
        let parts = if plain { Vec::new() } else { command.split(BETWEEN).map(words).collect() };
        Self { plain, whole: words(command), parts }
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &'a str> {
        self.whole.iter().chain(self.parts.iter().flatten()).copied()
    }
}

/// Whether a shell takes every word of a command as it stands.
pub(crate) fn is_plain(command: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:=@%+ ".contains(&byte);
    command.bytes().all(plain)
}
