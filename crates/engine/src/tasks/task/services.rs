//! The services of a task's loop, put together: model, gate, limits, mail.

use std::sync::{Arc, Mutex};

use sortie_policy::{Judge, Places};
use sortie_protocol::{Failure, FailureCode};
use sortie_tools::{Seen, Shells};

use crate::budget::deadline::Deadline;
use crate::budget::lender::TaskLender;
use crate::conversation::task_record::TaskRecord;
use crate::gate::Gate;
use crate::gate::approval_timeout::ApprovalTimeout;
use crate::gate::call_order::CallOrder;
use crate::gate::confinement::TaskConfinement;
use crate::gate::output_text::OutputText;
use crate::gate::permission_check::PermissionCheck;
use crate::gate::side_model::SideModel;
use crate::messages::mail_text::MailWriter;
use crate::messages::report_cap::ReportRoom;
use crate::run::Services;
use crate::run::allowance::{Allowance, Loops};
use crate::run::model_call::ModelCaller;
use crate::tasks::delegate::Delegate;
use crate::tasks::relatives::Relatives;
use crate::tasks::scope::TaskScope;
use crate::tasks::task::Task;

/// Builds the services of a task's loop, and its scope for others. `above` is the deadline over its own.
pub(super) fn services(task: &Task, above: Arc<Deadline>) -> Result<(Services, Arc<TaskScope>), Failure> {
    let config = &task.job.config;
    let ends_loops = task.engine.contract.defaults().ends_loops;
    let loops = if ends_loops { Loops::AreALimit } else { Loops::MayContinue };
    let allowance = Allowance::start(config.limits, loops, &task.account, above);
    let workspace = task.engine.workspace_of(&task.job.reach);
    let places = task.engine.permissions.places(&workspace);
    // An unreadable grant grants nothing.
    let judge = Judge::new(&config.grant, places.clone());
    let judge = Arc::new(judge.map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))?);
    let scope = Arc::new(scope(task, judge, &allowance.deadline));
    let (room, words) = (Arc::<ReportRoom>::default(), Arc::<CallOrder>::default());
    let delegate = Delegate { scope: Arc::clone(&scope), room: Arc::clone(&room), words: Arc::clone(&words) };
    let model_caller = model_caller(task, &allowance.deadline)?;
    let redactor = &task.engine.permissions.redactor;
    let gate = Gate {
        tools: Arc::clone(&task.roster.tools),
        offered: config.tools.clone(),
        shells: shells(task, &scope.judge, &places),
        permission_check: permission_check(task, &scope, places),
        assistant: SideModel {
            models: Arc::clone(&task.engine.models),
            account: Arc::clone(&task.account),
            sink: task.sink.clone(),
            deadline: Arc::clone(&allowance.deadline),
            notices: Mutex::default(),
        },
        lender: TaskLender {
            account: Arc::clone(&task.account),
            deadline: Arc::clone(&allowance.deadline),
            sink: task.sink.clone(),
            levels: task.engine.rules.max_depth.saturating_sub(config.depth),
        },
        redactor: Arc::clone(redactor),
        seen: Seen::without_secrets(Arc::clone(redactor)),
        workspace,
        children: Arc::new(Relatives { scope: Arc::clone(&scope), delegate }),
        words,
        report_room: room,
        slot: Arc::clone(&task.slot),
        account: Arc::clone(&task.account),
        deadline: Arc::clone(&allowance.deadline),
        output_text: output_text(task),
        sink: task.sink.clone(),
    };
    let (inbox, mail_writer) = (Arc::clone(&task.record.inbox), mail_writer(task));
    Ok((Services { model_caller, gate, allowance, inbox, mail_writer }, scope))
}

fn scope(task: &Task, judge: Arc<Judge>, deadline: &Arc<Deadline>) -> TaskScope {
    TaskScope {
        engine: Arc::clone(&task.engine),
        job: Arc::clone(&task.job),
        roster: Arc::clone(&task.roster),
        record: Arc::clone(&task.record),
        judge,
        approvals: Arc::clone(&task.approvals),
        account: Arc::clone(&task.account),
        sink: task.sink.clone(),
        cancel: task.cancel.clone(),
        deadline: Arc::clone(deadline),
        inbox: Arc::clone(&task.record.inbox),
        attached: task.record.look(TaskRecord::attached),
        begun: task.record.look(TaskRecord::begun),
        unseen: task.unseen(),
    }
}

fn model_caller(task: &Task, deadline: &Arc<Deadline>) -> Result<ModelCaller, Failure> {
    let (engine, config) = (&task.engine, &task.job.config);
    let model = engine.models.open(&config.model);
    Ok(ModelCaller {
        terms: engine.models.terms(&config.model),
        model: model.map_err(|error| Failure::new(error.kind.code(), error.message))?,
        tools: task.roster.offer(&config.tools),
        deadline: Arc::clone(deadline),
        counting: Arc::clone(&engine.counting),
        account: Arc::clone(&task.account),
        redactor: Arc::clone(&engine.permissions.redactor),
    })
}

fn permission_check(task: &Task, scope: &TaskScope, places: Places) -> PermissionCheck {
    let engine = &task.engine;
    PermissionCheck {
        judge: Arc::clone(&scope.judge),
        approvals: Arc::clone(&task.approvals),
        approver: Arc::clone(&engine.permissions.approver),
        approval_queue: Arc::clone(&engine.approval_queue),
        places,
        job: Arc::clone(&task.job),
        hooks: Arc::clone(&engine.hooks),
        deadline: Arc::clone(&scope.deadline),
        patience: ApprovalTimeout { present: Arc::clone(&engine.present), within: engine.permissions.answer_within },
        slot: Arc::clone(&task.slot),
    }
}

/// Returns the shells of this task, within its grant.
fn shells(task: &Task, judge: &Arc<Judge>, places: &Places) -> Option<Shells> {
    let setup = task.engine.shell_of(&task.job.reach)?;
    let permissions = &task.engine.permissions;
    let reach = TaskConfinement::new(Arc::clone(judge), places.clone());
    let (changes, redactor) = (Arc::clone(&task.engine.changes), Arc::clone(&permissions.redactor));
    let shells = Shells::new(setup, Arc::new(reach), changes, redactor, task.job.task);
    Some(shells.after(task.record.look(|record| record.shells.earlier())))
}

fn output_text(task: &Task) -> OutputText {
    let engine = &task.engine;
    let spill = Arc::new(engine.reports.of(task.job.task));
    OutputText { contract: Arc::clone(&engine.contract), cwd: engine.rules.cwd.clone(), spill }
}

fn mail_writer(task: &Task) -> MailWriter {
    let engine = &task.engine;
    MailWriter {
        contract: Arc::clone(&engine.contract),
        ids: Arc::clone(&engine.ids),
        journal: Arc::clone(&engine.journal),
        task: task.job.task,
        cwd: engine.rules.cwd.clone(),
        present: Arc::clone(&engine.present),
    }
}
