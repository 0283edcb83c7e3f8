//! N15: the earlier contents of the workspace are still there, and differ only by the changes of calls.
//!
//! By agreement with the script: no two edits insert the same text, so that each can be undone.

use std::collections::HashMap;

use serde_json::Value;
use sortie_protocol::Fact;

use super::{Evidence, Findings};

/// Changes requested for one file by the calls of a run.
#[derive(Default)]
struct Asked {
    /// True if it may have been replaced as a whole.
    is_written: bool,
    /// The text that each edit removes, and the text that it inserts.
    edits: Vec<(String, String)>,
}

pub(super) fn check(evidence: &Evidence, findings: &mut Findings) {
    let asked = asked(evidence);
    let nothing = Asked::default();
    for (path, kept) in &evidence.kept {
        findings.count.kept += 1;
        let Some(now) = &kept.now else {
            findings.breach(format!("N15 {path} was there before and is gone"));
            continue;
        };
        let (before, asked) = (&kept.before, asked.get(path.as_str()).unwrap_or(&nothing));
        findings.expect(now.mode == before.mode, || {
            format!("N15 {path} had the mode {:o} and has {:o}", before.mode, now.mode)
        });
        findings.expect(asked.is_written || asked.undo(&now.bytes) == before.bytes, || {
            format!("N15 {path} differs from what it was by more than calls have put in")
        });
    }
}

/// All requested changes to files, whatever their results.
fn asked(evidence: &Evidence) -> HashMap<String, Asked> {
    let mut asked: HashMap<String, Asked> = HashMap::new();
    for event in evidence.tasks.iter().flat_map(|task| &task.events) {
        let Fact::ModelReplied { reply, .. } = &event.fact else { continue };
        for call in reply.calls() {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            let Some(path) = arguments["file_path"].as_str() else { continue };
            let file = asked.entry(path.to_owned()).or_default();
            match call.tool.as_str() {
                "Write" => file.is_written = true,
                "Edit" => file.edits.extend(edit(&arguments)),
                "MultiEdit" => file.edits.extend(arguments["edits"].as_array().into_iter().flatten().filter_map(edit)),
                _ => {}
            }
        }
    }
    asked
}

fn edit(arguments: &Value) -> Option<(String, String)> {
    Some((arguments["old_string"].as_str()?.to_owned(), arguments["new_string"].as_str()?.to_owned()))
}

impl Asked {
    /// Returns the file without the edits that are in it.
    fn undo(&self, bytes: &[u8]) -> Vec<u8> {
        if self.edits.is_empty() {
            return bytes.to_vec();
        }
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for (old, new) in &self.edits {
            text = text.replacen(new, old, 1);
        }
        text.into_bytes()
    }
}
