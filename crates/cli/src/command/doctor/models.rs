//! Diagnosis of the model routes. `--check` calls each of them.

use std::sync::Arc;

use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};
use sortie_llm::{Route, RouteTable};

use super::diagnosis::Diagnosis;
use super::{DoctorArgs, failed};
use crate::command::models::{RouteAnswer, ask_all};
use crate::environment::local_server;
use crate::settings::Settings;
use crate::wiring;

pub(super) fn routes(settings: &Settings, args: &DoctorArgs) -> Vec<Diagnosis> {
    let routes = settings.each_route();
    let mut diagnoses: Vec<Diagnosis> = routes
        .iter()
        .map(|resolved| match &resolved.route {
            Ok(route) => Diagnosis::ok(subject(&resolved.name), leads_to(route)),
            Err(error) => failed(&subject(&resolved.name), error),
        })
        .collect();
    let models = match wiring::models(settings) {
        Ok(models) => Arc::new(models),
        Err(error) => {
            diagnoses.push(failed("models", &error));
            return diagnoses;
        }
    };
    if args.check {
        let usable = routes.iter().filter(|resolved| resolved.route.is_ok());
        let names: Vec<String> = usable.map(|resolved| resolved.name.clone()).collect();
        diagnoses.extend(called(&models, &names));
    }
    if models.get(MAIN_ROUTE).or_else(|| models.get(LIGHT_ROUTE)).is_none() {
        // A main route that cannot be used has been reported already.
        if routes.iter().all(|resolved| resolved.name != MAIN_ROUTE) {
            diagnoses.push(without_model());
        }
        let servers = local_server::servers(&settings.environment);
        diagnoses.extend(servers.iter().map(|server| Diagnosis::ok("local server", local_server::offer(server))));
    }
    diagnoses
}

fn leads_to(route: &Route) -> String {
    let key = match route.api_key.as_ref().map(|key| key.setting()) {
        Some(Some(setting)) => format!("key from {setting}"),
        Some(None) => "with a key".to_owned(),
        None if route.base_url.has_key() => "key in the address".to_owned(),
        None => "no key".to_owned(),
    };
    format!("{} over {} at {}, {key}", route.model, route.wire, route.base_url.with_setting())
}

fn called(models: &Arc<RouteTable>, names: &[String]) -> Vec<Diagnosis> {
    let answers = match ask_all(models, names) {
        Ok(answers) => answers,
        Err(error) => return vec![failed("models", &error)],
    };
    let told = |answer: &RouteAnswer| match &answer.reply {
        Ok(_) => Diagnosis::ok(subject(&answer.name), answer.told()),
        Err(_) => Diagnosis::error(subject(&answer.name), answer.told(), ""),
    };
    answers.iter().map(told).collect()
}

fn without_model() -> Diagnosis {
    let text = "no model is set; `offline`, the built-in rule-based model, serves";
    let advice = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with LLM_BASE_URL";
    Diagnosis::warning("models", text, advice)
}

fn subject(route: &str) -> String {
    format!("route {route}")
}
