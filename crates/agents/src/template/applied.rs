//! A request whose prompt calls a template, with the template's words in its place.

use sortie_protocol::{Failure, TaskRequest, nearest};

use super::body::is_name_like;
use super::{Template, TemplateError, Templates, call};

impl Templates {
    /// The request as it is, or, where its prompt is `/NAME …` with the name of a template, with what that becomes. The
    /// template's agent and model serve where the request names none. That a template was used is among the notices, and
    /// so is that none was, where the name is almost one of theirs.
    pub fn applied(&self, mut request: TaskRequest, most_bytes: usize) -> Result<TaskRequest, Failure> {
        let Some((name, rest)) = call::head(&request.prompt) else { return Ok(request) };
        if !self.knows(name) {
            let notice = self.almost(name);
            request.notices.extend(notice);
            return Ok(request);
        }
        let template = self.get(name).map_err(|error| Failure::new("unknown_template", error.to_string()))?;
        let expanded = call::given(rest).and_then(|given| template.expand(&given, most_bytes));
        let prompt = expanded.map_err(|error| Failure::new(code(&error), error.to_string()))?;
        Ok(template.serving(TaskRequest { prompt, ..request }))
    }

    /// What to say of a name that no template has, if one was meant. A path is no name.
    fn almost(&self, name: &str) -> Option<String> {
        let known = self.all().iter().map(|template| template.name.as_str());
        let near = nearest(name, known.filter(|_| is_name_like(name)))?;
        Some(format!("there is no template `{name}`, so the prompt stays as it is; did you mean `/{near}`?"))
    }
}

impl Template {
    /// The request with what the template says beside its text: who serves, and by which model.
    #[must_use]
    pub fn serving(&self, mut request: TaskRequest) -> TaskRequest {
        if let Some(agent) = &self.agent
            && (request.agent_is_usual || request.agent.is_empty())
        {
            request.agent.clone_from(agent);
            request.agent_is_usual = false;
        }
        if request.model.is_none() {
            request.model.clone_from(&self.model);
        }
        request.notices.push(format!("the prompt is the template `{}` ({})", self.name, self.origin));
        request
    }
}

fn code(error: &TemplateError) -> &'static str {
    match error {
        TemplateError::TooLong { .. } => "prompt_too_long",
        _ => "template_arguments",
    }
}
