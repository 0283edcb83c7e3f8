//! What of a server's definition nobody should see: values that are keys by the name beside them, in variables, headers and
//! arguments, and what addresses carry.
//!
//! This is the one place that knows such names. Short values are left alone by the redactor, which learns all of these.

use reqwest::Url;
use sortie_agents::ServerAccess;

/// What names of secrets have in them, in whatever way they are written.
const SECRET_PARTS: [&str; 12] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "auth",
    "cookie",
    "dsn",
    "session",
    "private",
];
/// The same as words of their own: `pat` is a part of `PATH`, too.
const SECRET_WORDS: [&str; 2] = ["pat", "pass"];
/// A name that ends so is of a place where a secret is kept. Places are in too many texts to be taken out of them.
const PLACES: [&str; 5] = ["file", "path", "dir", "directory", "folder"];
/// `Bearer x` is a word that everybody knows, and a key. Of any other value each word belongs to it.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];
/// A value in a query that is as long as keys are, whatever its name. `region=us-east-1` is none.
const LEAST_UNNAMED: usize = 16;

/// The secrets of a definition in which every variable is replaced.
pub fn secrets_of(access: &ServerAccess) -> Vec<String> {
    let mut secrets = Secrets(Vec::new());
    let named = match access {
        ServerAccess::Program { command: _, arguments, environment } => {
            secrets.take_arguments(arguments);
            environment
        }
        ServerAccess::Address { url, headers } => {
            secrets.take_address(url);
            headers
        }
    };
    for (name, value) in named {
        secrets.take_address(value);
        secrets.take_named(name, value);
    }
    secrets.0
}

struct Secrets(Vec<String>);

impl Secrets {
    fn take_named(&mut self, name: &str, value: &str) {
        if !is_secret(name) {
            return;
        }
        self.0.push(without_scheme(value.trim()).to_owned());
        if name.to_ascii_lowercase().contains("cookie") {
            self.take_pairs(value, ';', |_, _| true);
        }
    }

    /// `--token=x`, `--token x`, `-e TOKEN=x` and `--header "Authorization: Bearer x"`.
    fn take_arguments(&mut self, arguments: &[String]) {
        for (at, argument) in arguments.iter().enumerate() {
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

    /// The value behind the first name that is secret, as in `--env=TOKEN=x`.
    fn take_assigned(&mut self, argument: &str) {
        let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let mut rest = argument;
        while let Some((name, value)) = rest.split_once(['=', ':']).filter(|(name, _)| is_plain(name)) {
            // `auth-data:/data` mounts a directory, and what follows `https:` is looked at as an address.
            let is_mounted = value.starts_with('/') && rest[name.len()..].starts_with(':');
            if is_mounted {
                return;
            }
            if is_secret(name) {
                return self.take_named(name, value);
            }
            rest = value;
        }
    }

    /// What stands before the host, and in the query.
    fn take_address(&mut self, text: &str) {
        let Some((scheme, rest)) = text.split_once("://") else { return };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if let Some((user_info, _)) = authority.rsplit_once('@') {
            let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
            // On the web a key may stand in the place of the user. Elsewhere users are called `postgres`.
            let is_key = password.is_empty() || user.contains(|letter: char| letter.is_ascii_digit());
            if is_key && ["http", "https"].contains(&scheme) {
                self.take_escaped(user);
            }
            self.take_escaped(password);
        }
        if let Some((_, query)) = rest.split_once('?') {
            let query = query.split('#').next().unwrap_or_default();
            self.take_pairs(query, '&', |name, value| is_secret(name) || value.len() >= LEAST_UNNAMED);
        }
    }

    fn take_pairs(&mut self, text: &str, between: char, is_secret: impl Fn(&str, &str) -> bool) {
        let pairs = text.split(between).filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, value)| is_secret(name, value)).for_each(|(_, value)| self.take_escaped(value.trim()));
    }

    /// As it is written, and as it is meant.
    fn take_escaped(&mut self, value: &str) {
        self.0.push(value.to_owned());
        let meant = Url::parse(&format!("http://host/?value={value}")).ok();
        let meant = meant.and_then(|url| url.query_pairs().next().map(|(_, value)| value.into_owned()));
        self.0.extend(meant.filter(|meant| meant != value));
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = || name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_place = words().next_back().is_some_and(|last| PLACES.contains(&last));
    let has_part = SECRET_PARTS.iter().any(|part| name.contains(part));
    !is_place && (has_part || words().any(|word| SECRET_WORDS.contains(&word)))
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
    fn values_are_secret_by_the_names_beside_them() {
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
        ] {
            assert_eq!(in_variable(name, "value-of-it"), ["value-of-it"], "{name}");
        }
        for name in ["PATH", "PATTERN", "COMPASS", "REGION", "SSH_KEY_FILE", "SESSION_DIR", "TOKEN_PATH"] {
            assert_eq!(in_variable(name, "value-of-it"), [""; 0], "{name}");
        }
    }

    #[test]
    fn the_word_before_a_key_is_dropped_and_no_word_of_a_passphrase_is() {
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
    fn arguments_that_give_a_key_are_known_however_they_are_written() {
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
    fn addresses_carry_keys_before_the_host_and_in_the_query() {
        let known: [(&str, &[&str]); 6] = [
            ("https://h/mcp?api_key=abc&region=us-east-1#x", &["abc"]),
            ("https://h/mcp?k=0123456789abcdef", &["0123456789abcdef"]),
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
