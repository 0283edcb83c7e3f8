//! Tools of external servers as offered to models: their list, their schemas and their outputs, within bounds.

pub(crate) mod tool_answer;
pub(crate) mod tool_listing;
pub(crate) mod tool_pages;
mod tool_schema;
