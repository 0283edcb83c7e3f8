//! Diagnosis of the settings: their files, ignored values, and trust in the project.

use std::path::Path;

use sortie_protocol::{GrantLayer, Mode};

use super::diagnosis::Diagnosis;
use crate::environment::PROJECT_CONFIG;
use crate::settings::{Listed, Settings};

/// Most project settings listed here. An untrusted project sets fewer; `config show` lists all.
const MOST_OF_PROJECT: usize = 20;

pub(super) fn settings(settings: &Settings) -> Vec<Diagnosis> {
    let mut diagnoses = vec![match &settings.places.config {
        Some(path) => file("configuration", path),
        None => Diagnosis::ok("configuration", "none: HOME is not set"),
    }];
    if settings.places.project_config().exists() {
        diagnoses.push(Diagnosis::ok("project", PROJECT_CONFIG));
    }
    diagnoses.extend(settings.listed_of_project().take(MOST_OF_PROJECT).map(
        |Listed { path, value, origin, is_item, .. }| {
            let says = if is_item {
                format!("adds {value} to {path} ({origin})")
            } else {
                format!("sets {path} = {value} ({origin}); `--set {path}=…` overrides it")
            };
            Diagnosis::ok("project", says)
        },
    ));
    diagnoses.push(Diagnosis::ok("trust", settings.trust_summary()));
    // The warnings themselves say what to do.
    diagnoses.extend(settings.warnings.iter().map(|warning| Diagnosis::warning("settings", warning.clone(), "")));
    diagnoses
}

/// Calls that agents may make without approval.
pub(super) fn permissions(settings: &Settings) -> Vec<Diagnosis> {
    let layers = settings.permission_layers();
    let count = |of: fn(&GrantLayer) -> &Vec<String>| layers.iter().map(|layer| of(layer).len()).sum::<usize>();
    let (allow, ask, deny) = (count(|layer| &layer.allow), count(|layer| &layer.ask), count(|layer| &layer.deny));
    let mode = layers.iter().find_map(|layer| layer.mode).unwrap_or(Mode::Default);
    let text = format!("mode {mode}; rules that allow: {allow}, ask: {ask}, deny: {deny}");
    let said = settings.place_of_mode().unwrap_or_default();
    let own = match mode {
        Mode::Bypass => {
            Diagnosis::warning("permissions", text, format!("no call needs approval; that is set in {said}"))
        }
        Mode::Default | Mode::Plan | Mode::AcceptEdits => Diagnosis::ok("permissions", text),
    };
    let unusable = settings.added_directories().err();
    let unusable = unusable.map(|error| Diagnosis::error("permissions", error.message, error.hints.join("; ")));
    [own].into_iter().chain(unusable).collect()
}

/// Diagnosis of an optional file. It was readable if it exists, or loading would have failed.
fn file(subject: &str, path: &Path) -> Diagnosis {
    let shown = path.display();
    if path.exists() {
        Diagnosis::ok(subject, shown.to_string())
    } else {
        Diagnosis::ok(subject, format!("{shown} does not exist; defaults apply"))
    }
}
