//! What has changed since one session was last told.

use std::collections::BTreeMap;
use std::sync::Arc;

use sortie_agents::Registry;
use sortie_journal::{Journal, JournalError, Standing, TaskQuery, TaskState};
use sortie_protocol::TaskId;

use super::Edition;
use crate::server::resources::{Address, Records, Subject, View};

/// Something that a host should look at again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Tools,
    Prompts,
    Resources,
    /// The resource of this address.
    Updated(String),
}

pub(super) struct Differences {
    records: Records,
    told: Edition,
    /// The newest task in the list of resources.
    newest: Option<TaskId>,
    /// How far what each subscribed address shows had come.
    marks: BTreeMap<String, Mark>,
}

/// Grows whenever there is something new to read; 0 where there is nothing yet.
type Mark = u64;

impl Differences {
    /// What there is now counts as told.
    pub(super) async fn since(told: Edition, records: Records) -> Self {
        let mut differences = Self { records, told, newest: None, marks: BTreeMap::new() };
        differences.of_tasks(&[]).await;
        differences
    }

    pub(super) fn edition(&self) -> Edition {
        self.told.clone()
    }

    /// What is different in this edition; from now on it counts as told. Of an address that is new among those subscribed
    /// to, all that there is counts as new: it may have come while nobody looked.
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

    /// The tool that delegates lists agents and templates in its description.
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

    /// What cannot be read now is looked at again with the next edition that differs.
    async fn of_tasks(&mut self, subscribed: &[String]) -> Vec<Change> {
        let (journal, workspace) = (Arc::clone(&self.records.journal), self.records.workspace.clone());
        let uris = subscribed.to_vec();
        let look = move || {
            let marks = uris.into_iter().filter_map(|uri| Some((mark(journal.as_ref(), &uri)?, uri)));
            (newest(journal.as_ref(), workspace), marks.collect::<Vec<_>>())
        };
        let Ok((Ok(newest), marks)) = tokio::task::spawn_blocking(look).await else { return Vec::new() };
        let mut changes = Vec::new();
        changes.extend((newest != self.newest).then_some(Change::Resources));
        self.newest = newest;
        for (mark, uri) in marks {
            let before = self.marks.insert(uri.clone(), mark).unwrap_or_default();
            changes.extend((before != mark).then_some(Change::Updated(uri)));
        }
        changes
    }
}

fn newest(journal: &dyn Journal, workspace: String) -> Result<Option<TaskId>, JournalError> {
    let query = TaskQuery { workspace: Some(workspace), roots_only: true, limit: 1, ..TaskQuery::default() };
    Ok(journal.list(&query)?.first().map(|header| header.task_id))
}

/// A transcript grows with every event; a report, and what a whole branch changed, are there when a leg has ended.
fn mark(journal: &dyn Journal, uri: &str) -> Option<Mark> {
    let Subject::Task(task, view) = uri.parse::<Address>().ok()?.subject else { return Some(0) };
    let Standing { leg, state, last_seq, .. } = journal.standing(task).ok()?;
    Some(match (view, state) {
        (View::Transcript, _) => last_seq,
        (View::Report | View::Changes, TaskState::Ended(_)) => leg.into(),
        (View::Report | View::Changes, _) => u64::from(leg) - 1,
    })
}
