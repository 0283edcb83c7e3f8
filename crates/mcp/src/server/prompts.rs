//! Task templates as prompts. A person chooses one in the host and fills in its arguments. The host's model is told to
//! have it done.
//!
//! `sortie-agents` defines templates and their expansion.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, Role,
};
use serde_json::Value;
use sortie_agents::{Argument, Given, Template, Templates};

/// Prompts on one page of the list.
const LISTED: usize = 100;

/// The argument for free text, which every template has implicitly.
const INPUT: &str = "input";

/// Lists the templates by name, a page at a time. A cursor is the name of the last one on the page before; if that
/// template is gone, the client must start over.
pub(crate) fn list(
    templates: &Templates,
    page: Option<PaginatedRequestParams>,
) -> Result<ListPromptsResult, ErrorData> {
    let behind = page.and_then(|page| page.cursor);
    if let Some(cursor) = behind.as_ref().filter(|cursor| templates.all().iter().all(|known| known.name != **cursor)) {
        return Err(unknown_cursor(cursor));
    }
    let is_behind = |template: &&Template| behind.as_ref().is_none_or(|last| template.name > *last);
    let mut prompts: Vec<Prompt> = templates.all().iter().filter(is_behind).take(LISTED + 1).map(prompt).collect();
    let has_more = prompts.len() > LISTED;
    prompts.truncate(LISTED);
    let next_cursor = prompts.last().filter(|_| has_more).map(|last| last.name.clone());
    Ok(ListPromptsResult { next_cursor, ..ListPromptsResult::with_all_items(prompts) })
}

/// Error for a cursor that no page has issued.
pub(super) fn unknown_cursor(cursor: &str) -> ErrorData {
    let message = format!("`{cursor}` is not a cursor of this list; use `nextCursor` of the previous page");
    ErrorData::invalid_params(message, None)
}

fn prompt(template: &Template) -> Prompt {
    let own = template.arguments.iter().map(argument);
    let input = PromptArgument::new(INPUT).with_description("anything else to say").with_required(false);
    Prompt::new(template.name.clone(), Some(template.description.clone()), Some(own.chain([input]).collect()))
}

fn argument(Argument { name, default }: &Argument) -> PromptArgument {
    let argument = PromptArgument::new(name.clone()).with_required(default.is_none());
    match default {
        Some(default) => argument.with_description(format!("{default:?} if not given")),
        None => argument,
    }
}

/// Text for the host's model: the expanded template, and the agent and tool for it.
pub(crate) fn get(
    templates: &Templates,
    asked: &GetPromptRequestParams,
    task_tool: &str,
    most_bytes: usize,
) -> Result<GetPromptResult, ErrorData> {
    let template = templates.get(&asked.name).map_err(|error| invalid(&error))?;
    let given = given(template, asked.arguments.as_ref())?;
    let text = template.expand(&given, most_bytes).map_err(|error| invalid(&error))?;
    let by = template.agent.as_ref().map(|agent| format!(" `{agent}`")).unwrap_or_default();
    let on = template.model.as_ref().map(|model| format!(" on the model `{model}`")).unwrap_or_default();
    let order = format!(
        "Have a sub-agent{by} do this{on}: call the tool `{task_tool}` with the text below as it is, and tell me what \
         it reports.\n\n{text}"
    );
    let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, order)]);
    Ok(result.with_description(template.description.clone()))
}

fn given(template: &Template, arguments: Option<&JsonObject>) -> Result<Given, ErrorData> {
    let mut words = Vec::new();
    for (name, value) in arguments.into_iter().flatten() {
        let is_known = name == INPUT || template.arguments.iter().any(|argument| argument.name == *name);
        match value {
            Value::String(value) if is_known => words.push(format!("{name}={value}")),
            Value::String(_) => {
                let (template, usage) = (&template.name, template.usage());
                return Err(invalid(&format!("the template `{template}` has no argument `{name}`; it takes {usage}")));
            }
            _ => return Err(invalid(&format!("the argument `{name}` must be a string"))),
        }
    }
    Given::from_words(&words).map_err(|error| invalid(&error))
}

fn invalid(error: &dyn std::fmt::Display) -> ErrorData {
    ErrorData::invalid_params(error.to_string(), None)
}
