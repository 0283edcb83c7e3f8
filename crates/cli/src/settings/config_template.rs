//! Template of a configuration: every setting with its default as a comment, from the table of keys.

use sortie_llm::route::MAIN_ROUTE;

use super::key::{ALIAS, KEYS, Key, SERVER};
use super::value::Kind;

const HEAD: &str = "\
# Settings of Sortie. Every line is a comment until its `#` is removed; `sortie config show` lists the values in force.
";

const ROUTES: &str = "\
# The main route; [routes.light] is for small work, and there can be others of any name. A route can be as little
# as a model and the variable that holds its key.
";

const ALIASES: &str = "\
# Short names for models or routes.
";

const SERVERS: &str = "\
# MCP servers whose tools agents may use: `command`, `args`, `env`, or `url`, `headers`.
";

/// Configuration that sets nothing and shows every setting.
pub(crate) fn config_template() -> String {
    let mut text = HEAD.to_owned();
    let mut section = String::new();
    for key in KEYS.into_iter().filter(|key| ![ALIAS.path, SERVER.path].contains(&key.path)) {
        let path = key.path_of(MAIN_ROUTE);
        let Some((table, name)) = path.rsplit_once('.') else {
            // Keys outside tables must come before the first table.
            text += &format!("\n# {path} = {}  # {}\n", example(key), key.doc);
            continue;
        };
        if table != section {
            let intro = if key.is_family() { ROUTES } else { "" };
            text += &format!("\n{intro}# [{table}]\n");
            table.clone_into(&mut section);
        }
        text += &format!("# {name} = {}  # {}\n", example(key), key.doc);
    }
    text += &format!("\n{ALIASES}# [aliases]\n# haiku = \"light\"\n");
    text + &format!("\n{SERVERS}# [mcp_servers]\n# db = {}\n", example(&SERVER))
}

/// Value of the key in TOML: the default, or an example.
fn example(key: &Key) -> String {
    match (&key.default, key.kind) {
        (Some(value), kind) => kind.render(value),
        (None, Kind::Number { .. }) => "50000".to_owned(),
        (None, Kind::Dollars) => "2.50".to_owned(),
        (None, Kind::Switch) => "true".to_owned(),
        (None, Kind::Contract) => "\"sortie\"".to_owned(),
        (None, Kind::Wire) => "\"anthropic\"".to_owned(),
        (None, Kind::Url) => "\"https://api.example.com\"".to_owned(),
        (None, Kind::VariableName) => "\"ANTHROPIC_API_KEY\"".to_owned(),
        (None, Kind::Text | Kind::Secret) => "\"…\"".to_owned(),
        (None, Kind::Mode) => "\"default\"".to_owned(),
        (None, Kind::Rules) => "[\"Edit(docs/**)\"]".to_owned(),
        (None, Kind::Directories) => "[\"../other\"]".to_owned(),
        (None, Kind::Hooks) => "[{ on = \"task_ended\", command = [\"notify-send\", \"done\"] }]".to_owned(),
        (None, Kind::Server) => "{ command = \"npx\", args = [\"-y\", \"some-server\"] }".to_owned(),
        (None, Kind::Hosts) => "[\"127.0.0.1:8080\"]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::config_file;

    #[test]
    fn the_template_sets_nothing_and_every_line_of_it_can_be_activated() {
        let untouched = config_file::parse(Path::new("c"), &config_template());
        assert!(untouched.values.is_empty() && untouched.faults.is_empty() && untouched.ignored.is_empty());
        // Sentences stay comments; tables and settings become active.
        let is_code = |line: &str| line.starts_with("# [") || line.split_once(" = ").is_some();
        let uncommented: Vec<String> =
            config_template().lines().filter(|line| is_code(line)).map(|line| line[2..].to_owned()).collect();
        let uncommented = uncommented.join("\n");
        let layer = config_file::parse(Path::new("c"), &uncommented);
        assert_eq!((&layer.faults[..], &layer.ignored[..]), (&[][..], &[][..]), "{uncommented}");
        assert_eq!(layer.values.len(), KEYS.len());
    }
}
