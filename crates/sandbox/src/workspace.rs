//! placeholder
#[derive(Debug)]
pub struct Workspace {}
