//! Completion of arguments while a person types them: agents and defaults for templates, ids of tasks for resources.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompletionInfo, Reference};

use crate::resources;
use crate::server::office::Office;
use crate::server::prompts::{self, AGENT};

/// Most suggestions in one answer.
const MAX_VALUES: usize = 100;

/// Returns the values that begin with what was typed.
pub(super) async fn complete(office: &Office, asked: &CompleteRequestParams) -> Result<CompletionInfo, ErrorData> {
    let argument = &asked.argument;
    let known = match &asked.r#ref {
        Reference::Prompt(prompt) => {
            let agents = office.agents.current();
            let defaults = prompts::defaults(agents.templates(), &prompt.name, &argument.name)?;
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
