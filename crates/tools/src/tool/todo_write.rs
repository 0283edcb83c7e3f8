//! `TodoWrite`: a plan that the model keeps in its own history.
//!
//! It stores nothing. The list is in the latest call; writing it again keeps it in view.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sortie_protocol::ToolOutput;

use crate::answer::arguments::{Unknown, list};
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::typed_tool::TypedTool;

const MAX_TODOS: usize = 100;
const MAX_CONTENT_CHARS: usize = 500;

pub(crate) struct TodoWrite;

#[derive(Deserialize)]
pub(crate) struct TodoWriteInput {
    #[serde(deserialize_with = "list")]
    todos: Vec<Todo>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Todo {
    content: String,
    status: TodoStatus,
    /// Models know it from elsewhere; the list shows `content` in every state.
    #[serde(rename = "activeForm", skip_serializing)]
    _active_form: Option<String>,
    #[serde(flatten, skip_serializing)]
    unknown: Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

impl TypedTool for TodoWrite {
    type Input = TodoWriteInput;

    const NAME: &'static str = "TodoWrite";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "Write the whole todo list for work of several steps.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        },
                        "required": ["content", "status"],
                    },
                },
            },
            "required": ["todos"],
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        if let Some(note) = input.todos.iter().find_map(|todo| todo.unknown.note()) {
            answer.note(format!("in todos: {note}"));
        }
        if let Some(problem) = problem(&input.todos) {
            return answer.failed(&ToolError::arguments(problem));
        }
        answer.put("todos", || json!(input.todos));
        for todo in &input.todos {
            let mark = match todo.status {
                TodoStatus::Pending => ' ',
                TodoStatus::InProgress => '>',
                TodoStatus::Completed => 'x',
            };
            if !answer.line(&format!("[{mark}] {}", todo.content.trim())) {
                answer.note("accepted in full, shown only in part");
                break;
            }
        }
        if input.todos.is_empty() {
            answer.note("the list is empty");
        }
        let n_completed = input.todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
        answer.done(format!("{n_completed} of {} done", input.todos.len()))
    }
}

fn problem(todos: &[Todo]) -> Option<String> {
    if todos.len() > MAX_TODOS {
        return Some(format!("the list was not accepted: {} todos, at most {MAX_TODOS}; merge some", todos.len()));
    }
    let at = todos.iter().position(|todo| {
        let content = todo.content.trim();
        content.is_empty() || content.chars().count() > MAX_CONTENT_CHARS
    })?;
    Some(format!(
        "the list was not accepted: the content of todo {} must have 1 to {MAX_CONTENT_CHARS} characters",
        at + 1
    ))
}
