//! The tools, one file each, named as the model knows them.
//!
//! To add one, implement `TypedTool` (`call/typed_tool.rs`) in a new file here, and add a line to `registry.rs` and its
//! name to `policy/src/rule/known_tools.rs`.

pub(crate) mod ask;
pub(crate) mod bash;
pub(crate) mod bash_output;
pub(crate) mod edit;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod kill_shell;
pub(crate) mod ls;
pub(crate) mod multi_edit;
pub(crate) mod note;
pub(crate) mod read;
pub(crate) mod send_message;
pub(crate) mod task;
pub(crate) mod task_list;
pub(crate) mod task_output;
pub(crate) mod task_stop;
pub(crate) mod todo_write;
pub(crate) mod web_fetch;
pub(crate) mod write;
