//! The tools that manage other tasks, called by a task with scripted relatives.

mod ask;
mod family;
mod note;
mod send_message;
mod task_list;
mod task_output;
mod task_stop;
