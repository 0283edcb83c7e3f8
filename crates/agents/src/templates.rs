//! Templates: tasks that someone has put into words once, and that a prompt can call by name.
//!
//! Expanding puts the values in as they are, once: what looks like a place in a value is text.

mod argument_values;
mod body;
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
    /// Names of files that do not count, and why.
    absent: Vec<(String, Finding)>,
}

impl Templates {
    /// The templates of the given files, and what is wrong with those.
    ///
    /// A trusted project's template wins over a user's. One of a project that nobody vouched for can be used, but not
    /// in the place of a user's. A broken file that has a name keeps it: then nobody has it, and whoever asks is told
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

    /// All of them, in the order of their names.
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

    /// The request as it is, or, where its prompt is `/NAME …` with the name of a template, with what that becomes. The
    /// template's agent and model serve where the request names none. That a template was used is among the notices,
    /// and so is that none was, where the name is almost one of theirs.
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

    /// What to say of a name that no template has, if one was meant. A path is no name.
    fn almost(&self, name: &str) -> Option<String> {
        let known = self.all().iter().map(|template| template.name.as_str());
        let near = nearest(name, known.filter(|_| is_name_like(name)))?;
        Some(format!("there is no template `{name}`, so the prompt stays as it is; did you mean `/{near}`?"))
    }

    /// Whether a file has this name, sound or not.
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

/// Whose word counts first.
fn standing(file: &TemplateFile) -> u8 {
    match (file.scope, file.trusted) {
        (Scope::Project, true) => 0,
        (Scope::Builtin | Scope::User, _) => 1,
        (Scope::Project, false) => 2,
    }
}

/// A name that a file has.
struct Claim<'a> {
    name: String,
    file: &'a TemplateFile,
}

impl Claim<'_> {
    /// What there is to say of a later file of the name, which does not count. Being further away is in order.
    fn against(&self, file: &TemplateFile, name: &str) -> Option<Finding> {
        let (severity, weight, message, fix) = if self.file.scope == file.scope {
            let message = format!("`{name}` is already defined in {}", self.file.path);
            (Severity::Error, Weight::Ordinary, message, "rename one of the two, or delete it")
        } else if file.scope == Scope::Project {
            let message = format!("`{name}` is a template of yours, so this project's file is set aside");
            let fix = "look at the file, then run `sortie trust`; or give it a name of its own";
            (Severity::Warning, Weight::SetAside, message, fix)
        } else {
            return None;
        };
        Some(Finding { severity, weight, path: file.path.clone(), line: None, message, fix: fix.to_owned() })
    }
}
