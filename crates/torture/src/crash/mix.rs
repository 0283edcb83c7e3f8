//! The work of the agents of one round, drawn from a seed: all tools, in all the ways in which agents work together.

use super::agent::{Agent, Last};
use super::random::Random;
use super::script::Script;

/// A round: a main agent that gives work to all others, some of which give a part of theirs to helpers.
pub(super) fn script(random: &mut Random, n_agents: u64) -> Script {
    let mut script = Script::default();
    script.max_concurrent = random.one_in(4).then_some(3);
    script.has_limit = random.one_in(2);
    let mut main = script.main_agent();
    // Of so many one is waited for; of none in some rounds, of all in others.
    let awaited = *random.pick(&[1, 1, 2, 3, u64::MAX]);
    let mut n_left = n_agents.saturating_sub(1);
    while n_left > 0 {
        let mut worker = script.worker();
        n_left -= 1;
        if n_left >= 2 && random.one_in(4) {
            hand_on(&mut worker, random, &mut script);
            n_left -= 2;
        }
        work(&mut worker, random);
        consult(&mut worker, &mut main, random);
        hand_over(&mut main, &worker, random.one_in(awaited));
        script.add(worker);
    }
    for _ in 0..random.below(4) {
        main.then(random.below(40));
        see_to(&mut main, random, n_agents - 1);
    }
    main.then(0);
    main.bash("", "");
    script.add(main);
    script
}

fn hand_over(from: &mut Agent, to: &Agent, waits: bool) {
    if waits { from.delegate(to) } else { from.launch(to) }
}

/// A worker with two helpers. It may fail before they have reported, or have no turn left.
fn hand_on(worker: &mut Agent, random: &mut Random, script: &mut Script) {
    for _ in 0..2 {
        let mut helper = script.worker();
        work(&mut helper, random);
        consult(&mut helper, worker, random);
        hand_over(worker, &helper, random.one_in(2));
        script.add(helper);
    }
    worker.then(random.below(20));
    if random.one_in(2) {
        see_to(worker, random, 2);
        worker.then(random.below(20));
    }
    match random.below(6) {
        0 | 1 => worker.last = Last::Failure,
        2 => worker.max_turns = Some(2),
        _ => {}
    }
}

/// A few turns of a few calls.
fn work(agent: &mut Agent, random: &mut Random) {
    const CALLS: &[fn(&mut Agent)] = &[
        Agent::read,
        Agent::grep,
        Agent::glob,
        Agent::list,
        Agent::note_to_do,
        Agent::write,
        Agent::write,
        Agent::edit,
        Agent::edit,
        Agent::multi_edit,
        |agent| agent.bash("", ""),
        |agent| agent.bash("", ""),
        |agent| agent.bash("sleep 0.05; ", ""),
        |agent| agent.bash("", "; sleep 0.05"),
        Agent::background,
        Agent::write_to_parent,
        Agent::post_note,
    ];
    agent.read();
    for _ in 0..=random.below(3) {
        agent.then(random.below(30));
        for _ in 0..=random.below(3) {
            random.pick(CALLS)(agent);
        }
    }
}

/// At most one sub-agent of an agent asks a question: the answers to two could not be told apart.
fn consult(agent: &mut Agent, parent: &mut Agent, random: &mut Random) {
    if !parent.answers && random.one_in(3) {
        parent.answers = true;
        agent.ask();
    }
}

/// A turn in which an agent checks on its sub-agents.
fn see_to(agent: &mut Agent, random: &mut Random, n_started: u64) {
    const CALLS: &[fn(&mut Agent, u64)] = &[
        Agent::wait_for,
        Agent::look_at,
        Agent::write_to,
        Agent::write_to,
        Agent::stop,
        |agent, number| agent.go_on_with(number, true),
        |agent, number| agent.go_on_with(number, false),
        |agent, _| agent.list_tasks(),
        |agent, _| agent.post_note(),
    ];
    for _ in 0..=random.below(3) {
        let number = 1 + random.below(n_started);
        random.pick(CALLS)(agent, number);
    }
}
