//! The dialects of the Task tool: what they accept, what they answer.

mod sortie;
