//! Lists of the fixture (`offer.json`), its fixed answers (`answers.json`), and its forms for the client's user
//! (`forms.json`). The suite expects all of them by name.

use std::collections::HashMap;

use rmcp::model::{
    CallToolResult, GetPromptResult, Implementation, Prompt, Resource, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig, Tool,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offer {
    tools: Vec<Tool>,
    prompts: Vec<Prompt>,
    resources: Vec<Resource>,
    resource_templates: Vec<ResourceTemplate>,
}

#[derive(Deserialize)]
struct Answers {
    tools: HashMap<String, CallToolResult>,
    prompts: HashMap<String, GetPromptResult>,
    resources: HashMap<String, ResourceContents>,
}

pub(crate) struct Lists {
    offer: Offer,
    answers: Answers,
    forms: HashMap<String, Value>,
}

impl Lists {
    /// Reads the files compiled into the fixture.
    pub(crate) fn read() -> Result<Self, serde_json::Error> {
        Ok(Self {
            offer: serde_json::from_str(include_str!("offer.json"))?,
            answers: serde_json::from_str(include_str!("answers.json"))?,
            forms: serde_json::from_str(include_str!("forms.json"))?,
        })
    }

    #[expect(
        deprecated,
        reason = "logging has left the newest revision, and the suite still asks for it in older ones"
    )]
    pub(crate) fn server() -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("sortie-mcp-fixture", "1.0.0"))
    }

    pub(crate) fn tools(&self) -> &[Tool] {
        &self.offer.tools
    }

    pub(crate) fn prompts(&self) -> &[Prompt] {
        &self.offer.prompts
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        &self.offer.resources
    }

    pub(crate) fn resource_templates(&self) -> &[ResourceTemplate] {
        &self.offer.resource_templates
    }

    /// A form for the client's user to fill in.
    pub(crate) fn form(&self, name: &str) -> Value {
        self.forms.get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn fixed_result(&self, tool: &str) -> Option<CallToolResult> {
        self.answers.tools.get(tool).cloned()
    }

    pub(crate) fn fixed_prompt(&self, name: &str) -> Option<GetPromptResult> {
        self.answers.prompts.get(name).cloned()
    }

    pub(crate) fn fixed_resource(&self, uri: &str) -> Option<ResourceContents> {
        self.answers.resources.get(uri).cloned()
    }
}
