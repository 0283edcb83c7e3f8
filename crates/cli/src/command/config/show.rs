//! `sortie config show`: a table of every setting.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use sortie_llm::Route;
use sortie_llm::route::{LIGHT_ROUTE, MAIN_ROUTE};

use crate::environment::PROJECT_CONFIG;
use crate::error::CommandError;
use crate::settings::{Listed, ListedAside, Settings};
use crate::text::{neutral, width};

pub(super) fn run(settings: &Settings) -> Result<ExitCode, CommandError> {
    let mut text = head(settings) + "\n" + &table(&settings.listed().collect::<Vec<_>>());
    let aside: Vec<ListedAside> = settings.listed_aside().collect();
    if !aside.is_empty() {
        text += "\nIgnored, because this project's files can only narrow settings until `sortie trust`:\n";
        text += &set_aside(&aside);
    }
    io::stdout().lock().write_all(neutral::block(&text).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Paths, and the models that a run would use.
fn head(settings: &Settings) -> String {
    let places = &settings.places;
    let config = match &places.config {
        Some(path) if path.exists() => path.display().to_string(),
        Some(path) => format!("{} (does not exist)", path.display()),
        None => "(none: HOME is not set)".to_owned(),
    };
    let mut lines = vec![
        ("workspace".to_owned(), places.workspace.display().to_string()),
        ("config".to_owned(), config),
        ("home".to_owned(), places.home.display().to_string()),
        ("trust".to_owned(), settings.trust_summary()),
    ];
    if places.project_config().exists() {
        lines.insert(2, ("project".to_owned(), PROJECT_CONFIG.to_owned()));
    }
    lines.extend(models(settings));
    let columns = lines.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
    lines.into_iter().fold(String::new(), |text, (label, what)| text + &format!("{label:columns$}  {what}\n"))
}

/// Models that a run would use.
fn models(settings: &Settings) -> Vec<(String, String)> {
    let routes = settings.each_route();
    let light = routes.iter().any(|resolved| resolved.name == LIGHT_ROUTE && resolved.route.is_ok());
    let stand_in = if light {
        "that of `light` (no main route is set)"
    } else {
        "offline, the built-in rule-based model (no model is set)"
    };
    let unset = routes.iter().all(|resolved| resolved.name != MAIN_ROUTE);
    let stand_in = unset.then(|| ("model".to_owned(), stand_in.to_owned()));
    let set = routes.into_iter().map(|resolved| {
        let label = if resolved.name == MAIN_ROUTE { "model".to_owned() } else { resolved.name };
        (label, resolved.route.map_or_else(|error| format!("none: {error}"), |route| shown(&route)))
    });
    stand_in.into_iter().chain(set).collect()
}

fn shown(route: &Route) -> String {
    let key = match route.api_key.as_ref().and_then(|key| key.setting()) {
        Some(setting) => format!("key from {setting}"),
        None if route.base_url.has_key() => "key in the address".to_owned(),
        None => "no key".to_owned(),
    };
    format!("{} over {} at {}, {key}", route.model, route.wire, route.base_url.with_setting())
}

fn table(settings: &[Listed]) -> String {
    let widest = |of: fn(&Listed) -> &str, most: usize| {
        settings.iter().map(|setting| width::of(of(setting))).max().unwrap_or_default().min(most)
    };
    let path_columns = widest(|setting| &setting.path, usize::MAX);
    let value_columns = widest(|setting| &setting.value, 32);
    let origin_columns = widest(|setting| &setting.origin, 40);
    let mut text = String::new();
    for Listed { path, value, origin, doc, .. } in settings {
        let cells = [(path, path_columns), (value, value_columns), (origin, origin_columns)];
        text.extend(cells.map(|(cell, columns)| width::pad(cell, columns) + "  "));
        let _infallible = writeln!(text, "# {doc}");
    }
    text
}

fn set_aside(aside: &[ListedAside]) -> String {
    let lines = aside.iter().map(|ListedAside { path, value, line, why }| {
        format!("  {} = {}  ({PROJECT_CONFIG}:{line}, {why})\n", neutral::line(path), neutral::line(value))
    });
    lines.collect()
}
