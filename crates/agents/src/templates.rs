//! Templates: reusable prompts that a prompt can call by name.
//!
//! Expansion inserts values unchanged, once: a placeholder inside a value is plain text.

mod argument_values;
mod body;
mod builtin;
mod call;
mod error;
mod read_template;
mod template;
mod template_lines;

use sortie_protocol::{Failure, FailureCode, TaskRequest, nearest, nearest_few};

pub use self::argument_values::Given;
pub use self::error::{TemplateError, UnknownTemplate};
pub use self::template::{Argument, Template};
pub use self::template_lines::template_lines;

use self::body::is_name_like;
use self::read_template::{TemplateReading, read_template};
use crate::definition::{Finding, Scope, Severity, TemplateFile, Weight};

/// The known templates, by name.
#[derive(Debug, Clone, Default)]
pub struct Templates {
    templates: Vec<Template>,
    /// Names of files that do not count, and the reasons.
    absent: Vec<(String, Finding)>,
}

impl Templates {
    /// Collects the templates of the given files, and findings about them.
    ///
    /// A trusted project's template wins over a user's, and that over a built-in one. One of an untrusted project can
    /// be used, but replaces neither. A broken file keeps its name: then the name has no template, and the error says
    /// why. The order of the files does not matter.
    pub fn assemble(mut files: Vec<TemplateFile>) -> (Self, Vec<Finding>) {
        files.sort_by(|left, right| (standing(left), &left.path).cmp(&(standing(right), &right.path)));
        let (mut templates, mut findings, mut claims) = (Self::default(), Vec::new(), Vec::<Claim<'_>>::new());
        for file in &files {
            let TemplateReading { name, template, findings: found } = read_template(file);
            let error = found.iter().find(|finding| finding.is_error()).cloned();
            findings.extend(found);
            if let Some(claim) = claims.iter().find(|claim| claim.name == name) {
                let refused = claim.against(file, &name);
                templates.absent.extend(refused.clone().map(|finding| (name, finding)));
                findings.extend(refused);
                continue;
            }
            claims.push(Claim { name: name.clone(), file });
            templates.templates.extend(template);
            templates.absent.extend(error.map(|error| (name, error)));
        }
        templates.templates.sort_by(|left, right| left.name.cmp(&right.name));
        (templates, findings)
    }

    /// The built-in templates, and those of the given files, as [`Self::assemble`] does.
    pub(crate) fn with_builtin(files: Vec<TemplateFile>) -> (Self, Vec<Finding>) {
        Self::assemble(files.into_iter().chain(builtin::files()).collect())
    }

    /// All templates, ordered by name.
    pub fn all(&self) -> &[Template] {
        &self.templates
    }

    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    pub fn get(&self, name: &str) -> Result<&Template, UnknownTemplate> {
        self.templates.iter().find(|template| template.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.templates.iter().map(|template| template.name.as_str()).collect();
            let near = nearest_few(name, names.iter().copied(), usize::MAX);
            let others = names.iter().filter(|name| !near.contains(name));
            let absent = self.absent.iter().filter(|(absent, _)| absent == name);
            UnknownTemplate {
                asked: name.to_owned(),
                known: near.iter().chain(others).map(|name| (*name).to_owned()).collect(),
                absent: absent.map(|(_, finding)| finding.clone()).collect(),
            }
        })
    }

    /// Expands a prompt `/NAME …` that names a template; returns other requests unchanged. The template's agent and
    /// model apply if the request names none. A notice reports that a template was used, or that the name is close to
    /// one.
    pub fn applied(&self, mut request: TaskRequest, most_bytes: usize) -> Result<TaskRequest, Failure> {
        let Some((name, rest)) = call::head(&request.prompt) else { return Ok(request) };
        if !self.knows(name) {
            let notice = self.almost(name);
            request.notices.extend(notice);
            return Ok(request);
        }
        let template = self.get(name).map_err(|error| Failure::new(FailureCode::UnknownTemplate, error.to_string()))?;
        let expanded = call::given(rest).and_then(|given| template.expand(&given, most_bytes));
        let prompt = expanded.map_err(|error| failure(&error))?;
        Ok(template.serving(TaskRequest { prompt, ..request }))
    }

    /// Notice for an unknown name close to a template's. A path is not a name.
    fn almost(&self, name: &str) -> Option<String> {
        let known = self.all().iter().map(|template| template.name.as_str());
        let near = nearest(name, known.filter(|_| is_name_like(name)))?;
        Some(format!("there is no template `{name}`, so the prompt stays as it is; did you mean `/{near}`?"))
    }

    /// True if a file has this name, valid or not.
    fn knows(&self, name: &str) -> bool {
        self.templates.iter().any(|template| template.name == name)
            || self.absent.iter().any(|(absent, _)| absent == name)
    }
}

fn failure(error: &TemplateError) -> Failure {
    match error {
        TemplateError::TooLong { .. } => {
            Failure::new(FailureCode::PromptTooLong, error.to_string()).due_to("task_tool.max_prompt_bytes")
        }
        _ => Failure::new(FailureCode::TemplateArguments, error.to_string()),
    }
}

/// Precedence of a file, lowest first.
fn standing(file: &TemplateFile) -> u8 {
    match (file.scope, file.trusted) {
        (Scope::Project, true) => 0,
        (Scope::User, _) => 1,
        (Scope::Builtin, _) => 2,
        (Scope::Project, false) => 3,
    }
}

/// The first file to claim a name.
struct Claim<'a> {
    name: String,
    file: &'a TemplateFile,
}

impl Claim<'_> {
    /// Finding about a later file of the same name, which does not count. A user's file behind a trusted project's
    /// needs none.
    fn against(&self, file: &TemplateFile, name: &str) -> Option<Finding> {
        let (severity, weight, message, fix) = if self.file.scope == file.scope {
            let message = format!("`{name}` is already defined in {}", self.file.path);
            (Severity::Error, Weight::Ordinary, message, "rename one of the two, or delete it")
        } else if file.scope == Scope::Project {
            let whose = if self.file.scope == Scope::Builtin { "a built-in template" } else { "a template of yours" };
            let message = format!("`{name}` is {whose}, so this project's file is set aside");
            let fix = "review the file, then run `sortie trust`; or give it a name of its own";
            (Severity::Warning, Weight::SetAside, message, fix)
        } else {
            return None;
        };
        Some(Finding { severity, weight, path: file.path.clone(), line: None, message, fix: fix.to_owned() })
    }
}
