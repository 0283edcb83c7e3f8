//! Task templates as prompts. A person chooses one in the host and fills in its arguments. The host's model is told to
//! have it done.
//!
//! Arguments are completed while a person types them: agents and defaults for templates, ids of tasks for resources.
//! `sortie-agents` defines templates and their expansion.

use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompletionInfo, GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, Reference, Role,
};
use serde_json::Value;
use sortie_agents::{Argument, Given, Template, Templates};

use crate::resources;
use crate::server::office::Office;

/// Prompts on one page of the list.
const LISTED: usize = 100;

/// Most suggestions in one answer.
const MAX_VALUES: usize = 100;

/// The arguments that every template has implicitly: free text, and the agent that gets the work.
const INPUT: &str = "input";
const AGENT: &str = "agent";

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
    let usual = template.agent.as_deref().unwrap_or("the usual one");
    let agent = PromptArgument::new(AGENT).with_description(format!("{usual} if not given")).with_required(false);
    let agent = Some(agent).filter(|_| !has_own(template, AGENT));
    Prompt::new(
        template.name.clone(),
        Some(template.description.clone()),
        Some(own.chain([input]).chain(agent).collect()),
    )
}

fn has_own(template: &Template, name: &str) -> bool {
    template.arguments.iter().any(|argument| argument.name == name)
}

/// Values to suggest for a template's own argument; `None` if it has no such argument of its own.
fn defaults(templates: &Templates, template: &str, argument: &str) -> Result<Option<Vec<String>>, ErrorData> {
    let template = templates.get(template).map_err(|error| invalid(&error))?;
    let own = template.arguments.iter().find(|own| own.name == argument);
    Ok(own.map(|own| own.default.iter().cloned().collect()))
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
    let mut arguments = asked.arguments.clone().unwrap_or_default();
    let chosen = if has_own(template, AGENT) { None } else { arguments.shift_remove(AGENT) };
    let chosen = chosen.as_ref().and_then(Value::as_str).map(str::trim).filter(|agent| !agent.is_empty());
    let given = given(template, Some(&arguments))?;
    let text = template.expand(&given, most_bytes).map_err(|error| invalid(&error))?;
    let by = chosen.or(template.agent.as_deref()).map(|agent| format!(" `{agent}`")).unwrap_or_default();
    let on = template.model.as_ref().map(|model| format!(" on the model `{model}`")).unwrap_or_default();
    let order = format!(
        "Have a sub-agent{by} do this{on}: call the tool `{task_tool}` of the MCP server Sortie with the text below as \
         it is, and tell me what it reports.\n\n{text}"
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

/// Returns the values that begin with what was typed.
pub(super) async fn complete(office: &Office, asked: &CompleteRequestParams) -> Result<CompletionInfo, ErrorData> {
    let argument = &asked.argument;
    let known = match &asked.r#ref {
        Reference::Prompt(prompt) => {
            let agents = office.agents.current();
            let defaults = defaults(agents.templates(), &prompt.name, &argument.name)?;
            match defaults {
                Some(defaults) => defaults,
                None if argument.name == AGENT => {
                    office.engine_host.agents().delegable().map(|agent| agent.name.clone()).collect()
                }
                None => Vec::new(),
            }
        }
        Reference::Resource(resource) if resources::is_template(&resource.uri) => match argument.name.as_str() {
            "id" => office.records.ids().await?,
            _ => Vec::new(),
        },
        Reference::Resource(resource) => {
            let message = format!("there is no resource template `{}`", resource.uri);
            return Err(ErrorData::invalid_params(message, None));
        }
        _ => return Err(ErrorData::invalid_params("only prompts and resource templates have arguments", None)),
    };
    let typed = argument.value.to_lowercase();
    let mut values: Vec<String> = known.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
    let all = values.len();
    values.truncate(MAX_VALUES);
    let total = u32::try_from(all).ok();
    CompletionInfo::with_pagination(values, total, all > MAX_VALUES)
        .map_err(|error| ErrorData::internal_error(error, None))
}
