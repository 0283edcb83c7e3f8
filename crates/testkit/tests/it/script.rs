//! Matching of requests with the rules of a script.

use serde_json::json;
use sortie_protocol::StopReason;
use sortie_testkit::{
    Asked, Fault, Playback, Script, ScriptedCall, ScriptedPart, ScriptedReply, StatusFault, reply, when,
};

fn asked() -> Asked<'static> {
    Asked {
        model: "large",
        system: vec!["You explore.", "Be brief."],
        prompt: vec!["Find the door."],
        last: vec!["a.rs:1: door", "b.rs:2: window"],
        turn: 2,
    }
}

/// Returns the text of the reply that a script gives.
fn served(playback: &Playback, asked: &Asked<'_>) -> String {
    match playback.choose(asked) {
        Ok(ScriptedReply { parts, .. }) => match parts.as_slice() {
            [ScriptedPart::Text(text)] => text.clone(),
            other => panic!("not a text: {other:?}"),
        },
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_first_rule_that_matches_serves() {
    let script = Script::new()
        .on(when::turn(7), reply::text("not yet"))
        .on(when::prompt_contains("door"), reply::text("first"))
        .on(when::turn(2), reply::text("second"));
    assert_eq!(served(&Playback::new(script), &asked()), "first");
}

#[test]
fn every_condition_must_hold() {
    for (when, matches) in [
        (when::any(), true),
        (when::turn(2), true),
        (when::turn(1), false),
        (when::model("large"), true),
        (when::model("larg"), false),
        (when::system_contains("brief"), true),
        (when::system_contains("verbose"), false),
        (when::prompt_contains("the door"), true),
        (when::prompt_contains("window"), false),
        (when::last_contains("window"), true),
        (when::last_contains("Find"), false),
        (when::prompt_contains("door").turn(2).last_contains("a.rs"), true),
        (when::prompt_contains("door").turn(3).last_contains("a.rs"), false),
    ] {
        assert_eq!(when.matches(&asked()), matches, "{when:?}");
    }
}

#[test]
fn a_rule_is_skipped_once_it_has_served_its_number_of_times() {
    let script = Script::new()
        .times(2, when::any(), reply::text("early"))
        .once(when::any(), reply::text("then"))
        .otherwise(reply::text("late"));
    let playback = Playback::new(script);
    let texts: Vec<String> = (0..5).map(|_| served(&playback, &asked())).collect();
    assert_eq!(texts, ["early", "early", "then", "late", "late"]);
}

#[test]
fn a_rule_that_does_not_match_has_not_served() {
    let playback = Playback::new(Script::new().once(when::turn(2), reply::text("once")));
    assert!(playback.choose(&Asked { turn: 1, ..asked() }).is_err());
    assert_eq!(served(&playback, &asked()), "once");
}

#[test]
fn a_request_without_a_matching_rule_is_described() {
    let error = Playback::new(Script::new()).choose(&asked()).unwrap_err();
    let message = error.to_string();
    for part in ["`large`", "turn 2", "Find the door.", "a.rs:1: door | b.rs:2: window"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_script_reads_back_from_its_own_json() {
    let call = ScriptedCall { tool: "Read".to_owned(), arguments: json!({ "path": "a" }), id: Some("x".to_owned()) };
    let status = StatusFault { code: 400, retry_after: None, message: Some("no".to_owned()) };
    let faults = [
        Fault::Status(status),
        Fault::rate_limited("3"),
        Fault::CutAfter(1),
        Fault::EndAfter(2),
        Fault::StallAfter(3),
        Fault::KeepAlivesOnly,
        Fault::Silence,
        Fault::Garbage,
        Fault::OverloadedMidStream,
        Fault::Empty,
        Fault::TruncatedArguments,
        Fault::SlowDrip { ms: 4 },
    ];
    let rich = reply::reasoning("hm")
        .text("so")
        .calls([ScriptedPart::Call(call), reply::raw_call("Grep", "{oops")])
        .after_ms(5)
        .held_by("door")
        .in_chunks_of(6)
        .stop(StopReason::Length);
    let script = faults.into_iter().fold(Script::new().times(2, when::model("m").turn(1), rich), |script, fault| {
        script.otherwise(reply::fault(fault))
    });
    let written = serde_json::to_string(&script).unwrap();
    assert_eq!(serde_json::from_str::<Script>(&written).unwrap(), script);
}

#[test]
fn a_misspelt_field_is_refused() {
    for text in [
        r#"{"rules": [], "rule": []}"#,
        r#"{"rules": [{"reply": {}, "time": 1}]}"#,
        r#"{"rules": [{"reply": {"part": []}}]}"#,
        r#"{"rules": [{"when": {"promt_contains": "x"}, "reply": {}}]}"#,
        r#"{"rules": [{"reply": {"fault": "cut"}}]}"#,
        r#"{"rules": [{"reply": {"parts": [{"call": {"tool": "T", "arguments": {}, "args": {}}}]}}]}"#,
    ] {
        assert!(serde_json::from_str::<Script>(text).is_err(), "{text}");
    }
}
