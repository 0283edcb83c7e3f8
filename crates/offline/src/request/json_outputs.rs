//! JSON outputs of tools, turned into the text that these tools write under other contracts.
//!
//! This file knows no contract, only two shapes. One is `data` with a payload under one of the known names. The other
//! is a report or an error among the fields of a sub-agent's result.

use std::borrow::Cow;

use serde_json::Value;
use sortie_protocol::ToolOutput;

/// Returns an output as lines. Any other output is returned unchanged.
pub(super) fn text(output: &ToolOutput) -> Cow<'_, str> {
    let as_it_is = Cow::Borrowed(output.for_model.as_str());
    if !output.verbatim {
        return as_it_is;
    }
    match serde_json::from_str::<Value>(&output.for_model) {
        Ok(object) if object["data"].is_object() => Cow::Owned(lines(&object)),
        Ok(object) if is_result(&object) => report(&object).map_or(as_it_is, Cow::Owned),
        _ => as_it_is,
    }
}

/// True for the result of a sub-agent: each contract has at least one of these fields.
fn is_result(object: &Value) -> bool {
    object["success"].is_boolean() || object["toolCalls"].is_u64() || object["error"].is_string()
}

/// Report of a sub-agent, else the reason why there is none. A failure may have both.
fn report(object: &Value) -> Option<String> {
    let texts = ["result", "content", "summary", "error"].iter().filter_map(|name| object[name].as_str());
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn lines(object: &Value) -> String {
    let (data, said) = (&object["data"], object["text"].as_str().unwrap_or_default());
    let texts = ["content", "result", "preview", "output"].iter().find_map(|name| data[name].as_str());
    let lists = || {
        let listed = [("paths", path as fn(&Value) -> String), ("entries", entry), ("matches", found)];
        let (items, line) = listed.iter().find_map(|(name, line)| Some((data[name].as_array()?, line)))?;
        Some(items.iter().map(line).collect::<Vec<_>>().join("\n"))
    };
    let body = texts.map(str::to_owned).or_else(lists).unwrap_or_else(|| said.to_owned());
    if object["status"] == "partial" { format!("{body}\n[{said}]") } else { body }
}

fn path(item: &Value) -> String {
    item.as_str().unwrap_or_default().to_owned()
}

fn entry(item: &Value) -> String {
    let place = path(&item["path"]);
    let name = place.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let mark = if item["type"] == "dir" { "/" } else { "" };
    format!("{name}{mark}")
}

/// Formats a match under its file's name, with the lines around it, or a file's number of matches.
fn found(item: &Value) -> String {
    let file = path(&item["file"]);
    if let Some(count) = item["count"].as_u64() {
        return format!("{file}:{count}");
    }
    let texts = |name: &str| item[name].as_array().into_iter().flatten().map(path).collect::<Vec<_>>();
    let (before, own, after) = (texts("before"), path(&item["text"]), texts("after"));
    let first = item["line"].as_u64().unwrap_or_default().saturating_sub(before.len() as u64);
    let all = before.iter().map(String::as_str).chain(own.lines()).chain(after.iter().map(String::as_str));
    (first..).zip(all).fold(file, |text, (number, line)| format!("{text}\n{number}:{line}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(object: &Value) -> String {
        let output = ToolOutput { verbatim: true, ..ToolOutput::done(object.to_string(), "") };
        text(&output).into_owned()
    }

    #[test]
    fn each_payload_reads_as_the_text_of_its_tool() {
        for (data, expected) in [
            (json!({"content": "1\tfn a() {}"}), "1\tfn a() {}"),
            (json!({"paths": ["a.rs", "src/b.rs"]}), "a.rs\nsrc/b.rs"),
            (json!({"entries": [{"path": "b/a", "type": "file"}, {"path": "b/src/", "type": "dir"}]}), "a\nsrc/"),
            (json!({"matches": [{"file": "a.rs", "line": 3, "text": "x", "count": 7}]}), "a.rs:7"),
            (
                json!({"matches": [
                    {"file": "a.rs", "line": 3, "text": "x\ny", "before": ["w"], "after": ["z"]},
                    {"file": "b.rs", "line": 1, "text": "x"},
                ]}),
                "a.rs\n2:w\n3:x\n4:y\n5:z\nb.rs\n1:x",
            ),
            (json!({"result": "Best:\na.rs:1 - it"}), "Best:\na.rs:1 - it"),
            (json!({}), "It failed."),
        ] {
            assert_eq!(read(&json!({"status": "success", "data": data, "text": "It failed."})), expected);
        }
    }

    #[test]
    fn a_partial_output_says_so_in_its_last_line() {
        let object = json!({"status": "partial", "data": {"paths": ["a"]}, "text": "first 1 file; more follow"});
        assert_eq!(read(&object), "a\n[first 1 file; more follow]");
    }

    #[test]
    fn the_report_of_every_contract_is_unpacked() {
        for (object, expected) in [
            (json!({"success": true, "result": "a.rs:1 - it", "agentId": "agent-a"}), "a.rs:1 - it"),
            (json!({"success": true, "content": "a.rs:1 - it", "shortResult": "1"}), "a.rs:1 - it"),
            (json!({"success": true, "files_modified": [], "summary": "a.rs:1 - it"}), "a.rs:1 - it"),
            (json!({"summary": "a.rs:1 - it", "toolCalls": 9, "tokens": 70}), "a.rs:1 - it"),
            (json!({"error": "It failed."}), "It failed."),
            (json!({"success": false, "result": "", "error": "It failed."}), "It failed."),
            (json!({"success": false, "result": "a.rs:1 - it", "error": "It failed."}), "a.rs:1 - it\nIt failed."),
        ] {
            assert_eq!(read(&object), expected);
        }
    }

    #[test]
    fn any_other_output_is_unchanged() {
        assert_eq!(read(&json!({"success": true, "value": "x"})), r#"{"success":true,"value":"x"}"#);
        let file = ToolOutput::done(r#"{"data":{"content":"of a file"}}"#, "");
        assert_eq!(text(&file), file.for_model, "what a tool shows of a file is never taken for its form");
    }
}
