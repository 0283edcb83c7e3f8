//! Requests that get a recorded outcome, and those that miss.

use super::*;

#[tokio::test]
async fn the_same_request_on_the_same_files_reuses_the_outcome_and_says_so() {
    let world = World::new();
    let first = job(0);
    let ticket = world.ticket(&first);
    world.work(&first, reading()).await;
    assert_eq!(world.hit(&again(&first)), None, "nothing was kept yet");
    world.remember(&ticket);

    let second = Job { notices: vec!["an odd key".to_owned()], ..again(&first) };
    let outcome = world.hit(&second).expect("the recorded outcome");
    assert_eq!((outcome.task_id, outcome.text.as_str()), (first.task, "It is in src/main.rs."));
    assert_eq!(
        outcome.notices,
        [
            "an odd key",
            "answered from agent-aaaaaaaaaaaa, which did the same on the same files at 2023-11-14T22:13:20.000Z; its \
             figures are from then; nothing was spent now; its report can be read, but no call of this task can resume it or \
             write to it"
        ]
    );
}

#[tokio::test]
async fn a_reused_outcome_says_if_its_task_is_out_of_reach() {
    let of =
        |parent: Option<u8>, contract: &str| Job { parent: parent.map(task), contract: contract.to_owned(), ..job(0) };
    for (first, second, is_said) in [
        (of(Some(7), "sortie"), of(Some(8), "sortie"), true),
        (of(Some(7), "typed"), of(Some(8), "typed"), true),
        (of(None, "sortie"), of(Some(8), "sortie"), true),
        (of(Some(7), "sortie"), of(Some(7), "sortie"), false),
        (of(Some(7), "sortie"), of(None, "sortie"), false),
        (of(Some(7), "child"), of(Some(8), "child"), false),
    ] {
        let world = World::new();
        let ticket = world.ticket(&first);
        world.work(&first, reading()).await;
        world.remember(&ticket);
        let outcome = world.hit(&second).expect("the recorded outcome");
        let notice = outcome.notices.last().expect("it says so");
        let (first, second) = (first.parent, second.parent);
        assert_eq!(notice.contains("no call of this task can resume it"), is_said, "{first:?} {second:?}: {notice}");
    }
}

#[tokio::test]
async fn another_process_finds_the_outcome_too() {
    let world = World::new();
    assert!(world.is_kept_after(reading()).await);
    let other = ResultCache::within(SpillDir::open(&world.home.path().join("cache")).unwrap(), BOUNDS);
    let job = again(&job(0));
    let query = CacheQuery { job: &job, agents: &world.agents, endpoints: &world.endpoints, has_approvals: false };
    assert!(matches!(other.look_up(&world.journal, &world.workspace, &query), CacheAnswer::Hit(_)));
}

#[tokio::test]
async fn only_changed_content_of_a_file_that_is_not_ignored_is_a_miss() {
    type Change = fn(&World);
    let changes: [(&str, Change, bool); 4] = [
        ("a file that was there", |world| fs::write(world.path("a.txt"), "eno").unwrap(), false),
        ("a new file", |world| fs::write(world.path("new.txt"), "").unwrap(), false),
        ("an ignored file", |world| fs::write(world.path("ignored.tmp"), "y").unwrap(), true),
        ("the same content", |world| fs::write(world.path("a.txt"), "one").unwrap(), true),
    ];
    for (what, change, is_hit) in changes {
        let world = World::new();
        assert!(world.is_kept_after(reading()).await);
        change(&world);
        assert_eq!(world.hit(&again(&job(0))).is_some(), is_hit, "{what}");
    }
}

#[tokio::test]
async fn another_request_is_a_miss() {
    type Change = fn(&mut Job);
    let world = World::new();
    assert!(world.is_kept_after(reading()).await);
    let asked = again(&job(0));
    let with = |change: &dyn Fn(&mut Job)| {
        let mut job = asked.clone();
        change(&mut job);
        world.hit(&job).is_some()
    };
    let others: [(&str, Change); 10] = [
        ("prompt", |job| job.prompt.push('!')),
        ("workspace", |job| job.workspace.push('x')),
        ("contract", |job| job.contract = "typed".to_owned()),
        ("report cap", |job| job.report_cap_bytes = None),
        ("agent", |job| job.config.agent = "plan".to_owned()),
        ("model", |job| job.config.model.id = "larger".to_owned()),
        ("route", |job| job.config.model.route = "light".to_owned()),
        ("system prompt", |job| job.config.system.push('!')),
        ("tools", |job| job.config.tools.truncate(2)),
        ("grant", |job| job.config.grant.layers[0].deny.push("Read(secret)".to_owned())),
    ];
    for (what, change) in others {
        assert!(!with(&change), "{what}");
    }
    assert!(with(&|job| job.title.push('!')), "what it is called does not count");
    assert!(with(&|job| job.config.limits.max_turns = Some(3)), "a limit that it did not need does not count");
}

#[tokio::test]
async fn a_task_that_can_now_delegate_to_other_agents_is_a_miss() {
    let mut world = World::new();
    assert!(world.is_kept_after(reading()).await);
    let wiser = |agent: &sortie_agents::AgentDefinition| {
        let mut agent = agent.clone();
        agent.prompt.push_str("Be wise.");
        agent
    };
    world.agents = world.agents.recast(wiser);
    assert!(world.hit(&again(&job(0))).is_none());
}

#[tokio::test]
async fn the_same_name_at_another_endpoint_may_be_another_model() {
    type Change = fn(&mut Endpoint);
    let others: [(&str, Change); 2] = [
        ("base URL", |endpoint| endpoint.base_url.push_str("/eu")),
        ("wire", |endpoint| endpoint.wire = "openai-chat".to_owned()),
    ];
    for (what, change) in others {
        for (at, tools, is_hit) in [(0, &["Read"][..], false), (1, &["Read"], true), (1, &["Read", "Task"], false)] {
            let mut world = World::new();
            let mut first = job(0);
            first.config.tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
            let ticket = world.ticket(&first);
            world.work(&first, reading()).await;
            world.remember(&ticket);
            assert!(world.hit(&again(&first)).is_some());
            change(&mut world.endpoints[at]);
            assert_eq!(world.hit(&again(&first)).is_some(), is_hit, "{what} of route {at} with {tools:?}");
        }
    }
}
