//! The support table of the wires: it must match `docs/wires.md` and the requests really sent.

use std::fmt::Write as _;

use expect_test::expect_file;
use sortie_llm::wire::{Support, for_kind, support};
use sortie_llm::{ModelRequest, ToolChoice, WireKind};
use sortie_protocol::{Message, ToolOutput};

use crate::fixture::{call, outputs, reply, request, route, text, thinking, tools};

const HEAD: &str = "\
# Wires

Features of each wire as it is spoken here; a provider may do more. A test writes this page from the table in
`crates/llm/src/wire/support.rs` and fails if they differ.

";

const NOTES: &str = "
- A file that a wire does not carry is never dropped silently: the output's text names it, with its type and size.
- If a wire cannot mark a failed output, the output's text begins with `Error: `.
- Reasoning goes back unchanged, and only to the wire that wrote it.
- Without cache marks the provider finds the common prefix by itself, which works because requests only grow.
- Missing or implausible usage is replaced by a high estimate from sizes, and the outcome says for how many calls.
  Implausible is more output than twice the cap, more input than the window or four times what was sent, or less than a
  token for each sixteen letters.
- A failed try counts with what its provider had reported by then, without an estimate. Anthropic reports the input at
  once, and Gemini everything with each event. OpenAI reports at the end, so a failed try counts nothing there.
";

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn listed(types: &[&str]) -> String {
    if types.is_empty() { "no".to_owned() } else { types.join(", ") }
}

/// A row of the table: its title, and its cell for a wire.
type Row = (&'static str, fn(&Support) -> String);

const ROWS: [Row; 10] = [
    ("Images in tool outputs", |support| listed(support.output_images)),
    ("Documents in tool outputs", |support| listed(support.output_documents)),
    ("Failed outputs are marked", |support| yes_or_no(support.failure_mark)),
    ("Failed outputs may bring files", |support| yes_or_no(support.files_in_failures)),
    ("Several calls in one reply", |support| yes_or_no(support.parallel_calls)),
    ("Calls can be forbidden while the tools stay", |support| yes_or_no(support.tool_choice_none)),
    ("Reasoning goes back", |support| yes_or_no(support.reasoning_replayed)),
    ("Reasoning is sealed (signed or encrypted)", |support| yes_or_no(support.reasoning_sealed)),
    ("Cache marks", |support| yes_or_no(support.cache_marks)),
    ("Usage in the stream", |support| yes_or_no(support.usage_in_stream)),
];

#[test]
fn docs_wires_md_matches_the_table() {
    let mut page = HEAD.to_owned();
    let names = WireKind::ALL.map(|wire| format!("`{wire}`")).join(" | ");
    writeln!(page, "| | {names} |\n| --- |{}", " --- |".repeat(WireKind::ALL.len())).unwrap();
    for (about, say) in ROWS {
        let cells = WireKind::ALL.map(|wire| say(&support(wire))).join(" | ");
        writeln!(page, "| {about} | {cells} |").unwrap();
    }
    page.push_str(NOTES);
    expect_file!["../../../../docs/wires.md"].assert_eq(&page);
}

fn sent(wire: WireKind, request: &ModelRequest<'_>) -> String {
    let encoded = for_kind(wire).encode(&route(wire, "https://host.example"), request).unwrap();
    String::from_utf8(encoded.body.to_vec()).unwrap()
}

/// The request of a wire for a turn with one output.
fn turn(wire: WireKind, output: ToolOutput) -> String {
    let messages = [
        Message::user("Where is it?"),
        reply(vec![thinking(wire), text("One look."), call("call_1", "Read", "{}")]),
        outputs(vec![("call_1", output)]),
    ];
    sent(wire, &request(&tools(), &messages))
}

#[test]
fn requests_match_the_table() {
    for wire in WireKind::ALL {
        let support = support(wire);
        let failed = turn(wire, ToolOutput::failure("no such file"));
        assert_eq!(failed.contains("Error: no such file"), !support.failure_mark, "{wire}: {failed}");
        let done = turn(wire, ToolOutput::done("no such file", ""));
        assert_ne!(failed, done, "{wire}: a failure is marked in some way");
        let verbatim = turn(wire, ToolOutput { verbatim: true, ..ToolOutput::failure("no such file") });
        assert!(!verbatim.contains("Error: "), "{wire}: a form of its own needs no mark: {verbatim}");
        assert_eq!(done.contains("Hm. Größe?"), support.reasoning_replayed, "{wire}: {done}");
        assert_eq!(done.contains("cache_control"), support.cache_marks, "{wire}: {done}");

        let (tools, messages) = (tools(), [Message::user("Where is it?")]);
        let auto = request(&tools, &messages);
        let none = ModelRequest { tool_choice: ToolChoice::None, ..auto };
        assert_eq!(sent(wire, &none) != sent(wire, &auto), support.tool_choice_none, "{wire}");
    }
}
