//! The loop, the gate, the supervisor of the task tree
