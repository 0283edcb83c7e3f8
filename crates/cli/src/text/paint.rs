//! Colours: text painted where colour is wanted.

use std::io;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;

/// Whether text may be coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
}

impl Colour {
    /// What stderr takes.
    pub(crate) fn of_stderr() -> Self {
        if AutoStream::choice(&io::stderr()) == ColorChoice::Never { Self::Off } else { Self::On }
    }
}

/// The text in a style, where colour is wanted.
pub(crate) fn paint(text: &str, style: Style, colour: Colour) -> String {
    match colour {
        Colour::On => format!("{style}{text}{style:#}"),
        Colour::Off => text.to_owned(),
    }
}
