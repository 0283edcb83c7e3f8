//! Secrets in a server's definition: values whose names mark them as keys, in variables, headers and arguments, and
//! credentials in addresses.
//!
//! This is the one place that knows such names. The redactor learns all of these values, and ignores short ones.

use reqwest::Url;
use serde_json::Value;
use sortie_agents::ServerAccess;

/// Endings of a word that names a secret: `PGPASSWORD` and `apikey` are single words. Ordinary words begin so
/// (`AUTHOR`, `KEYSPACE`) but do not end so.
const SECRET_ENDS: [&str; 14] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "auth",
    "authorization",
    "authentication",
    "cookie",
    "dsn",
    "session",
    "sessionid",
];
/// Whole words that name a secret: `COMPASS` only ends in one.
const SECRET_WORDS: [&str; 3] = ["pat", "pass", "private"];
/// Endings of names that are about a secret or its location. Such values occur in too many texts to be masked.
const ABOUT: [&str; 34] = [
    "algorithm",
    "audience",
    "count",
    "dir",
    "directory",
    "domain",
    "email",
    "enabled",
    "endpoint",
    "file",
    "folder",
    "format",
    "grant",
    "header",
    "host",
    "id",
    "issuer",
    "length",
    "limit",
    "method",
    "mode",
    "name",
    "path",
    "port",
    "prefix",
    "provider",
    "realm",
    "region",
    "scope",
    "space",
    "timeout",
    "type",
    "uri",
    "url",
];
/// In `Bearer x` the first word is known to everybody and the second is a key. In any other value all words belong to
/// it.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];
/// Length from which a query value may be a key, whatever its name. `region=us-east-1` is none.
const LEAST_UNNAMED: usize = 16;

/// Returns the secrets of a definition in which every variable is replaced.
pub fn secrets_of(access: &ServerAccess) -> Vec<String> {
    let mut secrets = Secrets(Vec::new());
    let named = match access {
        ServerAccess::Program { command: _, arguments, environment, directory: _ } => {
            secrets.take_arguments(arguments);
            environment
        }
        ServerAccess::Address { url, headers, helper, oauth } => {
            secrets.take_address(url);
            secrets.take_arguments(helper);
            secrets.0.extend(oauth.client_secret.clone());
            headers
        }
        ServerAccess::OldAddress { url } => {
            secrets.take_address(url);
            return secrets.0;
        }
    };
    for (name, value) in named {
        secrets.take_text(name, value);
    }
    secrets.0
}

struct Secrets(Vec<String>);

impl Secrets {
    fn take_text(&mut self, name: &str, value: &str) {
        if !self.take_json(name, value) {
            self.take_address(value);
        }
        self.take_named(name, value);
    }

    /// Takes the value if its name marks it as a key; returns true if so.
    fn take_named(&mut self, name: &str, value: &str) -> bool {
        let value = value.trim();
        let key = without_scheme(value);
        // `AUTH_HEADER` holds the name of a header, or a whole header.
        let is_key = is_secret(name) || (has_secret_word(name) && key.len() < value.len());
        if is_key {
            self.0.push(key.to_owned());
            if name.to_ascii_lowercase().contains("cookie") {
                self.take_pairs(value, ';', |_, _| true);
            }
        }
        is_key
    }

    /// Takes the names and values of a JSON object, at every depth. Returns true if the text is an object or a list.
    fn take_json(&mut self, name: &str, text: &str) -> bool {
        let value = text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok()).flatten();
        value.inspect(|value| self.take_value(name, value)).is_some()
    }

    fn take_value(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.take_text(name, text),
            Value::Array(values) => values.iter().for_each(|value| self.take_value(name, value)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.take_value(name, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Takes the secrets in `--token=x`, `--token x`, `-e TOKEN=x`, `--header "Authorization: Bearer x"` and
    /// `--config={"token":"x"}`.
    fn take_arguments(&mut self, arguments: &[String]) {
        for (at, argument) in arguments.iter().enumerate() {
            if self.take_json("", argument) {
                continue;
            }
            self.take_address(argument);
            if argument.contains(['=', ':']) {
                self.take_assigned(argument);
            } else if argument.starts_with('-')
                && let Some(next) = arguments.get(at + 1).filter(|next| !next.starts_with('-'))
            {
                self.take_named(argument, next);
            }
        }
    }

    /// Takes the value after the first secret name, as in `--env=TOKEN=x`.
    fn take_assigned(&mut self, argument: &str) {
        let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let mut rest = argument;
        while let Some((name, value)) = rest.split_once(['=', ':']).filter(|(name, _)| is_plain(name)) {
            // `auth-data:/data` mounts a directory, and text after `https:` is parsed as an address.
            let is_mounted = value.starts_with('/') && rest[name.len()..].starts_with(':');
            if is_mounted {
                return;
            }
            let is_json = self.take_json(name, value);
            if self.take_named(name, value) || is_json {
                return;
            }
            rest = value;
        }
    }

    /// Takes the credentials and query values of an address.
    fn take_address(&mut self, text: &str) {
        let Some((scheme, rest)) = text.split_once("://") else { return };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if let Some((user_info, _)) = authority.rsplit_once('@') {
            let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
            // On the web a key may take the place of the user name. Elsewhere users are called `postgres`.
            let is_key = password.is_empty() || user.contains(|letter: char| letter.is_ascii_digit());
            if is_key && ["http", "https"].contains(&scheme) {
                self.take_escaped(user);
            }
            self.take_escaped(password);
        }
        if let Some((_, query)) = rest.split_once('?') {
            let query = query.split('#').next().unwrap_or_default();
            self.take_pairs(query, '&', |name, value| is_secret(name) || may_be_key(value));
        }
    }

    fn take_pairs(&mut self, text: &str, between: char, is_secret: impl Fn(&str, &str) -> bool) {
        let pairs = text.split(between).filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, value)| is_secret(name, value)).for_each(|(_, value)| self.take_escaped(value.trim()));
    }

    /// Takes a value both escaped and unescaped.
    fn take_escaped(&mut self, value: &str) {
        self.0.push(value.to_owned());
        let meant = Url::parse(&format!("http://host/?value={value}")).ok();
        let meant = meant.and_then(|url| url.query_pairs().next().map(|(_, value)| value.into_owned()));
        self.0.extend(meant.filter(|meant| meant != value));
    }
}

fn is_secret(name: &str) -> bool {
    let words = words(name);
    let is_about = match &words[..] {
        // The id of a session gives access to the session.
        [.., before, last] if last == "id" => before != "session",
        [.., last] => ABOUT.contains(&last.strip_suffix('s').unwrap_or(last)),
        [] => true,
    };
    !is_about && has_secret_word(name)
}

fn has_secret_word(name: &str) -> bool {
    words(name).iter().any(|word| {
        let one = word.strip_suffix('s').unwrap_or(word);
        SECRET_WORDS.contains(&word.as_str()) || SECRET_ENDS.iter().any(|end| one.ends_with(end))
    })
}

/// Returns the words of a name in lower case: `API_KEY_2`, `api-key`, `apiKey` and `APIKey` have the same ones.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let is_small = |at: usize| letters.get(at).is_some_and(char::is_ascii_lowercase);
        let begins = letter.is_ascii_uppercase() && at > 0 && (is_small(at - 1) || is_small(at + 1));
        if begins || !letter.is_ascii_alphabetic() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphabetic()) {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// True if a value without a telling name looks like a key: `features=database,docs,storage` does not.
fn may_be_key(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    value.len() >= LEAST_UNNAMED && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !value.contains(',')
}

fn without_scheme(value: &str) -> &str {
    match value.split_once(' ') {
        Some((scheme, key)) if SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)) => key.trim_start(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use sortie_agents::ServerDefinition;

    use super::*;

    fn found(definition: &Value) -> Vec<String> {
        secrets_of(&ServerDefinition::read("t", definition).unwrap().server.access)
    }

    fn in_variable(name: &str, value: &str) -> Vec<String> {
        found(&json!({ "command": "a", "env": { name: value } }))
    }

    fn in_arguments(arguments: &[&str]) -> Vec<String> {
        found(&json!({ "command": "a", "args": arguments }))
    }

    #[test]
    fn values_are_secret_by_their_names() {
        for name in [
            "API_KEY",
            "apiToken",
            "CLIENT_SECRET",
            "DB_PASSWORD",
            "DB_PASS",
            "GITHUB_PAT",
            "SENTRY_DSN",
            "SESSION_ID",
            "PRIVATE_PEM",
            "X-Auth",
            "apikey",
            "PGPASSWORD",
            "TS_AUTHKEY",
            "APIKey",
            "API_KEY_2",
            "OAUTH2_TOKENS",
            "Mcp-Session-Id",
        ] {
            assert_eq!(in_variable(name, "value-of-it"), ["value-of-it"], "{name}");
        }
        for name in ["PATH", "PATTERN", "COMPASS", "REGION", "SSH_KEY_FILE", "SESSION_DIR", "TOKEN_PATH"] {
            assert_eq!(in_variable(name, "value-of-it"), [""; 0], "{name}");
        }
    }

    #[test]
    fn values_merely_about_secrets_are_ordinary_words() {
        for name in [
            "GIT_AUTHOR_NAME",
            "AUTHOR",
            "KEYSPACE",
            "KEYBOARD",
            "AUTH_TYPE",
            "AUTH_URL",
            "authUri",
            "XDG_SESSION_TYPE",
            "OAUTH_GRANT",
            "OAUTH_SCOPES",
            "TOKEN_LIMIT",
            "KEY_ID",
            "AUTH_METHOD",
            "AUTH_HEADER",
        ] {
            assert_eq!(in_variable(name, "value-of-it"), [""; 0], "{name}");
        }
        assert_eq!(in_variable("AUTH_HEADER", "Bearer value-of-it"), ["value-of-it"], "the whole header");
        assert_eq!(in_arguments(&["-e", "AUTH_HEADER=Bearer value-of-it"]), ["value-of-it"]);
        assert_eq!(in_variable("AUTH_URL", "https://h/?token=abc"), ["abc"], "the address itself carries one");
    }

    #[test]
    fn objects_in_values_and_arguments_are_parsed_into_names_and_values() {
        let object = r#"{"Authorization":"Bearer abc","Version":"2022-06-28","in":[{"apiKey":"d\ne"}],"auth":1}"#;
        assert_eq!(in_variable("MCP_HEADERS", object), ["abc", "d\ne"]);
        assert_eq!(in_variable("MCP_HEADERS", r#"{"at":"https://h/?token=abc"}"#), ["abc"]);
        assert_eq!(in_variable("KEYS", r#"["abc"]"#), ["abc", r#"["abc"]"#]);
        for arguments in [
            &[r#"--config={"token":"abc"}"#][..],
            &["--config", r#" {"token":"abc"}"#],
            &[r#"--env=CONFIG={"token":"abc"}"#],
        ] {
            assert_eq!(in_arguments(arguments), ["abc"], "{arguments:?}");
        }
        let whole = r#"{"private_key":"abc"}"#;
        assert_eq!(in_arguments(&[&format!("--credentials={whole}")]), ["abc", whole]);
        assert_eq!(in_variable("CONFIG", "{token: abc}"), [""; 0], "it is not JSON");
    }

    #[test]
    fn the_scheme_before_a_key_is_dropped_but_no_word_of_a_passphrase() {
        for (header, key) in [
            ("Bearer abc", "abc"),
            ("basic  abc", "abc"),
            ("Token abc", "abc"),
            ("correct horse battery", "correct horse battery"),
        ] {
            let headers = json!({ "url": "http://h", "headers": { "Authorization": header } });
            assert_eq!(found(&headers), [key], "{header}");
        }
        let cookies = json!({ "url": "http://h", "headers": { "Cookie": "id=abc; theme=d%20e" } });
        assert_eq!(found(&cookies), ["id=abc; theme=d%20e", "abc", "d%20e", "d e"]);
    }

    #[test]
    fn arguments_with_a_key_are_recognised_in_every_form() {
        for arguments in [
            &["--token=abc"][..],
            &["--api-key", "abc"],
            &["-e", "API_KEY=abc"],
            &["--env=API_KEY=abc"],
            &["--header", "Authorization: Bearer abc"],
            &["--header", "Authorization:abc"],
        ] {
            assert_eq!(in_arguments(arguments), ["abc"], "{arguments:?}");
        }
        for arguments in [
            &["--token", "--verbose"][..],
            &["--auth-dir", "/var/data"],
            &["-v", "auth-data:/var/data"],
            &["token", "value"],
            &["https://auth.example:8080/mcp"],
        ] {
            assert_eq!(in_arguments(arguments), [""; 0], "{arguments:?}");
        }
    }

    #[test]
    fn addresses_hold_keys_before_the_host_and_in_the_query() {
        let known: [(&str, &[&str]); 9] = [
            ("https://h/mcp?api_key=abc&region=us-east-1#x", &["abc"]),
            ("https://h/mcp?k=0123456789abcdef", &["0123456789abcdef"]),
            ("https://h/mcp?project_ref=abcdefghijklmnopqrst", &[]),
            ("https://h/mcp?features=database,docs,storage2", &[]),
            ("https://h/mcp?since=20240101000000000", &[]),
            ("https://abc@h/mcp", &["abc", ""]),
            ("https://abc1:x-oauth@h/mcp", &["abc1", "x-oauth"]),
            ("postgres://postgres:a%40b@h:1,i:2/db", &["a%40b", "a@b"]),
            ("https://h/a@b?c@d", &[]),
        ];
        for (address, secrets) in known {
            assert_eq!(in_variable("WHERE", address), secrets, "{address}");
            assert_eq!(in_arguments(&[address]), secrets, "{address}");
        }
        assert_eq!(found(&json!({ "url": "http://h?token=abc" })), ["abc"]);
    }
}
