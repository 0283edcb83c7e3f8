//! Types and their prompts: S0-39 to S0-45, S0-61 to S0-63.

use serde_json::json;
use sortie_testkit::{reply, when};

use super::errand::{CHILD, answer, arguments, delegating, run, run_with};
use crate::world::{Heard, WIRES, World};

/// Types with the files of their role prompts.
const ROLES: [(&str, &str); 4] = [
    ("general", include_str!("../../../../../prompts/agents_prompts/subagent_general_prompt.md")),
    ("explore", include_str!("../../../../../prompts/agents_prompts/subagent_explore_prompt.md")),
    ("summary", include_str!("../../../../../prompts/agents_prompts/subagent_summary_prompt.md")),
    ("plan", include_str!("../../../../../prompts/agents_prompts/subagent_plan_prompt.md")),
];

/// First request of the sub-agent of a call with this type.
fn told(world: &World, subagent_type: &str) -> Heard {
    let run = run(world, "anthropic", delegating(arguments(subagent_type)).otherwise(reply::text("FINAL")));
    run.sub_agents().remove(0)
}

#[test]
fn s0_39_s0_40_s0_41_the_four_types_differ_in_their_system_prompts_alone() {
    let world = World::new();
    let mut systems = Vec::new();
    let mut alike = Vec::new();
    for (subagent_type, _) in ROLES {
        let script = delegating(arguments(subagent_type))
            .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
            .otherwise(reply::text("FINAL"));
        let run = run(&world, "anthropic", script);
        let mut answer = answer(&run);
        assert_eq!(answer["status"], "success", "S0-40: {subagent_type}");
        assert_eq!(answer["data"]["subagent_type"], subagent_type);
        // These fields hold the type, its model and the time.
        for (part, key) in [("data", "subagent_type"), ("data", "model_used"), ("stats", "model"), ("stats", "time_ms")]
        {
            answer[part].as_object_mut().unwrap().remove(key).unwrap();
        }
        answer["text"].take();
        answer["context"]["params_input"].take();
        let heard = run.sub_agents();
        systems.push(heard[0].system.clone());
        let messages: Vec<usize> = heard.iter().map(|heard| heard.messages).collect();
        alike.push((heard[0].tools.clone(), heard[0].prompt.clone(), messages, answer));
    }
    assert!(alike.iter().all(|one| *one == alike[0]), "S0-39: {alike:#?}");
    systems.sort_unstable();
    systems.dedup();
    assert_eq!(systems.len(), 4, "S0-41");
}

#[test]
fn s0_42_s0_62_the_system_prompt_is_the_role_file_then_a_heading_then_the_description() {
    let world = World::new();
    for (subagent_type, file) in ROLES {
        for (wire, description) in WIRES.into_iter().zip(["Find it", "  Ä 🦀\n\n# Task\ntwo "]) {
            let mut arguments = arguments(subagent_type);
            arguments["description"] = json!(description);
            let run = run(&world, wire, delegating(arguments).otherwise(reply::text("FINAL")));
            let expected = format!("{}\n\n# Task\n{description}", file.trim_end());
            assert_eq!(run.sub_agents()[0].system, expected, "{subagent_type}");
        }
    }
}

#[test]
fn s0_42_a_long_description_is_not_cut() {
    let mut arguments = arguments("plan");
    let description = "ä".repeat(5000);
    arguments["description"] = json!(description);
    let run = run(&World::new(), "anthropic", delegating(arguments).otherwise(reply::text("FINAL")));
    assert!(run.sub_agents()[0].system.ends_with(&format!("\n\n# Task\n{description}")));
}

#[test]
fn s0_43_s0_63_the_prompt_is_the_user_message_byte_for_byte() {
    let long = "ä".repeat(100_000);
    for prompt in ["  leading and trailing \n", "two\n\n\tlines \r\n", "Ä 🦀 \u{202e}x", "{\"json\": \"\\n\"}", &long]
    {
        for wire in WIRES {
            let mut arguments = arguments("general");
            arguments["prompt"] = json!(prompt);
            let run = run(&World::new(), wire, delegating(arguments).otherwise(reply::text("FINAL")));
            assert_eq!((run.sub_agents()[0].messages, &*run.sub_agents()[0].prompt), (1, prompt));
        }
    }
}

#[test]
fn s0_31_s0_44_a_type_is_known_however_it_is_spelt_and_named_in_lower_case() {
    let world = World::new();
    for (given, expected) in
        [("EXPLORE", "explore"), (" explore ", "explore"), ("Plan", "plan"), ("General", "general")]
    {
        let run = run(&world, "anthropic", delegating(arguments(given)).otherwise(reply::text("FINAL")));
        let answer = answer(&run);
        assert_eq!((&answer["status"], &answer["data"]["subagent_type"]), (&json!("success"), &json!(expected)));
        let (_, role) = ROLES.iter().find(|(name, _)| *name == expected).unwrap();
        assert!(run.sub_agents()[0].system.starts_with(role.trim_end()));
    }
}

#[test]
fn s0_45_s0_66_an_unknown_type_is_refused_and_nobody_serves_in_its_place() {
    for wire in WIRES {
        let run = run(&World::new(), wire, delegating(arguments("wizard")));
        let error = &answer(&run)["error"];
        assert_eq!(error["code"], "INVALID_PARAM");
        let message = error["message"].as_str().unwrap();
        for named in ["wizard", "general", "explore", "summary", "plan"] {
            assert!(message.contains(named), "{named}: {message}");
        }
        assert!(run.sub_agents().is_empty());
    }
}

#[test]
fn s0_61_every_role_names_its_place_its_tools_and_a_brief_report() {
    let world = World::new();
    for (subagent_type, _) in ROLES {
        let system = told(&world, subagent_type).system;
        assert!(system.starts_with("You are a ") && system.contains("sub-agent"), "{system}");
        assert!(system.contains("the tools you have"), "{system}");
        assert!(["only the tools you have", "and no others"].iter().any(|only| system.contains(only)), "{system}");
        assert!(system.contains("You get one brief and know nothing else"), "{system}");
        assert!(system.contains("at most 500 tokens") && system.contains("No preamble"), "{system}");
    }
}

#[test]
fn s0_62_a_role_is_changed_by_a_file_of_its_name_and_the_others_stay() {
    let world = World::new();
    let before = ROLES.map(|(subagent_type, _)| told(&world, subagent_type).system);
    for (changed, (subagent_type, _)) in ROLES.into_iter().enumerate() {
        let file = format!("home/.config/sortie/prompts/subagent_{subagent_type}_prompt.md");
        let path = world.write(&file, "You are MINE.\n");
        let after = ROLES.map(|(subagent_type, _)| told(&world, subagent_type).system);
        for (index, system) in after.iter().enumerate() {
            let expected = if index == changed { "You are MINE.\n\n# Task\nFind it" } else { &before[index] };
            assert_eq!(system, expected, "{file}");
        }
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn s0_62_a_projects_own_role_file_counts_once_it_is_trusted() {
    let world = World::new();
    world.write("workspace/.sortie/prompts/subagent_explore_prompt.md", "You are THEIRS.\n");
    let system = |flags: &[&str]| {
        let script = delegating(arguments("explore")).otherwise(reply::text("FINAL"));
        run_with(&world, "anthropic", script, flags).sub_agents().remove(0).system
    };
    assert_eq!(system(&["--trust"]), "You are THEIRS.\n\n# Task\nFind it");
    assert!(system(&[]).starts_with("You are a codebase exploration specialist"));
}

#[test]
fn s0_63_role_description_prompt_and_model_of_one_call_come_together() {
    let mut arguments = arguments("summary");
    arguments["model"] = json!("main");
    let run = run(&World::new(), "openai-chat", delegating(arguments).otherwise(reply::text("FINAL")));
    let heard = &run.sub_agents()[0];
    assert_eq!(heard.system, format!("{}\n\n# Task\nFind it", ROLES[2].1.trim_end()));
    assert_eq!((&*heard.prompt, &*heard.model), (CHILD, "test-model"));
}
