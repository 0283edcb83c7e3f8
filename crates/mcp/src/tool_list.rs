//! The tools of others' servers as models are offered them: their list, their schemas and their answers, within bounds.

pub(crate) mod tool_answer;
pub(crate) mod tool_listing;
pub(crate) mod tool_pages;
mod tool_schema;
