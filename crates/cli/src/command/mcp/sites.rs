//! The workspaces that `sortie mcp` serves, each with an engine of its own. They are that of the command line, and
//! those of the roots that a host declares.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sortie_engine::{BackgroundProcess, Engine, Hooks};
use sortie_journal::Journal;
use sortie_mcp::{Hosts, Office, OfficeParts, Offices, Offline, People, Roots};
use sortie_protocol::{Failure, FailureCode};

use super::background_process::OwnProcess;
use crate::environment::{Breadth, Sources};
use crate::error::{self, CommandError};
use crate::settings::Settings;
use crate::wiring::agent_warnings::complain;
use crate::wiring::retention::Retention;
use crate::wiring::{Plan, Wired};

/// Directory in which a server without a project works: an empty one of Sortie's own.
const NO_PROJECT: &str = "no-project";

/// Fate of tasks when the host of standard streams has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostAbsence {
    /// Calls under way are interrupted; background tasks end by themselves.
    LeavesBackground,
    /// Background tasks are interrupted as well.
    InterruptsBackground,
    /// Tasks are interrupted before the model that the host lends is gone.
    InterruptsAll,
}

/// Way in which hosts reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    /// By the standard streams of this process.
    ByStreams,
    ByHttp,
}

/// One workspace and its engine.
struct Site {
    /// The workspace, and the directories added to it.
    roots: Vec<PathBuf>,
    office: Arc<Office>,
    engine: Engine,
    journal: Arc<dyn Journal>,
    hooks: Arc<dyn Hooks>,
    retention: Retention,
    absence: HostAbsence,
}

/// All workspaces of one server.
pub(super) struct Sites {
    sources: Sources,
    reached: Reached,
    /// Hosts whose models are borrowed where no model is set.
    hosts: Hosts,
    /// Use of the rule-based model where no model is set.
    offline: Offline,
    /// The user's home directory.
    home: Option<PathBuf>,
    /// The workspace of the command line first.
    opened: Mutex<Vec<Arc<Site>>>,
}

impl Sites {
    /// Opens the workspace of the command line. If it is far more than a project, hosts are asked for a root instead.
    pub(super) fn open(
        sources: Sources,
        settings: &Settings,
        reached: Reached,
        offline: Offline,
    ) -> Result<(Arc<Self>, Arc<Office>), CommandError> {
        let home = settings.environment.home();
        let sites = Self { sources, reached, hosts: Hosts::default(), offline, home, opened: Mutex::default() };
        let office = match settings.places.breadth.filter(|_| reached == Reached::ByStreams) {
            Some(breadth) => sites.without_project(&settings.places.workspace, breadth, Vec::new())?,
            None => sites.open_site(settings, Vec::new(), Vec::new(), None)?,
        };
        Ok((Arc::new(sites), office))
    }

    /// Roots matter where the host is a program of this machine that has not been told a directory.
    pub(super) fn ask_for_roots(&self) -> bool {
        self.reached == Reached::ByStreams && self.sources.cwd.is_none()
    }

    fn without_project(
        &self,
        named: &Path,
        breadth: Breadth,
        notices: Vec<String>,
    ) -> Result<Arc<Office>, CommandError> {
        let home = Settings::home()?.join(NO_PROJECT);
        std::fs::create_dir_all(&home)
            .map_err(|error| CommandError::storage(format!("{} cannot be created: {error}", home.display())))?;
        let settings = Settings::load(&Sources { root: Some(home), ..self.sources.clone() })?;
        let (folder, what) = (named.display(), breadth.in_words());
        let message = format!(
            "the workspace would be {folder}, {what}, and a home directory is no project: nothing in it is read. Declare \
             the project as a root of this host, or start the server with `--cwd DIR`"
        );
        let refusal = Failure::new(FailureCode::OtherWorkspace, message);
        error::warn(&refusal.message);
        self.open_site(&settings, vec![named.to_owned()], notices, Some(refusal))
    }

    fn open_site(
        &self,
        settings: &Settings,
        roots: Vec<PathBuf>,
        notices: Vec<String>,
        refusal: Option<Failure>,
    ) -> Result<Arc<Office>, CommandError> {
        let plan = Plan::new(settings)?;
        complain(&plan.agents());
        plan.rules_about_nobody().iter().for_each(|warning| error::warn(warning));
        let retention = plan.retention();
        // With a route configured, no host's model is borrowed.
        let hosts = plan.lacks_model().then(|| self.hosts.clone());
        let absence = match self.reached {
            Reached::ByStreams if hosts.is_some() => HostAbsence::InterruptsAll,
            _ if settings.finishes_background() => HostAbsence::LeavesBackground,
            _ => HostAbsence::InterruptsBackground,
        };
        let outlives = self.reached == Reached::ByStreams && absence == HostAbsence::LeavesBackground;
        let background = outlives.then(|| Arc::new(OwnProcess::new(settings, &roots)) as Arc<dyn BackgroundProcess>);
        let plan = plan.for_hosts(hosts.clone().unwrap_or_default(), self.offline);
        let people = People::default();
        let Wired { engine, journal, hooks, agents } = plan.open(Arc::new(people.clone()))?;
        let office = Office::new(OfficeParts {
            engine: engine.clone(),
            journal: Arc::clone(&journal),
            agents,
            contract: settings.contract(),
            workspace: settings.places.workspace.display().to_string(),
            max_prompt_bytes: settings.max_prompt_bytes(),
            hosts,
            background,
            is_nested: settings.environment.nesting_level() > 0,
            refusal,
            notices,
            people,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        });
        let site = Site { roots, office: Arc::clone(&office), engine, journal, hooks, retention, absence };
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(site));
        Ok(office)
    }

    /// Opens the workspace of a host's roots, or returns that of the command line if there is no usable root.
    fn of_roots(&self, Roots { directories, notices }: &Roots) -> Result<Arc<Office>, CommandError> {
        let mut notices = notices.clone();
        let mut usable: Vec<PathBuf> = Vec::new();
        let mut too_wide = None;
        for directory in directories {
            let real = match directory.canonicalize() {
                Ok(real) if real.is_dir() => real,
                Ok(_) => {
                    notices.push(left_out(directory, "it is no directory"));
                    continue;
                }
                Err(error) => {
                    notices.push(left_out(directory, &error.to_string()));
                    continue;
                }
            };
            if let Some(breadth) = Breadth::of(&real, self.home.as_deref()) {
                notices.push(left_out(directory, &format!("it is {}, which is no project", breadth.in_words())));
                too_wide.get_or_insert((real, breadth));
            } else if !usable.contains(&real) {
                usable.push(real);
            }
        }
        for notice in &notices {
            error::warn(notice);
        }
        let start = std::env::current_dir().and_then(|start| start.canonicalize()).unwrap_or_default();
        if let Some(own) = usable.iter().position(|root| start.starts_with(root)) {
            usable[..=own].rotate_right(1);
        }
        let office = match (usable.as_slice(), too_wide) {
            // That of the command line.
            ([], None) => self.sites().first().map(|site| Arc::clone(&site.office)),
            ([], Some((named, breadth))) => match self.known(std::slice::from_ref(&named)) {
                Some(office) => Some(office),
                None => return self.without_project(&named, breadth, notices),
            },
            (usable, _) => self.known(usable),
        };
        if let Some(office) = office {
            office.add_notices(notices);
            return Ok(office);
        }
        let settings = Settings::load(&self.sources.at_roots(&usable))?;
        settings.warnings.iter().for_each(|warning| error::warn(warning));
        self.open_site(&settings, usable, notices, None)
    }

    fn known(&self, roots: &[PathBuf]) -> Option<Arc<Office>> {
        self.sites().iter().find(|site| site.roots == roots).map(|site| Arc::clone(&site.office))
    }

    fn sites(&self) -> Vec<Arc<Site>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Interrupts all tasks where they are, to be resumed.
    pub(super) async fn interrupt(&self) {
        for site in self.sites() {
            site.office.interrupt().await;
        }
    }

    /// Interrupts the tasks of workspaces where a host may lend its model, before that model is gone.
    pub(super) async fn interrupt_borrowers(&self) {
        for site in self.sites().iter().filter(|site| site.absence == HostAbsence::InterruptsAll) {
            site.office.interrupt().await;
        }
    }

    /// True if no work is left that outlives a host.
    pub(super) fn are_settled(&self) -> bool {
        self.sites().iter().all(|site| site.absence != HostAbsence::LeavesBackground || site.office.is_idle())
    }

    /// Waits for the work that outlives a host.
    pub(super) async fn settled(&self) {
        for site in self.sites().iter().filter(|site| site.absence == HostAbsence::LeavesBackground) {
            site.office.idle().await;
        }
    }

    /// Waits for hooks and servers, and warns about them.
    pub(super) async fn close(&self) {
        for site in self.sites() {
            let (complaints, ()) = tokio::join!(site.hooks.settled(), site.engine.close());
            for complaint in &complaints {
                error::warn(complaint);
            }
        }
    }

    /// Removes old tasks, once for all workspaces, which share a journal.
    pub(super) fn tend(&self) {
        if let Some(site) = self.sites().first() {
            site.retention.tend(&site.journal);
        }
    }
}

impl Offices for Sites {
    fn at(&self, roots: &Roots) -> Result<Arc<Office>, Failure> {
        self.of_roots(roots).map_err(|error| {
            let why = error.in_one_line();
            error::warn(&why);
            Failure::new(FailureCode::OtherWorkspace, format!("the host's roots cannot be used: {why}"))
        })
    }
}

fn left_out(root: &Path, why: &str) -> String {
    format!("the host's root {} is left out: {why}", root.display())
}
