//! A word of a command, as the program would get it.

/// One word as the program would get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Written as it is, or in one pair of quotes.
    Plain(String),
    /// Known, but written in another way than people do: `c''at`, `\cat`, `$'\x63at'`.
    Respelled(String),
    /// Known only when the line runs; it may also be several words, or none.
    Unknown,
}

impl Word {
    /// The word itself, if it is known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Plain(text) | Self::Respelled(text) => Some(text),
            Self::Unknown => None,
        }
    }
}
