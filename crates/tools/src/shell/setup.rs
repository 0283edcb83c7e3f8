//! `ShellSetup`: settings shared by all commands of a process, and the walls that can be built here.

use std::sync::{Arc, OnceLock};

use sortie_sandbox::SpillDir;
use sortie_sandbox::process::{Environment, Probe, ProcessLimits, Program, Tier, probe};
use tokio::sync::Semaphore;

use crate::web::web_rules::WebRules;

/// Maximum number of foreground commands of a process at the same time; each has a thread. Others wait.
const MAX_FOREGROUND: usize = 64;

/// Maximum number of background commands of a process at the same time; each also has a thread. Further ones are
/// refused.
const MAX_BACKGROUND: usize = 128;

/// Settings shared by all commands of a process. Created once: the walls are probed at the first command and then
/// known.
#[derive(Debug)]
pub struct ShellSetup {
    pub program: Program,
    /// True if the user wants no walls.
    pub unconfined: bool,
    pub environment: Environment,
    pub limits: ProcessLimits,
    /// Receives long outputs, under names that begin with their task's, and files that were removed, which have no
    /// owner.
    pub spill: Arc<SpillDir>,
    /// Inner addresses that tasks with access to hosts may reach.
    pub web: WebRules,
    /// True if tasks that may reach every host get the network itself; otherwise they also go through the proxy.
    pub open_network: bool,
    pub(super) foreground: Arc<Semaphore>,
    pub(super) background: Arc<Semaphore>,
    standing: OnceLock<Standing>,
}

impl ShellSetup {
    /// A setup with walls, the usual limits, and no network except through the proxy.
    pub fn new(program: Program, environment: Environment, spill: Arc<SpillDir>) -> Self {
        Self {
            program,
            unconfined: false,
            environment,
            limits: ProcessLimits::default(),
            spill,
            web: WebRules::default(),
            open_network: false,
            foreground: Arc::new(Semaphore::new(MAX_FOREGROUND)),
            background: Arc::new(Semaphore::new(MAX_BACKGROUND)),
            standing: OnceLock::new(),
        }
    }

    /// A copy with walls, whatever the user wishes.
    #[must_use]
    pub fn confined(&self) -> Self {
        Self {
            program: self.program.clone(),
            unconfined: false,
            environment: self.environment.clone(),
            limits: self.limits,
            spill: Arc::clone(&self.spill),
            web: self.web.clone(),
            open_network: self.open_network,
            foreground: Arc::clone(&self.foreground),
            background: Arc::clone(&self.background),
            standing: OnceLock::new(),
        }
    }

    /// Waits until no command runs.
    pub async fn idle(&self) {
        // They are never closed.
        drop(self.foreground.acquire_many(MAX_FOREGROUND as u32).await);
        drop(self.background.acquire_many(MAX_BACKGROUND as u32).await);
    }

    /// Returns the walls that commands run in. The first call builds them, which takes a moment and blocks.
    pub fn walls(&self) -> &Standing {
        let find_out = || if self.unconfined { Standing::Unconfined } else { probe(&self.program).into() };
        self.standing.get_or_init(find_out)
    }
}

/// The walls that commands run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The strongest walls.
    Namespaces,
    /// Landlock only; `why` says why there are no namespaces.
    Landlock { why: String },
    /// No walls can be built, so no command runs; `why` gives the reason.
    Nowhere { why: String },
    /// No walls, because the user wants none.
    Unconfined,
}

impl Standing {
    /// The tier of the next command, or the text that refuses it.
    pub(super) fn tier(&self) -> Result<Tier, String> {
        match self {
            Self::Namespaces => Ok(Tier::Namespaces),
            Self::Landlock { .. } => Ok(Tier::Landlock),
            Self::Unconfined => Ok(Tier::None),
            Self::Nowhere { why } => Err(format!(
                "no walls can be built around commands here ({why}); `sortie doctor` says what is missing, and \
                 `--unconfined` runs commands without walls"
            )),
        }
    }

    /// The notice about walls in the outcome of a task that ran a command.
    pub(super) fn notice(&self) -> Option<String> {
        match self {
            Self::Namespaces | Self::Nowhere { .. } => None,
            Self::Landlock { why } => Some(format!(
                "commands ran in weaker walls (Landlock only), because there are no namespaces here ({why}); \
                 `sortie doctor` says what is missing"
            )),
            Self::Unconfined => Some(
                "commands ran without walls because of --unconfined: they could do all that the user can".to_owned(),
            ),
        }
    }
}

impl From<Probe> for Standing {
    fn from(probe: Probe) -> Self {
        let why: Vec<String> = probe.missing.into_iter().map(|missing| missing.why).collect();
        let why = why.join("; ");
        match probe.tier {
            Tier::Namespaces => Self::Namespaces,
            Tier::Landlock => Self::Landlock { why },
            Tier::None => Self::Nowhere { why },
        }
    }
}

#[cfg(test)]
mod tests {
    use sortie_sandbox::process::{Missing, SpawnError};

    use super::*;

    fn standing(tier: Tier) -> Standing {
        let step = "user namespaces are off".to_owned();
        let why = SpawnError::Walls { step, source: std::io::ErrorKind::PermissionDenied.into() }.to_string();
        let missing = vec![Missing { tier: Tier::Namespaces, why }];
        Standing::from(Probe { tier, landlock: 6, missing })
    }

    #[test]
    fn weaker_walls_are_used_and_named_in_the_outcome() {
        let weaker = standing(Tier::Landlock);
        assert_eq!(weaker.tier(), Ok(Tier::Landlock));
        let notice = weaker.notice().unwrap();
        assert!(notice.contains("Landlock only") && notice.contains("user namespaces are off"), "{notice}");
        assert_eq!(notice.matches("sortie doctor").count(), 1, "{notice}");
    }

    #[test]
    fn without_walls_nothing_runs_and_the_refusal_says_what_to_do() {
        let why = standing(Tier::None).tier().unwrap_err();
        for part in ["user namespaces are off", "sortie doctor", "--unconfined"] {
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn the_strongest_walls_need_no_notice() {
        let strongest = Standing::from(Probe { tier: Tier::Namespaces, landlock: 6, missing: Vec::new() });
        assert_eq!((strongest.tier(), strongest.notice()), (Ok(Tier::Namespaces), None));
    }
}
