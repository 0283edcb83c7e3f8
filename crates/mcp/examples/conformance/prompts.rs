//! Prompts that depend on their arguments.

use rmcp::ErrorData;
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, PromptMessage, ResourceContents, Role,
};

use crate::lists::Lists;
use crate::questions;

pub(crate) fn answer(request: &GetPromptRequestParams, lists: &Lists) -> Result<GetPromptResponse, ErrorData> {
    if let Some(fixed) = lists.fixed_prompt(&request.name) {
        return Ok(fixed.into());
    }
    match request.name.as_str() {
        "test_prompt_with_arguments" => {
            let (first, second) = (argument(request, "arg1")?, argument(request, "arg2")?);
            Ok(said([text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]).into())
        }
        "test_prompt_with_embedded_resource" => {
            let uri = argument(request, "resourceUri")?;
            let resource =
                ResourceContents::text("Embedded resource content for testing.", uri).with_mime_type("text/plain");
            Ok(said([ContentBlock::resource(resource), text("Please process the embedded resource above.")]).into())
        }
        "test_input_required_result_prompt" => {
            match questions::form_answer(request.input_responses.as_ref(), "user_context") {
                Some(form) => Ok(said([text(format!("Use this context: {form}"))]).into()),
                None => questions::ask(
                    [("user_context", questions::form("What context should the prompt use?", "context"))],
                    None,
                )
                .map(Into::into),
            }
        }
        unknown => Err(ErrorData::invalid_params(format!("no prompt `{unknown}`"), None)),
    }
}

fn argument(request: &GetPromptRequestParams, name: &str) -> Result<String, ErrorData> {
    let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
    let value = value.ok_or_else(|| ErrorData::invalid_params(format!("the argument `{name}` is missing"), None))?;
    Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn text(text: impl Into<String>) -> ContentBlock {
    ContentBlock::text(text)
}

fn said(contents: impl IntoIterator<Item = ContentBlock>) -> GetPromptResult {
    GetPromptResult::new(
        contents.into_iter().map(|content| PromptMessage::new(Role::User, content)).collect::<Vec<_>>(),
    )
}
