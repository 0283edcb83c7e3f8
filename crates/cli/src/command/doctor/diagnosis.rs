//! A diagnosis: subject, health, finding and advice.

use serde_json::{Value, json};

use crate::text::table;

/// Health of one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Health {
    Ok,
    /// Works, but not as the user may expect.
    Warning,
    /// Does not work.
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnosis {
    /// Subject of the check, in one word or two.
    pub(super) subject: String,
    pub(super) health: Health,
    /// Finding.
    pub(super) text: String,
    /// Next step, if there is one.
    pub(super) advice: Option<String>,
}

impl Health {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Diagnosis {
    pub(super) fn ok(subject: impl Into<String>, text: impl Into<String>) -> Self {
        Self { subject: subject.into(), health: Health::Ok, text: text.into(), advice: None }
    }

    pub(super) fn warning(subject: impl Into<String>, text: impl Into<String>, advice: impl Into<String>) -> Self {
        let (subject, text) = (subject.into(), text.into());
        Self { subject, health: Health::Warning, text, advice: Some(advice.into()).filter(|advice| !advice.is_empty()) }
    }

    pub(super) fn error(subject: impl Into<String>, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { health: Health::Error, ..Self::warning(subject, text, advice) }
    }

    fn object(&self) -> Value {
        let mut object = json!({"subject": self.subject, "health": self.health.word(), "text": self.text});
        if let Some(advice) = &self.advice {
            object["advice"] = json!(advice);
        }
        object
    }
}

/// One line for each diagnosis, and a summary.
pub(super) fn text(diagnoses: &[Diagnosis]) -> String {
    let row = |diagnosis: &Diagnosis| {
        let Diagnosis { subject, health, text, advice } = diagnosis;
        let advice = advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
        [health.word().to_owned(), subject.clone(), format!("{text}{advice}")]
    };
    let rows: Vec<[String; 3]> = diagnoses.iter().map(row).collect();
    format!("{}\n{}\n", table(&rows), sum(diagnoses))
}

fn sum(diagnoses: &[Diagnosis]) -> String {
    let count = |health: Health| diagnoses.iter().filter(|diagnosis| diagnosis.health == health).count();
    let counted = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    match (count(Health::Error), count(Health::Warning)) {
        (0, 0) => "everything works".to_owned(),
        (0, warnings) => format!("everything works, with {}", counted(warnings, "warning")),
        (errors, 0) => counted(errors, "error"),
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    }
}

pub(super) fn object(diagnoses: &[Diagnosis]) -> Value {
    let checks: Value = diagnoses.iter().map(Diagnosis::object).collect();
    json!({"broken": is_broken(diagnoses), "checks": checks})
}

/// True if something does not work.
pub(super) fn is_broken(diagnoses: &[Diagnosis]) -> bool {
    diagnoses.iter().any(|diagnosis| diagnosis.health == Health::Error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn each_diagnosis_is_one_line_and_the_last_line_sums_them_up() {
        let good = Diagnosis::ok("journal", "empty");
        let odd = Diagnosis::warning("model", "none is set", "set one");
        let bad = Diagnosis::error("workspace", "it cannot\nbe read", "");
        expect![[r#"
            ok       journal    empty
            warning  model      none is set; set one
            error    workspace  it cannot be read

            1 error, 1 warning
        "#]]
        .assert_eq(&text(&[good.clone(), odd.clone(), bad]));
        assert!(text(std::slice::from_ref(&good)).ends_with("\neverything works\n"));
        assert!(text(&[good, odd]).ends_with("\neverything works, with 1 warning\n"));
    }

    #[test]
    fn json_has_the_same_diagnoses_and_an_overall_verdict() {
        let diagnoses = [Diagnosis::ok("a", "x"), Diagnosis::error("b", "y", "z")];
        expect![[r#"{"broken":true,"checks":[{"subject":"a","health":"ok","text":"x"},{"subject":"b","health":"error","text":"y","advice":"z"}]}"#]]
            .assert_eq(&object(&diagnoses).to_string());
    }
}
