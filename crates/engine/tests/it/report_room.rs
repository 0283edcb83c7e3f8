//! Many reports at once. The parent gets as many in full as its window has room for, and a summary that says where the
//! others are.

use serde_json::{Value, json};
use sortie_engine::EngineSettings;
use sortie_llm::Terms;
use sortie_protocol::{Fact, Message, Status};
use sortie_testkit::{Script, ScriptedPart, Seen, reply, when};

use crate::support::{Plan, World, ask};

const REPORTS: usize = 50;
const WINDOW: u64 = 32_000;

/// 200 KB in sentences of several bytes a letter.
fn long() -> String {
    "Ein Satz über Prüfungen, der nicht aufhören möchte. ".repeat(4000)
}

fn tasks(is_apart: bool) -> Vec<ScriptedPart> {
    let task = |part: usize| -> Value {
        json!({"description": "Part", "prompt": format!("PART {part}"), "subagent_type": "explore", "run_in_background": is_apart})
    };
    (0..REPORTS).map(|part| reply::call("Task", task(part))).collect()
}

fn plan(is_apart: bool, window: Option<u64>) -> Plan {
    let page =
        |offset: usize| reply::calls([reply::call("TaskOutput", json!({"task_id": "<task 50>", "offset": offset}))]);
    let meanwhile = reply::calls([reply::call("LS", json!({}))]).after_ms(60_000);
    let mut script = Script::new().on(when::prompt_contains("MAIN").turn(0), reply::calls(tasks(is_apart)));
    if is_apart {
        script = script.on(when::prompt_contains("MAIN").turn(1), meanwhile);
    }
    let script = script
        .on(when::prompt_contains("MAIN").last_contains("the end"), reply::text("On."))
        .on(when::prompt_contains("MAIN"), page(long().chars().count() - 1000))
        .otherwise(reply::text(long()).after_ms(1000));
    let rules = EngineSettings { max_concurrent: REPORTS, ..EngineSettings::default() };
    Plan { terms: Terms { window, ..Terms::default() }, ..Plan::script(script).rules(rules) }
}

/// Tokens of a request, at four bytes each.
fn tokens(seen: &Seen) -> u64 {
    let specs: usize = seen.specs.iter().map(|spec| spec.description.len() + spec.schema.to_string().len()).sum();
    let messages = serde_json::to_string(&seen.messages).expect("plain data");
    ((seen.system.len() + specs + messages.len()) / 4) as u64
}

fn n_shortened(world: &World) -> usize {
    world.events().iter().filter(|event| matches!(event.fact, Fact::Compacted { .. })).count()
}

/// The texts of the reports as the parent read them first.
fn told(world: &World, is_apart: bool) -> Vec<String> {
    let seen = world.seen_by("MAIN");
    let first = seen.iter().find(|seen| format!("{:?}", seen.messages).contains("Ein Satz")).expect("they were told");
    let texts = first.messages.iter().skip(1).flat_map(|message| match message {
        Message::Outputs { outputs } if !is_apart => outputs.iter().map(|one| one.output.for_model.clone()).collect(),
        Message::User { text } if is_apart => {
            text.split("Your background task").skip(1).map(str::to_owned).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    });
    texts.collect()
}

#[tokio::test(start_paused = true)]
async fn f42_k11_fifty_reports_of_200_kb_never_overflow_their_parent_and_stay_readable() {
    for is_apart in [false, true] {
        for window in [Some(WINDOW), Some(4 * WINDOW), None] {
            let world = plan(is_apart, window).build();
            let outcome = world.run(ask("MAIN")).await;
            assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "On."), "{window:?}: {outcome:?}");
            let texts = told(&world, is_apart);
            assert_eq!(texts.len(), REPORTS, "each is told");
            assert!(texts.iter().all(|text| text.contains("TaskOutput")), "and how it can be had");
            let most = world.seen_by("MAIN").iter().map(tokens).max().unwrap_or_default();
            assert!(most < window.unwrap_or(128_000), "{most} of {window:?}, apart: {is_apart}");
            assert_eq!(n_shortened(&world), 0, "what came fitted");
            let whole = texts.iter().filter(|text| text.len() > 4000).count();
            assert!(whole >= 1, "as many as fit are told: {whole} of {window:?}, apart: {is_apart}");
            let last = world.seen_by("MAIN").pop().expect("it was asked");
            assert!(format!("{:?}", last.messages.last()).contains("the end"), "and its end can be read");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_is_cut_at_a_sentence_and_marked() {
    let world = plan(false, Some(WINDOW)).build();
    world.run(ask("MAIN")).await;
    let texts = told(&world, false);
    let (kept, mark) =
        texts[REPORTS - 1].split_once("\n[… the report was cut here; TaskOutput with offset ").expect("a mark");
    assert!(kept.ends_with("möchte."), "{kept}");
    assert!(mark.starts_with(|first: char| first.is_ascii_digit()), "{mark}");
}

#[tokio::test(start_paused = true)]
async fn a_contract_with_verbatim_reports_cuts_none() {
    let script = Script::new()
        .on(
            when::prompt_contains("MAIN").turn(0),
            reply::calls([reply::call("Task", json!({"description": "Part", "prompt": "PART", "subagent_type": "a"}))]),
        )
        .on(when::prompt_contains("MAIN"), reply::text("On."))
        .otherwise(reply::text(long()));
    let agent = (".sortie/agents/a.md", "---\nname: a\ndescription: does it\n---\nYou are a.\n");
    let plan = Plan::script(script).files(&[agent]).agent_files().contract("result");
    let world = Plan { terms: Terms { window: Some(4 * WINDOW), ..Terms::default() }, ..plan }.build();
    world.run(ask("MAIN")).await;
    let last = world.seen_by("MAIN").pop().expect("it was asked");
    assert!(format!("{:?}", last.messages.last()).contains(&long()), "{:?}", last.messages.last());
}

#[tokio::test]
async fn a_conversation_beyond_the_usual_window_still_has_room_for_a_report() {
    let brief = json!({"description": "Part", "prompt": "PART", "subagent_type": "explore", "run_in_background": true});
    let script = Script::new()
        .on(when::prompt_contains("PART"), reply::text("Found it."))
        .on(when::turn(0), reply::text("words ".repeat(120_000)).calls([reply::call("Task", brief)]))
        .otherwise(reply::text("On."));
    let world = Plan::script(script).build();
    world.run(ask("MAIN")).await;
    let seen = world.seen_by("MAIN");
    let last = seen.last().expect("it was asked");
    assert!(format!("{:?}", last.messages).contains("Found it."), "its window is at least twice as large");
}

/// A report of some three thousand bytes, easily told from others.
fn short(part: usize) -> String {
    format!("{} The end of part {part}.", "What was found is told in a few sentences. ".repeat(70))
}

/// Its mail, one text for each delivery.
fn deliveries(world: &World) -> Vec<String> {
    let read = world.events().into_iter().filter_map(|event| match event.fact {
        Fact::MailRead { text, .. } => Some(text),
        _ => None,
    });
    read.collect()
}

#[tokio::test(start_paused = true)]
async fn a_short_report_is_whole_in_a_window_full_of_old_outputs() {
    const PARTS: usize = 12;
    let page = "A line of a page that somebody wants to have read.\n".repeat(160);
    let files: Vec<_> = (1..=2 * PARTS).map(|n| (format!("page-{n}.md"), page.clone())).collect();
    let part = |part: usize| -> Value {
        json!({"description": "Part", "prompt": format!("PART {part}."), "subagent_type": "explore", "run_in_background": true})
    };
    let start = reply::calls((1..=PARTS).map(|n| reply::call("Task", part(n))));
    let mut script = Script::new().on(when::last_contains("Sum up"), reply::text("Pages were read."));
    script = script.on(when::prompt_contains("MAIN").turn(0), start);
    for (n, (file, _)) in files.iter().enumerate() {
        let read = reply::calls([reply::call("Read", json!({"file_path": file}))]).after_ms(1000);
        script = script.on(when::prompt_contains("MAIN").turn(n as u32 + 1), read);
    }
    for n in 1..=PARTS {
        let report = reply::text(short(n)).after_ms(2000 * n as u64 + 500);
        script = script.on(when::prompt_contains(format!("PART {n}.")), report);
    }
    let plan = Plan::script(script.otherwise(reply::text("On."))).files(&files);
    let plan = plan.rules(EngineSettings { max_concurrent: REPORTS, ..EngineSettings::default() });
    let world = Plan { terms: Terms { window: Some(24_000), ..Terms::default() }, ..plan }.build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert!(n_shortened(&world) > 0, "the pages were too many for the window");
    let told = deliveries(&world).join("\n");
    let withheld = told.matches("does not fit here").count();
    assert_eq!(withheld, 0, "{withheld} of {PARTS}");
    assert!((1..=PARTS).all(|n| told.contains(&format!("The end of part {n}."))));
    let most = world.seen_by("MAIN").iter().map(tokens).max().unwrap_or_default();
    assert!(most < 24_000, "{most}");
}

#[tokio::test(start_paused = true)]
async fn a_lone_report_that_does_not_fit_always_shows_its_beginning() {
    let much = format!("MAIN {}", "much to say ".repeat(10_000));
    for (brief, report, window) in [("MAIN".to_owned(), long(), 8000), (much, short(1), 14_000)] {
        let part =
            json!({"description": "Part", "prompt": "PART", "subagent_type": "explore", "run_in_background": true});
        let script = Script::new()
            .on(when::prompt_contains("PART"), reply::text(report.clone()))
            .on(when::turn(0), reply::calls([reply::call("Task", part)]))
            .otherwise(reply::text("On."));
        let plan = Plan::script(script);
        let world = Plan { terms: Terms { window: Some(window), ..Terms::default() }, ..plan }.build();
        world.run(ask(&brief)).await;
        let told = deliveries(&world).pop().expect("it was told");
        let words = "has ended: completed. Its report does not fit here; TaskOutput has it whole. It begins:\n";
        let (_, beginning) = told.split_once(words).expect(&told);
        let words: String = report.chars().take(200).collect();
        assert!(beginning.contains(&words), "{beginning}");
    }
}
