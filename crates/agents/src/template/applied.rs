//! A request whose prompt calls a template, with the template's words in its place.

use sortie_protocol::{Failure, TaskRequest};

use super::{Template, TemplateError, Templates, call};

impl Templates {
    /// The request as it is, or, where its prompt is `/NAME …` with the name of a template, with what that becomes. The
    /// template's agent serves where the request has `usual_agent`, which is the one of requests that name none, and its
    /// model where the request names none. That a template was used is among the notices.
    pub fn applied(&self, request: TaskRequest, usual_agent: &str, most_bytes: usize) -> Result<TaskRequest, Failure> {
        let Some((name, rest)) = call::head(&request.prompt).filter(|(name, _)| self.knows(name)) else {
            return Ok(request);
        };
        let template = self.get(name).map_err(|error| Failure::new("unknown_template", error.to_string()))?;
        let expanded = call::given(rest).and_then(|given| template.expand(&given, most_bytes));
        let prompt = expanded.map_err(|error| Failure::new(code(&error), error.to_string()))?;
        Ok(template.serving(TaskRequest { prompt, ..request }, usual_agent))
    }
}

impl Template {
    /// The request with what the template says beside its text: who serves, and by which model.
    #[must_use]
    pub fn serving(&self, mut request: TaskRequest, usual_agent: &str) -> TaskRequest {
        if let Some(agent) = &self.agent
            && request.agent.eq_ignore_ascii_case(usual_agent)
        {
            request.agent.clone_from(agent);
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
