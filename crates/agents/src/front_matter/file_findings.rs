//! Collects findings about one file, each with the severity that the file's dialect gives it.

use std::borrow::Cow;

use crate::definition::{AgentFile, Dialect, Finding, Scope, Severity, Weight};
use crate::text::hidden_characters;

/// Reason why a whole file, or a whole value, cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Defect {
    /// Counts from 1; `None` if it concerns the file as a whole.
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
    pub(crate) fix: &'static str,
}

pub(crate) struct FileFindings<'a> {
    file: &'a AgentFile,
    last_line: usize,
    findings: Vec<Finding>,
}

impl<'a> FileFindings<'a> {
    pub(crate) fn new(file: &'a AgentFile) -> Self {
        Self { file, last_line: usize::MAX, findings: Vec::new() }
    }

    /// A parser may point past the end of its text; a finding points into the file.
    pub(crate) fn set_last_line(&mut self, last_line: usize) {
        self.last_line = last_line;
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.file.dialect == Dialect::Ours
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.file.dialect
    }

    /// True for an untrusted project file.
    pub(crate) fn is_untrusted(&self) -> bool {
        self.file.scope == Scope::Project && !self.file.trusted
    }

    pub(crate) fn into_findings(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| finding.line);
        self.findings
    }

    pub(crate) fn defect(&mut self, defect: Defect) {
        self.push(Severity::Error, defect.line, defect.message.into(), defect.fix.into());
    }

    /// Reports a value that is not YAML, and was accepted anyway.
    pub(crate) fn tolerated(&mut self, defect: Defect) {
        self.push(Severity::Warning, defect.line, defect.message.into(), defect.fix.into());
    }

    pub(crate) fn error(
        &mut self,
        line: usize,
        message: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) {
        self.push(Severity::Error, Some(line), message.into(), fix.into());
    }

    pub(crate) fn warning(
        &mut self,
        line: usize,
        message: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) {
        self.push(Severity::Warning, Some(line), message.into(), fix.into());
    }

    /// An error in our dialect, a warning in the foreign one.
    pub(crate) fn strict(
        &mut self,
        line: usize,
        message: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) {
        let severity = if self.is_ours() { Severity::Error } else { Severity::Warning };
        self.push(severity, Some(line), message.into(), fix.into());
    }

    /// A prompt may contain any text, but its reader should know about invisible characters.
    pub(crate) fn hidden_in_prompt(&mut self, what: &str, line: usize, character: char) {
        let message = format!("{what} has invisible characters, here {}", hidden_characters::code(character));
        self.warning(line, message, "delete them, unless you know why they are there");
    }

    /// Reports a missing key.
    pub(crate) fn missing(&mut self, key: &str) {
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
