//! `Launcher`: starts the commands of one task and waits for their end. Everything here blocks.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sortie_crash::point;
use sortie_mutant::is_out;
use sortie_policy::Redactor;
use sortie_protocol::{Fault, TaskId};
use sortie_sandbox::process::{
    How, KeeperMark, Network, OutputCaps, OutputCount, Running, Shell, SpawnError, Tier, Walls, spawn,
};
use sortie_sandbox::{AccessError, FileKind, SpillDir, Workspace};
use tokio_util::sync::CancellationToken;

use super::finished::FinishedCommand;
use super::redact_output;
use super::setup::ShellSetup;
use super::stop_on_cancel::StopOnCancel;
use super::walls_hint::WallsHint;
use crate::answer::tool_error::ToolError;
use crate::answer::tool_error::explain;
use crate::changes::concurrent::Changes;
use crate::changes::concurrent::Owner;
use crate::changes::watch::{Aftermath, Watch};
use crate::port::shell_reach::{NetworkReach, Repositories, ShellReach, Writable};
use crate::proxy;
use crate::proxy::ProxyGuard;

/// The port of the proxy in a command's own network.
const PROXY_PORT: u16 = 3128;

/// Environment variable that names the task of a command.
pub const TASK_VARIABLE: &str = "SORTIE_TASK";

/// Maximum number of notices kept per task.
const MAX_NOTICES: usize = 50;

/// State shared by the commands of one task.
pub(super) struct Launcher {
    pub(super) setup: Arc<ShellSetup>,
    pub(super) reach: Arc<dyn ShellReach>,
    pub(super) changes: Arc<Changes>,
    pub(super) owner: Owner,
    task: TaskId,
    /// Directory for long outputs, under the task's name.
    spill: SpillDir,
    redactor: Arc<Redactor>,
    notices: Mutex<Vec<String>>,
}

/// A command, as a call requests it.
#[derive(Debug)]
pub(crate) struct CommandRequest {
    pub(crate) line: String,
    /// As written; `None` is the root.
    pub(crate) directory: Option<String>,
    /// Time limit, from the moment it runs.
    pub(crate) time: Option<Duration>,
    pub(crate) workspace: Arc<Workspace>,
    /// Outputs with more bytes than this are kept in a file.
    pub(crate) unspilled: u64,
}

/// A running command.
pub(super) struct Started {
    launcher: Arc<Launcher>,
    order: CommandRequest,
    running: Running,
    watch: Option<Watch>,
    proxy: Option<ProxyGuard>,
    notes: Vec<String>,
    hint: Option<WallsHint>,
    /// Ends it if the call must end, if nobody waits for it any more, or if the runtime shuts down.
    _stopping: StopOnCancel,
}

impl Launcher {
    pub(super) fn new(
        setup: Arc<ShellSetup>,
        reach: Arc<dyn ShellReach>,
        changes: Arc<Changes>,
        redactor: Arc<Redactor>,
        task: TaskId,
    ) -> Self {
        let (owner, spill) = (changes.owner(), setup.spill.of(task));
        Self { setup, reach, changes, owner, task, spill, redactor, notices: Mutex::default() }
    }

    pub(super) fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn notice(&self, notice: String) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        match notices.len() {
            _ if notices.contains(&notice) => {}
            ..MAX_NOTICES => notices.push(notice),
            MAX_NOTICES => notices.push("there were more notices about its commands; their calls have them".to_owned()),
            _ => {}
        }
    }

    /// Starts a command, unless it was cancelled before. When this returns, it runs in its walls, or nothing runs.
    pub(super) fn start(
        self: &Arc<Self>,
        order: CommandRequest,
        cancel: &CancellationToken,
    ) -> Result<Started, ToolError> {
        let standing = self.setup.walls();
        let tier = standing.tier().map_err(|why| ToolError::new(Fault::NotAllowed, not_run(&why)))?;
        let directory = directory(&order.workspace, order.directory.as_deref())?;
        let Writable { directories, mut notes } = self.reach.writable(&order.workspace);
        let watched = if tier == Tier::None { everything(&order.workspace) } else { directories.clone() };
        let watch = (!watched.is_empty()).then(|| self.watch(&order.workspace, tier, watched, cancel));
        let started = self.walls(&order, tier, &directories, watch.as_ref(), &mut notes).and_then(|walls| {
            let running = self.spawn(&order, tier, &walls, &directory, cancel)?;
            Ok((walls, running))
        });
        let (walls, mut running) = match started {
            Ok(started) => started,
            Err(error) => {
                watch.into_iter().for_each(Watch::call_off);
                return Err(error);
            }
        };
        point("command.spawned");
        if let Some(notice) = standing.notice() {
            self.notice(notice);
        }
        let stopping = StopOnCancel::new(running.stopper(), cancel.clone());
        let serve = |listener| proxy::serve(listener, Arc::clone(&self.reach), &self.setup.web);
        let proxy = running.listener().map(serve).transpose();
        let proxy = proxy.map_err(|error| ToolError::new(None, not_run(&explain(&error))))?;
        let hint = WallsHint::new(tier, &walls, self.reach.reads_only());
        Ok(Started { launcher: Arc::clone(self), order, running, watch, proxy, notes, hint, _stopping: stopping })
    }

    fn watch(&self, workspace: &Workspace, tier: Tier, writable: Vec<PathBuf>, cancel: &CancellationToken) -> Watch {
        Watch::begin(self.changes.command(self.owner), workspace, tier, writable, cancel)
    }

    fn walls(
        &self,
        order: &CommandRequest,
        tier: Tier,
        writable: &[PathBuf],
        watch: Option<&Watch>,
        notes: &mut Vec<String>,
    ) -> Result<Walls, ToolError> {
        let none = Repositories::default();
        let repositories = watch.map_or(&none, Watch::repositories);
        let walls = self.reach.walls(&order.workspace, writable, repositories);
        let walls = walls.map_err(|why| ToolError::new(None, not_run(&why)))?;
        Ok(Walls { limits: self.setup.limits, network: self.network(tier, notes), ..walls })
    }

    fn spawn(
        &self,
        order: &CommandRequest,
        tier: Tier,
        walls: &Walls,
        directory: &Path,
        cancel: &CancellationToken,
    ) -> Result<Running, ToolError> {
        let mut environment = self.setup.environment.clone();
        environment.set(TASK_VARIABLE, self.task.to_string());
        if let Network::Proxy { port } = walls.network {
            for (name, value) in proxy::variables(port, self.reach.as_ref(), &self.setup.web) {
                environment.set(name, value);
            }
        }
        if cancel.is_cancelled() {
            return Err(ToolError::new(None, "cancelled before it began"));
        }
        let deadline = order.time.map(|time| Instant::now() + time);
        let shell = Shell { command: &order.line, directory, environment: &environment, deadline };
        let spawned = spawn(&self.setup.program, tier, walls, &shell);
        spawned.map_err(|error| {
            let why = explain(&error);
            let is_about_walls = matches!(error, SpawnError::Walls { .. });
            let advice = if is_about_walls { "; `sortie doctor` says what is missing" } else { "" };
            ToolError::new(None, not_run(&format!("{why}{advice}")))
        })
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
            // Without walls nothing restricts the network.
            (_, Tier::None) => Network::All,
        }
    }
}

impl Started {
    /// Its keeper; `None` if it has ended.
    pub(super) fn keeper(&self) -> Option<KeeperMark> {
        self.running.keeper()
    }

    /// Waits for the end, passing the output to `show` as it comes.
    pub(super) fn finish(self, show: &mut dyn FnMut(&[u8])) -> FinishedCommand {
        let Self { launcher, order, running, watch, proxy, mut notes, hint, _stopping } = self;
        let caps = OutputCaps { unspilled: order.unspilled, spill: Some(&launcher.spill) };
        let mut replaced = Vec::new();
        let (how, mut output, refused_calls) = match running.finish(caps, show) {
            Ok(ended) => {
                replaced = ended.replaced;
                (ended.how, ended.output, ended.refused_calls)
            }
            Err(error) => {
                notes.push(format!("could not wait for its end: {error}"));
                (How::Lost, OutputCount::default(), Vec::new())
            }
        };
        redact_output::redact(&mut output, &launcher.spill, &launcher.redactor);
        notes.extend(proxy.iter().flat_map(ProxyGuard::refused));
        let seen = watch.map(|watch| watch.end(&order.workspace, &launcher.setup.spill)).unwrap_or_default();
        let Aftermath { changed, notes: of_files, notices } = seen;
        if let Some(words) = about_replaced(&replaced, order.workspace.root()) {
            notes.push(words.clone());
            launcher.notice(words);
        }
        notes.extend(of_files);
        for notice in notices {
            launcher.notice(notice);
        }
        FinishedCommand { how, output, time: order.time, changed, notes, refused_calls, hint }
    }
}

/// Names the paths that lost their walls for a moment, all of them: a person may have to look at each.
fn about_replaced(replaced: &[PathBuf], root: &Path) -> Option<String> {
    let named = |path: &PathBuf| {
        let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        format!("`{}`", name.replace(char::is_control, "\u{fffd}"))
    };
    let named: Vec<String> = replaced.iter().map(named).collect();
    (!named.is_empty()).then(|| {
        format!(
            "walls: somebody else moved, removed or replaced {} while a command ran; the walls were put back within a \
             moment, but until then the command could read and change what stood there",
            named.join(", ")
        )
    })
}

/// The starting directory of a command, as an absolute path.
fn directory(workspace: &Workspace, asked: Option<&str>) -> Result<PathBuf, ToolError> {
    let Some(asked) = asked else { return Ok(workspace.root().to_owned()) };
    let resolved = workspace.resolve(asked)?;
    if resolved.kind != FileKind::Directory {
        return Err(ToolError::arguments(not_run(&explain(&AccessError::NotADirectory { path: asked.to_owned() }))));
    }
    Ok(workspace.root().join(resolved.relative))
}

/// Everything in the workspace that a command without walls could change.
fn everything(workspace: &Workspace) -> Vec<PathBuf> {
    [workspace.root()].into_iter().chain(workspace.added()).map(Path::to_owned).collect()
}

fn not_run(why: &str) -> String {
    format!("the command was not run: {why}")
}
