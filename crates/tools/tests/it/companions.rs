//! The tools that look after other tasks, called by a task whose kin does as it is told.

mod ask;
mod family;
mod note;
mod send_message;
mod task_list;
mod task_output;
mod task_stop;
