//! The list of statements, read from its file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Capabilities that a statement may wait for. Nothing else is a reason for having no test.
const CAPABILITIES: [&str; 9] =
    ["permissions", "shell", "background", "resume", "limits", "mcp", "screen", "fleet", "real model"];
/// Commands that check statements out of reach of our tests. The page names them as the ones to run; no statement
/// counts as passed because of them.
const OTHER_CHECKS: [&str; 2] = ["cargo xtask coverage", "cargo xtask practice"];
/// Must, may, deferred, future, guidance, information.
const LEVELS: [&str; 6] = ["M", "O", "D", "F", "G", INFORMATION];
const INFORMATION: &str = "I";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statements {
    pub(super) designs: Vec<Design>,
    /// Statements by id: `S2-35`.
    pub(super) statements: BTreeMap<String, Statement>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Design {
    pub(super) id: String,
    pub(super) title: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement {
    pub(super) level: String,
    pub(super) says: String,
    pub(super) waits_for: Option<String>,
    /// The command that checks it, where a test cannot.
    pub(super) checked_by: Option<String>,
    #[serde(default)]
    pub(super) informative: bool,
}

impl Statements {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", path.display()))
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let statements: Self = toml::from_str(text)?;
        for (id, statement) in &statements.statements {
            let Some((design, _)) = id.split_once('-') else { bail!("`{id}` is not an id like S2-35") };
            if !statements.designs.iter().any(|known| known.id == design) {
                bail!("{id}: there is no design {design}");
            }
            statement.check().with_context(|| id.clone())?;
        }
        Ok(statements)
    }

    /// Statements of one design, in order.
    pub(super) fn of<'a>(&'a self, design: &'a Design) -> impl Iterator<Item = (&'a str, &'a Statement)> {
        let own = move |id: &str| id.split_once('-').is_some_and(|(name, _)| name == design.id);
        self.statements.iter().map(|(id, statement)| (id.as_str(), statement)).filter(move |(id, _)| own(id))
    }
}

impl Statement {
    fn check(&self) -> Result<()> {
        if !LEVELS.contains(&self.level.as_str()) {
            bail!("the level `{}` is none of {}", self.level, LEVELS.join(", "));
        }
        if self.informative != (self.level == INFORMATION) {
            bail!("`informative` goes with the level {INFORMATION}, and with no other");
        }
        let reasons = [self.waits_for.is_some(), self.checked_by.is_some(), self.informative];
        if reasons.into_iter().filter(|&given| given).count() > 1 {
            bail!("one reason for having no test is enough");
        }
        known(self.waits_for.as_deref(), &CAPABILITIES)?;
        known(self.checked_by.as_deref(), &OTHER_CHECKS)
    }
}

/// Refuses a reason that is not on the list.
fn known(reason: Option<&str>, list: &[&str]) -> Result<()> {
    match reason {
        Some(reason) if !list.contains(&reason) => bail!("`{reason}` is none of {}", list.join(", ")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(statement: &str) -> Result<Statements> {
        Statements::parse(&format!("[[designs]]\nid = \"S2\"\ntitle = \"t\"\n[statements]\n{statement}\n"))
    }

    #[test]
    fn every_statement_of_the_designs_is_on_the_list() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let list = Statements::read(&root.join(super::super::LIST)).unwrap();
        let counts: Vec<(&str, usize)> =
            list.designs.iter().map(|design| (design.id.as_str(), list.of(design).count())).collect();
        assert_eq!(counts, [("S0", 71), ("P", 15), ("S1", 46), ("S2", 88), ("S3", 57), ("S4", 27)]);
        for design in &list.designs {
            for (number, (id, _)) in list.of(design).enumerate() {
                assert_eq!(id, format!("{}-{:02}", design.id, number + 1), "without gaps");
            }
        }
    }

    #[test]
    fn a_statement_waits_for_a_known_capability_only() {
        assert!(read(r#"S2-01 = { level = "M", says = "x", waits_for = "shell" }"#).is_ok());
        let error = read(r#"S2-01 = { level = "M", says = "x", waits_for = "better times" }"#).unwrap_err();
        assert!(format!("{error:#}").starts_with("S2-01: `better times` is none of permissions, "), "{error:#}");
    }

    #[test]
    fn the_commands_that_check_statements_exist() {
        for check in OTHER_CHECKS {
            let name = check.strip_prefix("cargo xtask ").unwrap();
            assert!(crate::command(name).is_some(), "{check}");
        }
        assert!(crate::command("wishful-thinking").is_none());
    }

    #[test]
    fn only_a_known_command_checks_a_statement() {
        assert!(read(r#"S2-01 = { level = "M", says = "x", checked_by = "cargo xtask coverage" }"#).is_ok());
        assert!(read(r#"S2-01 = { level = "M", says = "x", checked_by = "eye" }"#).is_err());
        let both = r#"S2-01 = { level = "M", says = "x", checked_by = "cargo xtask coverage", waits_for = "shell" }"#;
        assert!(read(both).is_err());
    }

    #[test]
    fn no_statement_can_be_called_not_binding() {
        assert!(read(r#"S2-01 = { level = "M", says = "x", not_bound = "too hard" }"#).is_err());
    }

    #[test]
    fn only_information_is_informative() {
        assert!(read(r#"S2-01 = { level = "I", says = "x", informative = true }"#).is_ok());
        assert!(read(r#"S2-01 = { level = "M", says = "x", informative = true }"#).is_err());
        assert!(read(r#"S2-01 = { level = "I", says = "x" }"#).is_err());
    }

    #[test]
    fn a_statement_belongs_to_a_design() {
        assert!(read(r#"S9-01 = { level = "M", says = "x" }"#).is_err());
    }
}
