//! Which templates there are, and which one a name means.

use sortie_protocol::nearest_few;

use super::{Template, UnknownTemplate};
use crate::read::{TemplateReading, read_template};
use crate::{Finding, Scope, Severity, TemplateFile, Weight};

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
    /// A trusted project's template wins over a user's. One of a project that nobody vouched for can be used, but not in
    /// the place of a user's. A broken file that has a name keeps it: then nobody has it, and whoever asks is told why.
    /// The order of the files does not matter.
    pub fn assemble(mut files: Vec<TemplateFile>) -> (Self, Vec<Finding>) {
        files.sort_by(|left, right| (standing(left), &left.path).cmp(&(standing(right), &right.path)));
        let (mut shelf, mut findings, mut claims) = (Self::default(), Vec::new(), Vec::<Claim<'_>>::new());
        for file in &files {
            let TemplateReading { name, template, findings: found } = read_template(file);
            let error = found.iter().find(|finding| finding.is_error()).cloned();
            findings.extend(found);
            if let Some(claim) = claims.iter().find(|claim| claim.name == name) {
                let refused = claim.against(file, &name);
                shelf.absent.extend(refused.clone().map(|finding| (name, finding)));
                findings.extend(refused);
                continue;
            }
            claims.push(Claim { name: name.clone(), file });
            shelf.templates.extend(template);
            shelf.absent.extend(error.map(|error| (name, error)));
        }
        shelf.templates.sort_by(|left, right| left.name.cmp(&right.name));
        (shelf, findings)
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

    /// Whether a file has this name, sound or not.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.templates.iter().any(|template| template.name == name)
            || self.absent.iter().any(|(absent, _)| absent == name)
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
