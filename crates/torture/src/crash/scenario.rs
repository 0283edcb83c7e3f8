//! The smallest run for each tool, and for each way in which tasks work together. So each point can be tried with each
//! of them.

use super::agent::{Agent, Last};
use super::errand::Deed;
use super::script::Script;

/// Name of a scenario, and the work of its main agent.
type Scenario = (&'static str, fn(&mut Script, &mut Agent));

/// Time enough for another to do something meanwhile.
const A_WHILE_MS: u64 = 100;

/// One task with its tools, and one sub-agent in the foreground.
const ALONE: &[Scenario] = &[
    ("Read", |_, main| main.read()),
    ("Grep", |_, main| main.grep()),
    ("Glob", |_, main| main.glob()),
    ("LS", |_, main| main.list()),
    ("TodoWrite", |_, main| main.note_to_do()),
    ("Write", |_, main| main.write()),
    ("Edit", |_, main| {
        main.read();
        main.then(0);
        main.edit();
    }),
    ("MultiEdit", |_, main| {
        main.read();
        main.then(0);
        main.multi_edit();
    }),
    ("Bash", |_, main| main.bash("", "")),
    ("BashOutput", |_, main| {
        main.background();
        main.then(0);
        main.look_at_background();
    }),
    ("KillShell", |_, main| {
        main.background();
        main.then(0);
        main.end_background();
    }),
    ("limit", |script, main| {
        script.flags = &["--max-turns", "1"];
        main.list();
        main.then(0);
        main.report("This is as far as it came.");
        main.bash("", "");
    }),
    ("Task", |script, main| {
        let mut worker = script.worker();
        worker.bash("", "");
        main.delegate(&worker);
        script.add(worker);
    }),
];

/// Several agents at once. Their tools are tried above, so they do little themselves.
const TOGETHER: &[Scenario] = &[
    ("Note", |_, main| main.post_note()),
    ("background", |script, main| one_worker(script, |worker| main.launch(worker))),
    ("TaskOutput", |script, main| {
        one_worker(script, |worker| main.launch(worker));
        main.then(0);
        main.wait_for(1);
    }),
    ("TaskList", |script, main| {
        one_worker(script, |worker| main.launch(worker));
        main.then(0);
        main.list_tasks();
    }),
    ("TaskStop", |script, main| {
        one_worker(script, |worker| {
            worker.takes(A_WHILE_MS);
            main.launch(worker);
        });
        main.then(0);
        main.stop(1);
    }),
    ("SendMessage", |script, main| {
        one_worker(script, |worker| {
            worker.takes(A_WHILE_MS);
            main.launch(worker);
        });
        main.then(0);
        main.write_to(1);
    }),
    ("message-to-ended", |script, main| {
        one_worker(script, |worker| main.delegate(worker));
        main.then(0);
        main.write_to(1);
    }),
    ("follow-up", |script, main| {
        one_worker(script, |worker| main.delegate(worker));
        main.then(0);
        main.go_on_with(1, false);
    }),
    ("Ask", |script, main| {
        main.answers = true;
        one_worker(script, |worker| {
            worker.ask();
            main.delegate(worker);
        });
    }),
    ("adoption", |script, main| hand_on(script, main, |middle| middle.last = Last::Failure)),
    ("gathering", |script, main| hand_on(script, main, |middle| middle.max_turns = Some(1))),
    ("sent-by-another", |script, main| errand(script, main, Deed::Send)),
    ("released-by-another", |script, main| errand(script, main, Deed::Release)),
    ("stopped-by-another", |script, main| errand(script, main, Deed::Stop)),
];

pub(super) fn alone() -> impl Iterator<Item = &'static str> {
    ALONE.iter().map(|(name, _)| *name)
}

pub(super) fn together() -> impl Iterator<Item = &'static str> {
    TOGETHER.iter().map(|(name, _)| *name)
}

/// The run of a name; `None` where there is none.
pub(super) fn script(name: &str) -> Option<Script> {
    let (_, act) = ALONE.iter().chain(TOGETHER).find(|(known, _)| *known == name)?;
    let mut script = Script::default();
    let mut main = script.main_agent();
    act(&mut script, &mut main);
    script.add(main);
    Some(script)
}

/// A sub-agent to delegate to.
fn one_worker(script: &mut Script, start: impl FnOnce(&mut Agent)) {
    let mut worker = script.worker();
    worker.list();
    start(&mut worker);
    script.add(worker);
}

/// A sub-agent that ends, by itself, before the helper that it has started.
fn hand_on(script: &mut Script, main: &mut Agent, end: impl FnOnce(&mut Agent)) {
    let (mut middle, mut helper) = (script.worker(), script.worker());
    helper.takes(A_WHILE_MS);
    helper.list();
    middle.launch(&helper);
    end(&mut middle);
    main.delegate(&middle);
    script.add(helper);
    script.add(middle);
}

/// A worker that is waited for, with which another process does something.
fn errand(script: &mut Script, main: &mut Agent, deed: Deed) {
    script.errand = Some(deed);
    one_worker(script, |worker| {
        worker.takes(A_WHILE_MS);
        main.delegate(worker);
    });
}
