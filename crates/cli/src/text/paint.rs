//! Optional colours for text.

use std::io;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;

/// Use of colour in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
}

impl Colour {
    /// Use of colour on stderr.
    pub(crate) fn of_stderr() -> Self {
        if AutoStream::choice(&io::stderr()) == ColorChoice::Never { Self::Off } else { Self::On }
    }
}

/// Paints a text in a style, if colour is used.
pub(crate) fn paint(text: &str, style: Style, colour: Colour) -> String {
    match colour {
        Colour::On => format!("{style}{text}{style:#}"),
        Colour::Off => text.to_owned(),
    }
}
