//! Starts the commands of one task and sees them through to their end. Everything here blocks.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sortie_crash::point;
use sortie_mutant::is_out;
use sortie_protocol::Fault;
use sortie_sandbox::process::{
    Ended, How, KeeperMark, Network, OutputCaps, OutputCount, Running, Shell, Tier, Walls, spawn,
};
use sortie_sandbox::{AccessError, FileKind, Workspace};
use tokio_util::sync::CancellationToken;

use super::changes::Owner;
use super::finished::Finished;
use super::proxy::{self, ProxyGuard};
use super::stopping::Stopping;
use super::watch::Watch;
use super::{Changes, NetworkReach, ShellReach, ShellSetup};
use crate::answer::explain;
use crate::problem::Problem;

/// Where a command finds its proxy, in a network that it has for itself.
const PROXY_PORT: u16 = 3128;

/// Notices that are kept of one task.
const MAX_NOTICES: usize = 50;

/// What the commands of one task have in common.
pub(super) struct Launcher {
    pub(super) setup: Arc<ShellSetup>,
    pub(super) reach: Arc<dyn ShellReach>,
    pub(super) changes: Arc<Changes>,
    pub(super) owner: Owner,
    notices: Mutex<Vec<String>>,
}

/// A command as it was asked for.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) line: String,
    /// As it was written; none is the root.
    pub(crate) directory: Option<String>,
    /// How long it may take, from when it runs.
    pub(crate) time: Option<Duration>,
    pub(crate) workspace: Arc<Workspace>,
    /// An output of more bytes is kept in a file.
    pub(crate) unspilled: u64,
}

/// A command that runs.
pub(super) struct Started {
    launcher: Arc<Launcher>,
    order: Order,
    running: Running,
    watch: Option<Watch>,
    proxy: Option<ProxyGuard>,
    notes: Vec<String>,
    /// Ends it when the call must end, when nobody waits for it any more, and when the runtime goes down.
    _stopping: Stopping,
}

impl Launcher {
    pub(super) fn new(setup: Arc<ShellSetup>, reach: Arc<dyn ShellReach>, changes: Arc<Changes>) -> Self {
        let owner = changes.owner();
        Self { setup, reach, changes, owner, notices: Mutex::default() }
    }

    pub(super) fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn notice(&self, notice: String) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        match notices.len() {
            _ if notices.contains(&notice) => {}
            ..MAX_NOTICES => notices.push(notice),
            MAX_NOTICES => notices.push("there was more to say of its commands, as their calls tell".to_owned()),
            _ => {}
        }
    }

    /// Starts a command, unless it is cancelled before. When this returns it runs in its walls, or nothing does.
    pub(super) fn start(self: &Arc<Self>, order: Order, cancel: &CancellationToken) -> Result<Started, Problem> {
        let standing = self.setup.walls();
        let tier = standing.tier().map_err(|why| Problem::new(Fault::NotAllowed, not_run(&why)))?;
        let directory = directory(&order.workspace, order.directory.as_deref())?;
        let walls = self.reach.walls(&order.workspace).map_err(|why| Problem::new(None, not_run(&why)))?;
        let mut notes = Vec::new();
        let walls = Walls { limits: self.setup.limits, network: self.network(tier, &mut notes), ..walls };
        let mut environment = self.setup.environment.clone();
        if let Network::Proxy { port } = walls.network {
            for (name, value) in proxy::variables(port) {
                environment.set(name, value);
            }
        }
        let bases = writable(&order.workspace, tier, &walls);
        let watch = (!bases.is_empty()).then(|| Watch::begin(self, &order.workspace, bases, cancel));
        let deadline = order.time.map(|time| Instant::now() + time);
        let shell = Shell { command: &order.line, directory: &directory, environment: &environment, deadline };
        let failed = |error: &dyn Error| Problem::new(None, not_run(&explain(error)));
        let spawned = if cancel.is_cancelled() {
            Err(Problem::new(None, "cancelled before it began"))
        } else {
            spawn(&self.setup.program, tier, &walls, &shell).map_err(|error| failed(&error))
        };
        let mut running = match spawned {
            Ok(running) => running,
            Err(problem) => {
                watch.into_iter().for_each(Watch::call_off);
                return Err(problem);
            }
        };
        point("command.spawned");
        if let Some(notice) = standing.notice() {
            self.notice(notice);
        }
        let stopping = Stopping::new(running.stopper(), cancel.clone());
        let serve = |listener| proxy::serve(listener, Arc::clone(&self.reach), &self.setup.web);
        let proxy = running.listener().map(serve).transpose().map_err(|error| failed(&error))?;
        Ok(Started { launcher: Arc::clone(self), order, running, watch, proxy, notes, _stopping: stopping })
    }

    fn network(&self, tier: Tier, notes: &mut Vec<String>) -> Network {
        match (self.reach.network(), tier) {
            (NetworkReach::None, _) if is_out("no-network") => Network::All,
            (NetworkReach::None, _) => Network::None,
            (NetworkReach::All, _) if self.setup.open_network => Network::All,
            (_, Tier::Namespaces) => Network::Proxy { port: PROXY_PORT },
            (_, Tier::Landlock) => {
                notes.push("no network: single hosts cannot be reached without namespaces; see `sortie doctor`".into());
                Network::None
            }
            // Nothing is in the way.
            (_, Tier::None) => Network::All,
        }
    }
}

impl Started {
    /// Who keeps it; `None` if it has ended.
    pub(super) fn keeper(&self) -> Option<KeeperMark> {
        self.running.keeper()
    }

    /// Waits for the end. `show` gets the output as it comes.
    pub(super) fn finish(self, show: &mut dyn FnMut(&[u8])) -> Finished {
        let Self { launcher, order, running, watch, proxy, mut notes, _stopping } = self;
        let caps = OutputCaps { unspilled: order.unspilled, spill: Some(&launcher.setup.spill) };
        let (how, output) = match running.finish(caps, show) {
            Ok(Ended { how, output, .. }) => (how, output),
            Err(error) => {
                notes.push(format!("its end could not be waited for: {error}"));
                (How::Lost, OutputCount::default())
            }
        };
        if let Some(proxy) = proxy {
            notes.extend(proxy.refused().into_iter().map(|refusal| format!("not reached: {refusal}")));
        }
        if let Some(owner) = launcher.reach.reads_only()
            && watch.is_none()
            && how != (How::Exited { code: 0 })
        {
            notes.push(format!("commands of this task write nothing in the workspace ({owner})"));
        }
        let changed = watch.map(|watch| watch.end(&launcher, &order.workspace, &mut notes)).unwrap_or_default();
        Finished { how, output, time: order.time, changed, notes }
    }
}

/// Where a command starts, as an absolute path.
fn directory(workspace: &Workspace, asked: Option<&str>) -> Result<PathBuf, Problem> {
    let Some(asked) = asked else { return Ok(workspace.root().to_owned()) };
    let resolved = workspace.resolve(asked)?;
    if resolved.kind != FileKind::Directory {
        return Err(Problem::arguments(not_run(&explain(&AccessError::NotADirectory { path: asked.to_owned() }))));
    }
    Ok(workspace.root().join(resolved.relative))
}

/// The directories in which a command could change files of the workspace, as the workspace names them.
fn writable(workspace: &Workspace, tier: Tier, walls: &Walls) -> Vec<PathBuf> {
    let root = workspace.root();
    let named = |path: &Path| path.strip_prefix(root).map_or_else(|_| path.to_owned(), Path::to_owned);
    match tier {
        Tier::None => [root].into_iter().chain(workspace.added()).map(named).collect(),
        _ => walls.writable.iter().map(|path| named(path)).collect(),
    }
}

fn not_run(why: &str) -> String {
    format!("the command was not run: {why}")
}
