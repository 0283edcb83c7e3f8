//! Collecting findings about one file, each with the severity that the file's dialect gives it.

use std::borrow::Cow;

use super::hidden;
use crate::{AgentFile, Dialect, Finding, Scope, Severity, Weight};

/// Why a whole file, or a whole value, cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Defect {
    /// Counts from 1; `None` when it concerns the file as a whole.
    pub(super) line: Option<usize>,
    pub(super) message: String,
    pub(super) fix: &'static str,
}

pub(super) struct Report<'a> {
    file: &'a AgentFile,
    last_line: usize,
    findings: Vec<Finding>,
}

impl<'a> Report<'a> {
    pub(super) fn new(file: &'a AgentFile) -> Self {
        Self { file, last_line: usize::MAX, findings: Vec::new() }
    }

    /// A parser may point behind the end of its text; a finding points into the file.
    pub(super) fn set_last_line(&mut self, last_line: usize) {
        self.last_line = last_line;
    }

    pub(super) fn is_ours(&self) -> bool {
        self.file.dialect == Dialect::Ours
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.file.dialect
    }

    /// Whether the file is a project's and nobody vouched for it.
    pub(super) fn is_untrusted(&self) -> bool {
        self.file.scope == Scope::Project && !self.file.trusted
    }

    pub(super) fn into_findings(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| finding.line);
        self.findings
    }

    pub(super) fn defect(&mut self, defect: Defect) {
        self.push(Severity::Error, defect.line, defect.message.into(), defect.fix.into());
    }

    /// A value that is not YAML, and was read all the same.
    pub(super) fn tolerated(&mut self, defect: Defect) {
        self.push(Severity::Warning, defect.line, defect.message.into(), defect.fix.into());
    }

    pub(super) fn error(
        &mut self,
        line: usize,
        message: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) {
        self.push(Severity::Error, Some(line), message.into(), fix.into());
    }

    pub(super) fn warning(
        &mut self,
        line: usize,
        message: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) {
        self.push(Severity::Warning, Some(line), message.into(), fix.into());
    }

    /// An error in our dialect, a warning in the foreign one.
    pub(super) fn strict(
        &mut self,
        line: usize,
        message: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) {
        let severity = if self.is_ours() { Severity::Error } else { Severity::Warning };
        self.push(severity, Some(line), message.into(), fix.into());
    }

    /// A prompt may hold any text, but its reader should know what the eye does not see.
    pub(super) fn hidden_in_prompt(&mut self, what: &str, line: usize, character: char) {
        let message = format!("{what} has characters that cannot be seen, here {}", hidden::code(character));
        self.warning(line, message, "delete them, unless you know why they are there");
    }

    /// Something that concerns the file as a whole.
    pub(super) fn missing(&mut self, key: &str) {
        let message = format!("`{key}` is missing");
        self.push(Severity::Error, None, message.into(), format!("add a line `{key}: …` to the front matter").into());
    }

    fn push(&mut self, severity: Severity, line: Option<usize>, message: Cow<'static, str>, fix: Cow<'static, str>) {
        let line = line.map(|line| line.clamp(1, self.last_line));
        let (message, fix) = (message.into_owned(), fix.into_owned());
        let (weight, path) = (Weight::Ordinary, self.file.path.clone());
        self.findings.push(Finding { severity, weight, path, line, message, fix });
    }
}
