//! The one recipe that starts a task for any origin: check, equip, resolve, build, admit.
//!
//! Every origin takes the same steps in the same order. An origin says what it does not have: a parent, a limit on its
//! starts, a result cache. A resumed task skips the choices of its first start.

pub(crate) mod admission;
pub(crate) mod check;
pub(crate) mod decide;
pub(crate) mod dry_run;
pub(crate) mod fork;
pub(crate) mod origin;
mod start_hooks;

use std::sync::Arc;

use sortie_protocol::{AgentConfig, Failure, Job, Limits, TaskRequest};

use crate::budget::account::Account;
use crate::budget::slots::Slot;
use crate::conversation::inherited::inherited;
use crate::conversation::live_record::LiveRecord;
use crate::conversation::load_task::LoadedTask;
use crate::log::writer::LegHold;
use crate::resolve::choose_model::confirm_model;
use crate::resolve::roster::Roster;
use crate::resolve::settings::TaskKind;
use crate::tasks::observers::Asked;
use crate::tasks::resume::follow_up;
use crate::tasks::start::check::{AgentChoice, Checked, Checks, ForkWish};
use crate::tasks::start::decide::{decide, job};
use crate::tasks::start::origin::Origin;
use crate::tasks::state::EngineState;
use crate::tasks::task::{Resumed, Task};

/// Decisions about a task before it is built.
pub(crate) struct Decided {
    pub(crate) roster: Arc<Roster>,
    pub(crate) asked: Asked,
    pub(crate) job: Arc<Job>,
    pub(crate) hold: LegHold,
    pub(crate) account: Arc<Account>,
    pub(crate) record: Arc<LiveRecord>,
    /// The earlier life of a resumed task.
    pub(crate) past: Option<Resumed>,
}

/// Prepares a new task, or the next leg of the task that the request names. Nothing is written yet.
pub(crate) async fn prepare(
    engine: &Arc<EngineState>,
    origin: &Origin<'_>,
    choice: AgentChoice<'_>,
    request: TaskRequest,
) -> Result<Task, Failure> {
    let roster = engine.rosters.current();
    let checks = Checks::of(engine, origin, &roster)?;
    if let Some(asked) = request.resume.clone() {
        let request = checks.follow_up(origin.requester(), request)?;
        return Box::pin(follow_up::prepare(engine, origin, &checks, request, &asked)).await;
    }
    let checked = checks.new_task(origin.requester(), choice, request)?;
    let (agent, stop) = (checked.serving.definition, origin.cancel());
    let equipped = match (origin.parent(), checked.fork) {
        // It offers its parent's tools, byte for byte.
        (Some(parent), Some(ForkWish { as_parent: true, .. })) => Arc::clone(&parent.roster),
        // Nothing is known of what a server's tools change, so none is started.
        _ if checked.request.reads_only => Arc::clone(&roster),
        _ => engine.equipping().equipped(&roster, agent, origin.requester(), &stop).await,
    };
    new_task(engine, origin, equipped, checked).await
}

async fn new_task(
    engine: &Arc<EngineState>,
    origin: &Origin<'_>,
    roster: Arc<Roster>,
    checked: Checked<'_>,
) -> Result<Task, Failure> {
    let asked = Asked::from(&checked.request);
    let file = checked.serving.definition;
    let named_by = (checked.request.model.is_none() && file.model.is_some()).then(|| file.name.clone());
    let decision = decide(engine, &roster, origin, checked)?;
    confirm_model(engine.models.as_ref(), &decision.config.model, named_by.as_deref()).await?;
    let account = account(engine, origin, decision.config.limits, None);
    check_prices(engine, &account, &decision.config)?;
    let job = Arc::new(job(engine, origin, decision));
    let inherited = job
        .fork
        .as_ref()
        .zip(origin.parent())
        .map(|(fork, parent)| inherited(parent.record.history().messages(), fork));
    let record = LiveRecord::begin(&job, &inherited.unwrap_or_default());
    let decided = Decided { roster, asked, job, hold: LegHold::FIRST, account, record, past: None };
    let task = build(engine, origin, decided);
    task.check_first_call()?;
    origin.count_child()?;
    Ok(task)
}

/// Returns the account of a task, with all its usage so far. A task without a parent pays for its whole tree.
pub(crate) fn account(
    engine: &EngineState,
    origin: &Origin<'_>,
    limits: Limits,
    so_far: Option<&LoadedTask>,
) -> Arc<Account> {
    let above = origin.parent().map(|parent| Arc::clone(&parent.account));
    let limits = if above.is_some() { limits } else { limits.tighter(engine.rules.of_tree()) };
    match (so_far, above) {
        (Some(loaded), above) => loaded.account(limits, above),
        (None, Some(above)) => Account::below(&above, limits),
        (None, None) => Account::of_root(limits),
    }
}

/// Refuses a cost limit if the model's prices are unknown.
pub(crate) fn check_prices(engine: &EngineState, account: &Account, config: &AgentConfig) -> Result<(), Failure> {
    account.check_prices(&config.model, &engine.models.terms(&config.model).prices)
}

/// Builds a task; nothing else does.
pub(crate) fn build(engine: &Arc<EngineState>, origin: &Origin<'_>, decided: Decided) -> Task {
    let Decided { roster, asked, job, hold, account, record, past } = decided;
    let sink = engine.sink(&job, hold);
    let slot = match TaskKind::at(job.config.depth) {
        TaskKind::Main => Slot::unlimited(Arc::clone(&account)),
        TaskKind::Delegated => Slot::of(Arc::clone(&engine.slots), sink.clone(), Arc::clone(&account)),
    };
    Task {
        engine: Arc::clone(engine),
        roster,
        asked,
        job,
        account,
        sink,
        cancel: origin.cancel(),
        slot: Arc::new(slot),
        approvals: origin.approvals(),
        address: origin.address(),
        record,
        hook_notices: Vec::new(),
        past,
    }
}
