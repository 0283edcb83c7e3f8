//! Table of the routes, and of the other names that lead to them.

use serde_json::{Map, Value, json};
use sortie_llm::catalogue::Prices;
use sortie_llm::local::LocalServer;
use sortie_llm::route::MAIN_ROUTE;
use sortie_llm::{RouteListing, Served};

use crate::environment::local_server;
use crate::settings::Settings;
use crate::text::table;

const HEAD: [&str; 8] = ["route", "model", "wire", "address", "window", "output", "$ per M in / out", "key from"];

/// Cell of a value that is unset or unknown.
const NOTHING: &str = "-";

pub(super) fn text(routes: &[RouteListing], servers: &[LocalServer], settings: &Settings) -> String {
    let row = |route: &RouteListing| row(route, settings.model_of(&route.name));
    let rows: Vec<[String; 8]> = [HEAD.map(str::to_owned)].into_iter().chain(routes.iter().map(row)).collect();
    let mut text = table(&rows);
    let names: Vec<[String; 2]> = routes.iter().flat_map(meanings).collect();
    if !names.is_empty() {
        text += &format!("\n{}", table(&names));
    }
    for route in routes {
        if let Some(problem) = &route.problem {
            text += &format!("\n{} cannot be used: {problem}\n", route.name);
        }
    }
    let serves_main = |route: &RouteListing| route.serves.iter().any(|served| served.name == MAIN_ROUTE);
    if routes.iter().any(|route| route.wire.is_none() && serves_main(route)) {
        text += NO_MODEL;
    }
    for server in servers {
        text += &format!("\n{}\n", local_server::offer(server));
    }
    text
}

const NO_MODEL: &str = "
no model is set: `offline`, the built-in rule-based model, serves; set ANTHROPIC_API_KEY, OPENAI_API_KEY or
GEMINI_API_KEY, or for any compatible server LLM_MODEL_ID, LLM_BASE_URL and LLM_API_KEY
";

/// Row of a route. `said` is the configured model, the only thing known of an unusable route.
fn row(route: &RouteListing, said: Option<&str>) -> [String; 8] {
    let shown = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
    [
        route.name.clone(),
        shown(model(route).or(said).map(str::to_owned)),
        shown(route.wire.map(|wire| wire.to_string())),
        shown(address(route)),
        shown(route.window.map(|tokens| tokens.to_string())),
        shown(route.max_output.map(|tokens| tokens.to_string())),
        price(&route.prices),
        shown(route.key.clone()),
    ]
}

/// Address, with the variable that moves it there.
fn address(route: &RouteListing) -> Option<String> {
    let from = route.base_url_setting.as_ref().map(|setting| format!(" ({setting})")).unwrap_or_default();
    route.base_url.as_ref().map(|url| format!("{url}{from}"))
}

/// Model of a usable route.
fn model(route: &RouteListing) -> Option<&str> {
    Some(route.model.as_str()).filter(|model| !model.is_empty())
}

/// `3 / 15`.
fn price(prices: &Prices) -> String {
    match (prices.input, prices.output) {
        (None, None) => NOTHING.to_owned(),
        (input, output) => {
            let shown =
                |dollars: Option<f64>| dollars.map_or_else(|| NOTHING.to_owned(), |dollars| dollars.to_string());
            format!("{} / {}", shown(input), shown(output))
        }
    }
}

/// `haiku, sonnet  → main: gpt-5 (…)`: the names that lead to a route, grouped by meaning.
fn meanings(route: &RouteListing) -> Vec<[String; 2]> {
    let meaning = |served: &Served| (served.model.clone(), served.notice.is_some());
    let mut groups: Vec<((String, bool), Vec<&str>)> = Vec::new();
    for served in &route.serves {
        match groups.iter_mut().find(|(shared, _)| *shared == meaning(served)) {
            Some((_, names)) => names.push(&served.name),
            None => groups.push((meaning(served), vec![&served.name])),
        }
    }
    let row = |((model, stands_in), names): ((String, bool), Vec<&str>)| {
        let remark = if stands_in { " (it stands in, and the outcome says so)" } else { "" };
        [names.join(", "), format!("→ {}: {model}{remark}", route.name)]
    };
    groups.into_iter().map(row).collect()
}

pub(super) fn object(routes: &[RouteListing], servers: &[LocalServer]) -> Value {
    let servers: Value = servers
        .iter()
        .map(|server| json!({"name": server.name, "base_url": server.base_url.to_string(), "models": server.models}))
        .collect();
    json!({"routes": routes.iter().map(route_object).collect::<Value>(), "local_servers": servers})
}

/// JSON of a route; unset and unknown values are absent.
fn route_object(route: &RouteListing) -> Value {
    let Prices { input, output, cache_read, cache_write } = route.prices;
    let prices = [("input", input), ("output", output), ("cache_read", cache_read), ("cache_write", cache_write)];
    let prices: Map<String, Value> =
        prices.into_iter().filter_map(|(name, price)| Some((name.to_owned(), json!(price?)))).collect();
    let fields = [
        ("name", Some(json!(route.name))),
        ("model", model(route).map(|model| json!(model))),
        ("wire", route.wire.map(|wire| json!(wire.to_string()))),
        ("base_url", route.base_url.as_ref().map(|url| json!(url))),
        ("base_url_from", route.base_url_setting.as_ref().map(|setting| json!(setting))),
        ("key", route.key.as_ref().map(|setting| json!(setting))),
        ("window", route.window.map(|tokens| json!(tokens))),
        ("max_output", route.max_output.map(|tokens| json!(tokens))),
        ("usd_per_million_tokens", (!prices.is_empty()).then(|| Value::from(prices))),
        ("problem", route.problem.as_ref().map(|problem| json!(problem))),
        ("serves", Some(route.serves.iter().map(served_object).collect())),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>().into()
}

fn served_object(served: &Served) -> Value {
    let mut object = json!({"name": served.name, "model": served.model});
    if let Some(notice) = &served.notice {
        object["notice"] = json!(notice);
    }
    object
}
