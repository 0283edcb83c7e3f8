//! Ids, limits and usage.

use std::time::Duration;

use sortie_protocol::{CallId, Compaction, Limits, Stub, Summary, TaskId, Usage};

#[test]
fn task_ids_read_with_and_without_their_prefix_and_nothing_else_reads() {
    let id: TaskId = "agent-abcdefghijkl".parse().expect("a whole id");
    assert_eq!("abcdefghijkl".parse(), Ok(id));
    assert_eq!(id.to_string(), "agent-abcdefghijkl");
    for wrong in [
        "",
        "agent-",
        "agent-abc",
        "agent-ABCDEFGHIJKL",
        "agent-abcdefghijk1",
        "agent-abcdefghijklm",
        "../../etc/passwd",
    ] {
        assert!(wrong.parse::<TaskId>().is_err(), "{wrong:?} is not an id");
    }
}

#[test]
fn a_limit_can_only_be_tightened() {
    let wide = Limits { max_turns: Some(30), timeout: Some(Duration::from_mins(5)), ..Limits::default() };
    let asked = Limits { max_turns: Some(100), max_tokens: Some(5), ..Limits::default() };
    let timeout = Some(Duration::from_mins(5));
    let expected = Limits { max_turns: Some(30), max_tokens: Some(5), timeout, ..Limits::default() };
    assert_eq!(wide.tighter(asked), expected);
    assert_eq!(asked.tighter(wide), expected);
}

#[test]
fn huge_usage_saturates_instead_of_wrapping() {
    let mut usage = Usage { input_tokens: u64::MAX, output_tokens: 1, ..Usage::default() };
    assert_eq!(usage.total_tokens(), u64::MAX);
    usage += Usage { input_tokens: 5, ..Usage::default() };
    assert_eq!(usage.input_tokens, u64::MAX);
}

#[test]
fn a_compaction_describes_its_extent() {
    let stub = |n: usize| Stub { call: CallId(format!("call_{n}")), text: "[left out]".to_owned() };
    let summary = |turns| Some(Summary { messages: 2 * turns, turns, text: "In short.".to_owned() });
    let told = |n_stubs, summary| Compaction { stubs: (0..n_stubs).map(stub).collect(), summary }.to_string();
    assert_eq!(told(12, None), "conversation shortened: 12 outputs");
    assert_eq!(told(1, summary(3)), "conversation shortened: 1 output, 3 turns");
    assert_eq!(told(0, summary(1)), "conversation shortened: 1 turn");
}
