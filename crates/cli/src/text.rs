//! Text for a terminal: neutralised, measured, cut and wrapped, in tables and boxes; numbers in few words.

pub(crate) mod frame;
pub(crate) mod paint;
mod table;
pub(crate) mod terminal;
pub(crate) mod width;
pub(crate) mod words;

pub(crate) use sortie_policy::neutral;

pub(crate) use paint::{Colour, paint};
pub(crate) use table::table;
pub(crate) use terminal::{columns, fitted, write_stderr};
