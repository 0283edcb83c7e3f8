//! Finds the changes since a session's last notification.

use std::collections::BTreeMap;
use std::sync::Arc;

use sortie_agents::Registry;
use sortie_journal::{Journal, JournalError, Position, Standing, TaskState};
use sortie_protocol::TaskId;

use crate::resources::{Address, Records, Subject, View, is_listed, roots};

/// State at one moment.
#[derive(Clone)]
pub(super) struct Edition {
    pub(super) agents: Arc<Registry>,
    /// End of the journal; `None` if it could not be queried.
    pub(super) end: Option<Position>,
}

/// A thing that a host should read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Tools,
    Prompts,
    Resources,
    /// The resource at this address.
    Updated(String),
}

pub(super) struct Differences {
    records: Records,
    told: Edition,
    /// The newest task in the list of resources.
    newest: Option<TaskId>,
    /// Progress of each subscribed address; `None` if the host cannot see it or it could not be read.
    marks: BTreeMap<String, Option<Mark>>,
}

/// Grows whenever there is something new to read; 0 if there is nothing yet.
type Mark = u64;

impl Differences {
    /// Creates a record in which the current state counts as notified.
    pub(super) async fn since(told: Edition, records: Records) -> Self {
        let mut differences = Self { records, told, newest: None, marks: BTreeMap::new() };
        differences.of_tasks(&[]).await;
        differences
    }

    pub(super) fn edition(&self) -> Edition {
        self.told.clone()
    }

    /// Returns the differences in this edition, which then count as notified. For a newly subscribed address everything
    /// counts as new: it may have come while nobody watched.
    pub(super) async fn find(&mut self, edition: Edition, subscribed: &[String]) -> Vec<Change> {
        let mut changes = self.of_agents(&edition.agents, subscribed);
        let is_same_journal = edition.end == self.told.end;
        let is_same_list = subscribed.iter().all(|uri| self.marks.contains_key(uri));
        self.marks.retain(|uri, _| subscribed.contains(uri));
        self.told = edition;
        if !is_same_journal || !is_same_list {
            changes.extend(self.of_tasks(subscribed).await);
        }
        changes
    }

    /// The delegating tool lists agents and templates in its description.
    fn of_agents(&self, agents: &Arc<Registry>, subscribed: &[String]) -> Vec<Change> {
        let told = &self.told.agents;
        if Arc::ptr_eq(told, agents) {
            return Vec::new();
        }
        let is_same_cast = told.all() == agents.all();
        let is_same_shelf = told.templates().all() == agents.templates().all();
        let agents_uri = Address::of(Subject::Agents).to_string();
        let mut changes = Vec::new();
        changes.extend((!is_same_cast || !is_same_shelf).then_some(Change::Tools));
        changes.extend((!is_same_shelf).then_some(Change::Prompts));
        let is_heard = !is_same_cast && subscribed.contains(&agents_uri);
        changes.extend(is_heard.then_some(Change::Updated(agents_uri)));
        changes
    }

    /// Resources that cannot be read now are checked again with the next different edition.
    async fn of_tasks(&mut self, subscribed: &[String]) -> Vec<Change> {
        let (journal, workspace) = (Arc::clone(&self.records.journal), self.records.workspace.clone());
        let mut addresses = Vec::new();
        for uri in subscribed {
            let known = self.marks.entry(uri.clone()).or_default().is_some();
            addresses.extend(self.seen(uri, known).await.map(|address| (uri.clone(), address)));
        }
        let look = move || {
            let marked = |(uri, address)| Some((uri, mark(journal.as_ref(), address)?));
            let marks = addresses.into_iter().filter_map(marked).collect::<Vec<_>>();
            (newest(journal.as_ref(), workspace), marks)
        };
        let Ok((Ok(newest), marks)) = tokio::task::spawn_blocking(look).await else { return Vec::new() };
        let mut changes = Vec::new();
        if newest.is_some() && newest != self.newest {
            changes.push(Change::Resources);
            self.newest = newest;
        }
        for (uri, mark) in marks {
            let before = self.marks.insert(uri.clone(), Some(mark)).flatten().unwrap_or_default();
            changes.extend((before != mark).then_some(Change::Updated(uri)));
        }
        changes
    }

    /// Returns the address if the host can see its resource. Visibility is never lost.
    async fn seen(&self, uri: &str, known: bool) -> Option<Address> {
        let address: Address = uri.parse().ok()?;
        match address.subject {
            Subject::Task(task, _) if !known => self.records.engine_host.sees(task).await.then_some(address),
            _ => Some(address),
        }
    }
}

/// Returns the newest task in the list of resources; also `None` if only people have started tasks recently.
fn newest(journal: &dyn Journal, workspace: String) -> Result<Option<TaskId>, JournalError> {
    let listed = journal.list(&roots(workspace, None))?;
    Ok(listed.iter().find(|header| is_listed(header)).map(|header| header.task_id))
}

/// Returns the mark of an address. A transcript grows with every event; reports and changes appear when a leg has
/// ended.
fn mark(journal: &dyn Journal, address: Address) -> Option<Mark> {
    let Subject::Task(task, view) = address.subject else { return Some(0) };
    let Standing { leg, state, last_seq, .. } = journal.standing(task).ok()?;
    Some(match (view, state) {
        (View::Transcript, _) => last_seq,
        (View::Report | View::Changes, TaskState::Ended(_)) => leg.into(),
        (View::Report | View::Changes, _) => u64::from(leg) - 1,
    })
}
