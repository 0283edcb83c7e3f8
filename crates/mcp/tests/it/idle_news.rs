//! Cost of polling for changes while there are none.
#![expect(deprecated, reason = "`resources/subscribe` is the way of all revisions with `initialize`")]

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::model::SubscribeRequestParams;
use sortie_agents::Registry;
use sortie_journal::{
    CommandId, Durability, Entry, Journal, JournalError, Position, Pruned, Scope, Standing, TaskHeader, TaskQuery,
};
use sortie_mcp::{Office, OfficeParts, People, Server};
use sortie_protocol::{Command, Event, Job, TaskId, TaskOutcome, Timestamp};
use sortie_testkit::Script;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::site::Site;

type Written<'a, T> = Pin<Box<dyn Future<Output = Result<T, JournalError>> + Send + 'a>>;

/// A journal that counts queries for its end, one per poll, and for a list.
struct Counted {
    inner: Arc<dyn Journal>,
    n_looks: watch::Sender<usize>,
    n_lists: AtomicUsize,
}

impl Counted {
    /// Number of list queries after this many more polls.
    async fn lists_after(&self, more: usize) -> usize {
        let mut looks = self.n_looks.subscribe();
        let until = *looks.borrow() + more;
        looks.wait_for(|n_looks| *n_looks >= until).await.expect("somebody looks");
        self.n_lists.load(Ordering::SeqCst)
    }
}

impl Journal for Counted {
    fn end(&self) -> Result<Position, JournalError> {
        self.n_looks.send_modify(|n_looks| *n_looks += 1);
        self.inner.end()
    }

    fn list(&self, query: &TaskQuery) -> Result<Vec<TaskHeader>, JournalError> {
        self.n_lists.fetch_add(1, Ordering::SeqCst);
        self.inner.list(query)
    }

    fn append(&self, entries: Vec<Entry>, durability: Durability) -> Written<'_, ()> {
        self.inner.append(entries, durability)
    }

    fn read_each(&self, task: TaskId, from: u64, each: &mut dyn FnMut(Event)) -> Result<(), JournalError> {
        self.inner.read_each(task, from, each)
    }

    fn beginning(&self, task: TaskId) -> Result<Job, JournalError> {
        self.inner.beginning(task)
    }

    fn ending(&self, task: TaskId) -> Result<Option<TaskOutcome>, JournalError> {
        self.inner.ending(task)
    }

    fn read_after(&self, scope: Scope, after: Position, limit: usize) -> Result<Vec<(Position, Event)>, JournalError> {
        self.inner.read_after(scope, after, limit)
    }

    fn wait_beyond(&self, after: Position, at_most: Duration) {
        self.inner.wait_beyond(after, at_most);
    }

    fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
        self.inner.find(prefix)
    }

    fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
        self.inner.tree(root)
    }

    fn standing(&self, task: TaskId) -> Result<Standing, JournalError> {
        self.inner.standing(task)
    }

    fn send(&self, command: Command) -> Written<'_, CommandId> {
        self.inner.send(command)
    }

    fn newest_command(&self) -> Result<CommandId, JournalError> {
        self.inner.newest_command()
    }

    fn commands_after(&self, after: CommandId, limit: usize) -> Result<Vec<(CommandId, Command)>, JournalError> {
        self.inner.commands_after(after, limit)
    }

    fn prunable(&self, older_than: Timestamp) -> Result<Vec<TaskHeader>, JournalError> {
        self.inner.prunable(older_than)
    }

    fn prune(&self, older_than: Timestamp, discard: &mut dyn FnMut(TaskId)) -> Result<Pruned, JournalError> {
        self.inner.prune(older_than, discard)
    }
}

#[tokio::test]
async fn an_invalid_address_is_looked_up_only_once_while_nothing_changes() {
    let site = Site::new(Script::new(), &[]);
    let (n_looks, n_lists) = (watch::Sender::new(0), AtomicUsize::new(0));
    let journal = Arc::new(Counted { inner: Arc::clone(&site.journal), n_looks, n_lists });
    let office = Office::new(OfficeParts {
        engine: site.engine.clone(),
        journal: Arc::clone(&journal) as Arc<dyn Journal>,
        agents: Registry::builtin().fixed(),
        contract: sortie_contract::contract("sortie").expect("our own"),
        workspace: "/nowhere".to_owned(),
        max_prompt_bytes: 1 << 20,
        hosts: None,
        background: None,
        is_nested: false,
        refusal: None,
        notices: Vec::new(),
        people: People::default(),
        version: "0.0.0".to_owned(),
    });
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let server = Server::new(office, CancellationToken::new());
    tokio::spawn(async move { server.serve(ours).await.expect("a handshake").waiting().await });
    let client = ().serve(theirs).await.expect("a handshake");
    let nobodys = SubscribeRequestParams::new("sortie://tasks/agent-aaaaaaaaaaaa/report");
    client.subscribe(nobodys).await.expect("as good as any address");
    let once = journal.lists_after(4).await;
    assert_eq!(journal.lists_after(2).await, once);
}
