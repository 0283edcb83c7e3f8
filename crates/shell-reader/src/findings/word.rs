//! A word of a command, as the program would receive it.

/// One word as the program would receive it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Written without quotes or escapes, or in one pair of quotes.
    Plain(String),
    /// Known, but spelled as people do not spell it: `c''at`, `\cat`, `$'\x63at'`.
    Respelled(String),
    /// Known only when the line runs. It may expand to several words, or to none.
    Unknown,
}

impl Word {
    /// Returns the word if it is known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Plain(text) | Self::Respelled(text) => Some(text),
            Self::Unknown => None,
        }
    }
}
