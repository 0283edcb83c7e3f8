//! The fixture as a server of the protocol: its lists, and the routing of its requests.
//!
//! Fixed answers are in `answers.json`; each kind of conversation has a module of its own.

use std::error::Error;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};

use crate::changes::Changes;
use crate::house::House;
use crate::jobs::Jobs;
use crate::lists::Lists;
use crate::{prompts, questions, resources, talk};

/// One session's view; all sessions share the state behind it.
#[derive(Clone)]
pub(crate) struct Fixture(Arc<Shared>);

struct Shared {
    lists: Lists,
    changes: Changes,
    jobs: Jobs,
    house: House,
    states: questions::States,
}

impl Fixture {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let (changes, jobs, states) = (Changes::default(), Jobs::default(), questions::States::default());
        Ok(Self(Arc::new(Shared { lists: Lists::read()?, changes, jobs, house: House::open()?, states })))
    }

    /// Answers with the first module that knows the tool.
    async fn answer(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Shared { lists, changes, jobs, house, states } = &*self.0;
        if let Some(answer) = lists.fixed_result(&call.name) {
            return Ok(answer.into());
        }
        if let Some(answer) = changes.answer(&call) {
            return Ok(answer.into());
        }
        if let Some(answer) = questions::answer(&call, states, &context) {
            return answer;
        }
        if let Some(answer) = jobs.answer(&call, &context) {
            return answer;
        }
        if let Some(errand) = House::errand(&call) {
            return house.run(&call.name, errand, context).await;
        }
        talk::answer(&call, &context, lists).await
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        Lists::server()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.lists.tools().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.lists.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.answer(call, context).await
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.0.lists.prompts().to_vec()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::answer(&request, &self.0.lists)
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::default())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.0.lists.resources().to_vec()))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(self.0.lists.resource_templates().to_vec()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::answer(&request.uri, &self.0.lists)
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.changes.tell(&context).await;
        Ok(())
    }

    #[expect(
        deprecated,
        reason = "logging has left the newest revision, and the suite still asks for it in older ones"
    )]
    async fn set_level(
        &self,
        _request: rmcp::model::SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let Shared { jobs, house, .. } = &*self.0;
        if jobs.have(&request.task_id) { jobs.look(&request) } else { house.look(request, context).await }
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Shared { jobs, house, .. } = &*self.0;
        if jobs.have(&request.task_id) { jobs.hear(request) } else { house.hear(request, context).await }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Shared { jobs, house, .. } = &*self.0;
        if jobs.have(&request.task_id) { jobs.stop(&request) } else { house.stop(request, context).await }
    }
}
