//! A digest of a sub-agent's outcome: equal outcomes have equal digests.
//!
//! The engine compares digests to notice repetition. People and models never see them.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sortie_contract::Answer;

/// Bytes of the digest to keep: enough for the few that one task compares.
const BYTES: usize = 8;

/// Digests the status and its reason, and the report as delivered. Ids, figures, notices and the file of a shortened
/// report do not count. If the call started nobody, the refusal is digested.
pub fn essence(answer: Answer<'_>) -> String {
    let mut told: Value = match answer {
        Ok(outcome) => {
            let kept = outcome.truncation.and_then(|truncation| outcome.text.get(..truncation.kept_bytes));
            let code = outcome.error.as_ref().map(|error| &error.code);
            json!([outcome.status, outcome.reason, code, kept.unwrap_or(&outcome.text), outcome.structured])
        }
        // Its message says how long to wait; a retry has another result by itself.
        Err(failure) if failure.code == sortie_protocol::FailureCode::DelegationRate => {
            json!([failure.code, failure.message])
        }
        Err(failure) => json!(failure.code),
    };
    // The order of keys says nothing.
    told.sort_all_objects();
    let digest = Sha256::digest(told.to_string());
    digest.iter().take(BYTES).fold(String::new(), |word, byte| word + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use sortie_protocol::{Failure, FailureCode, TaskId, TaskOutcome, Truncation, Usage};

    use super::*;

    fn outcome(text: &str) -> TaskOutcome {
        let told = json!({
            "task_id": TaskId::from_random([0; 12]), "agent": "explore", "status": "completed", "text": text,
            "tool_summary": [], "model": {"route": "main", "id": "m"}, "usage": {},
        });
        serde_json::from_value(told).expect("an outcome")
    }

    #[test]
    fn ids_figures_and_the_file_of_the_whole_report_do_not_count() {
        let cut = |path: &str| {
            let text = format!("It is in a.rs.\n[… the report was cut here; the whole is in {path}]");
            let kept = Truncation { original_lines: 9, original_bytes: 99, kept_lines: 1, kept_bytes: 14 };
            TaskOutcome { truncation: Some(kept), full_text_path: Some(path.to_owned()), ..outcome(&text) }
        };
        let other = TaskOutcome {
            task_id: TaskId::from_random([1; 12]),
            usage: Usage { duration_ms: 4711, output_tokens: 12, ..Usage::default() },
            ..cut("/reports/b.md")
        };
        assert_eq!(essence(Ok(&cut("/reports/a.md"))), essence(Ok(&other)));
    }

    #[test]
    fn another_report_status_or_reason_is_another_outcome() {
        let first = outcome("It is in a.rs.");
        let mut others = vec![outcome("It is in b.rs."), first.clone(), first.clone(), first.clone()];
        others[1].status = sortie_protocol::Status::Partial;
        others[2].reason = Some(sortie_protocol::Limit::Turns);
        others[3].structured = Some(json!({"line": 3}));
        for other in &others {
            assert_ne!(essence(Ok(&first)), essence(Ok(other)), "{other:?}");
        }
        let value = |value: &str| TaskOutcome { structured: serde_json::from_str(value).ok(), ..first.clone() };
        let (one, other) = (value(r#"{"line": 3, "file": "a.rs"}"#), value(r#"{"file": "a.rs", "line": 3}"#));
        assert_eq!(essence(Ok(&one)), essence(Ok(&other)), "in another order of keys");
        let refused = |code: &str, message: &str| essence(Err(&Failure::new(FailureCode::read(code), message)));
        assert_eq!(refused("unknown_agent", "`x`; there are a, b"), refused("unknown_agent", "`x`; there are b, a"));
        assert_ne!(refused("unknown_agent", "m"), refused("depth", "m"));
        assert_ne!(refused("delegation_rate", "try again in 12 s"), refused("delegation_rate", "try again in 9 s"));
    }
}
