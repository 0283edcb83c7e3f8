//! Git as the program itself calls it, in repositories that would have it run something. Each trap is shown to work
//! with plain git first.

mod bare;
mod directory;
mod find;
mod named;
mod repository;
mod status;
mod traps;
