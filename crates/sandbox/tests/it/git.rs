//! Git as the program itself calls it, in repositories that try to make it run something. Each trap is first shown to
//! work with plain git.

mod bare;
mod directory;
mod find;
mod named;
mod repository;
mod status;
mod traps;
