//! Resources for hosts to read, and change notifications about them.
//!
//! Resources are the agents, and for each task visible to the host its report, its transcript and its changes.
//!
//! Everything is read from the journal on request, a page at a time, so it also covers tasks of servers that are long
//! gone. Nothing is cached here. The engine (`Host`) decides which tasks a host can see.

mod address;
mod changes;
pub(crate) mod news;
mod page;
mod report;

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;
use sortie_agents::Registry;
use sortie_engine::{Host, Narrator};
use sortie_journal::{Journal, JournalError, TaskHeader, TaskQuery};
use sortie_protocol::TaskId;
use sortie_tools::Kin as _;

pub(crate) use self::address::{Address, Subject, View};
use self::page::{Page, one_line};
use self::report::Ended;

/// Tasks on one page of the list.
const LISTED: usize = 50;

/// Depth of a person's main agent. Tasks delegated by a host have a greater depth.
const MAIN_DEPTH: u32 = 0;

/// Source of the resources.
#[derive(Clone)]
pub(crate) struct Records {
    pub(crate) journal: Arc<dyn Journal>,
    /// The host whose tasks they are about.
    pub(crate) engine_host: Host,
    /// Root of the workspace, as the journal spells it.
    pub(crate) workspace: String,
}

/// Address templates that a host can fill in itself.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |view: View| {
        ResourceTemplate::new(format!("sortie://tasks/{{id}}/{view}{{?from}}"), format!("task-{view}"))
            .with_description(view.describe())
            .with_mime_type(view.media_type())
    };
    ListResourceTemplatesResult::with_all_items(View::ALL.map(template).to_vec())
}

/// True if this is the address of one of the templates, with its variables.
pub(crate) fn is_template(uri: &str) -> bool {
    templates().resource_templates.iter().any(|template| template.uri_template == uri)
}

/// Query for a page of the newest tasks without a parent.
pub(crate) fn roots(workspace: String, behind: Option<TaskId>) -> TaskQuery {
    TaskQuery { workspace: Some(workspace), roots_only: true, behind, limit: LISTED, ..TaskQuery::default() }
}

/// True if a task is in the list; people's own tasks are not.
pub(crate) fn is_listed(header: &TaskHeader) -> bool {
    header.depth > MAIN_DEPTH
}

impl Records {
    /// Lists the agents, then the newest tasks without a parent; the others are reached through the templates.
    pub(crate) async fn list(&self, page: Option<PaginatedRequestParams>) -> Result<ListResourcesResult, ErrorData> {
        let behind = match page.and_then(|page| page.cursor) {
            None => None,
            Some(cursor) => Some(cursor.parse::<TaskId>().map_err(|_| {
                let message = format!("`{cursor}` is not a cursor of this list; use `nextCursor` of the previous page");
                ErrorData::invalid_params(message, None)
            })?),
        };
        let query = roots(self.workspace.clone(), behind);
        let mut headers = self.read(move |journal| journal.list(&query)).await?;
        let next_cursor = headers.last().filter(|_| headers.len() == LISTED).map(|last| last.task_id.to_string());
        headers.retain(is_listed);
        let agents = behind.is_none().then(agents_resource);
        let resources = agents.into_iter().chain(headers.iter().map(report_resource)).collect();
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources) })
    }

    /// Returns the ids of the newest tasks in the list.
    pub(crate) async fn ids(&self) -> Result<Vec<String>, ErrorData> {
        let query = roots(self.workspace.clone(), None);
        let headers = self.read(move |journal| journal.list(&query)).await?;
        Ok(headers.iter().filter(|header| is_listed(header)).map(|header| header.task_id.to_string()).collect())
    }

    /// Reads one page of a resource. An error also names the resource for programs.
    pub(crate) async fn show(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        self.page(uri).await.map_err(|mut error| {
            error.data.get_or_insert_with(|| json!({ "uri": uri }));
            error
        })
    }

    async fn page(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let address: Address = uri.parse().map_err(|error: address::AddressError| not_found(error.to_string()))?;
        let mut page = Page::new(address.from);
        let media_type = match address.subject {
            Subject::Agents => {
                let engine_host = self.engine_host.clone();
                // Agents are read anew from their files.
                let agents = tokio::task::spawn_blocking(move || engine_host.agents()).await;
                let agents = agents.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                write_agents(&agents, &mut page);
                "text/plain"
            }
            Subject::Task(task, view) => {
                let header = self.find(task).await?;
                page = match view {
                    View::Report => self.report(&header, page).await?,
                    View::Transcript => self.read(move |journal| transcript(journal, task, page)).await?,
                    View::Changes => self.read(move |journal| changes::write(journal, &header, page)).await?,
                };
                view.media_type()
            }
        };
        let text = page.finish(&address)?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(media_type)]))
    }

    async fn report(&self, header: &TaskHeader, page: Page) -> Result<Page, ErrorData> {
        let task = header.task_id;
        let Some(outcome) = self.read(move |journal| journal.ending(task)).await? else {
            return Ok(report::write(header, None, page));
        };
        let whole = self.engine_host.page(&task.to_string(), 0, usize::MAX).await;
        let text = whole.map(|whole| whole.text).map_err(|failure| failure.message);
        Ok(report::write(header, Some(Ended { outcome, text }), page))
    }

    /// Finds a task that the host can see.
    async fn find(&self, task: TaskId) -> Result<TaskHeader, ErrorData> {
        self.engine_host.look(task).await.map_err(|failure| not_found(failure.message))?;
        let found = self.read(move |journal| journal.find(&task.to_string())).await?;
        found.into_iter().next().ok_or_else(|| not_found(format!("{task} has only just begun; read it again")))
    }

    /// Reads on a thread that may block.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let journal = Arc::clone(&self.journal);
        let read = tokio::task::spawn_blocking(move || read(journal.as_ref())).await;
        let read = read.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        read.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

fn agents_resource() -> Resource {
    Resource::new(Address::of(Subject::Agents).to_string(), "agents")
        .with_description("The agents that tasks can be given to, one line each")
        .with_mime_type("text/plain")
}

fn report_resource(header: &TaskHeader) -> Resource {
    let address = Address::of(Subject::Task(header.task_id, View::Report));
    Resource::new(address.to_string(), header.task_id.to_string())
        .with_title(one_line(&header.title))
        .with_description(format!("Report of {}, {}", one_line(&header.agent), header.started))
        .with_mime_type(View::Report.media_type())
}

fn write_agents(agents: &Registry, page: &mut Page) {
    for agent in agents.delegable() {
        let names: Vec<&str> = agent.names().collect();
        page.push(&format!("- {} [{}]: {}\n", names.join(", "), agent.origin.scope, one_line(&agent.description)));
    }
}

/// Writes the task's actions, in the words of its output file.
fn transcript(journal: &dyn Journal, task: TaskId, mut page: Page) -> Result<Page, JournalError> {
    let mut narrator = Narrator::default();
    journal.read_each(task, 1, &mut |event| page.push(&narrator.tell(&event.fact, event.time)))?;
    Ok(page)
}

fn not_found(message: String) -> ErrorData {
    ErrorData::resource_not_found(message, None)
}
