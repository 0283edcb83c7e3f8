//! Expands `${NAME}` and `${NAME:-otherwise}` in a server's definition, as people copy them from other programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use sortie_agents::{OAuthSettings, ServerAccess, ServerDefinition};

/// Returns the value of a variable; `None` if it is not set.
pub type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Returns the access to a server with all variables replaced. A variable that is unset and has no default is an error
/// that names it: a server must not be started with an empty key.
pub fn expanded(server: &ServerDefinition, lookup: &Lookup) -> Result<ServerAccess, String> {
    let text = |text: &String| expand(text, lookup);
    let texts = |texts: &BTreeMap<String, String>| {
        texts.iter().map(|(name, value)| Ok((name.clone(), text(value)?))).collect::<Result<BTreeMap<_, _>, String>>()
    };
    Ok(match &server.access {
        ServerAccess::Program { command, arguments, environment, directory } => ServerAccess::Program {
            command: text(command)?,
            arguments: arguments.iter().map(text).collect::<Result<_, _>>()?,
            environment: texts(environment)?,
            directory: directory.as_ref().map(text).transpose()?,
        },
        ServerAccess::Address { url, headers, helper, oauth } => ServerAccess::Address {
            url: text(url)?,
            headers: texts(headers)?,
            helper: helper.iter().map(text).collect::<Result<_, _>>()?,
            oauth: OAuthSettings {
                client_id: oauth.client_id.as_ref().map(text).transpose()?,
                client_secret: oauth.client_secret.as_ref().map(text).transpose()?,
                ..oauth.clone()
            },
        },
        ServerAccess::OldAddress { url } => ServerAccess::OldAddress { url: text(url)? },
    })
}

fn expand(text: &str, lookup: &Lookup) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((inner, after)) = behind.split_once('}') else {
            return Err("a `${` has no `}`".to_owned());
        };
        let (name, otherwise) = inner.split_once(":-").map_or((inner, None), |(name, other)| (name, Some(other)));
        if !is_name(name) {
            return Err(format!("`${{{inner}}}` names no variable"));
        }
        let value = lookup(name).filter(|value| !value.is_empty());
        let value = value.or_else(|| otherwise.map(str::to_owned));
        expanded += before;
        expanded += &value.ok_or_else(|| format!("the variable {name}, which it needs, is not set"))?;
        rest = after;
    }
    Ok(expanded + rest)
}

fn is_name(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.chars().all(plain) && name.starts_with(|first: char| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded_text(text: &str) -> Result<String, String> {
        let known: Lookup = Arc::new(|name| match name {
            "KEY" => Some("k1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        expand(text, &known)
    }

    #[test]
    fn variables_are_replaced_everywhere_and_nothing_else_is() {
        assert_eq!(expanded_text("a ${KEY} b ${KEY}").unwrap(), "a k1 b k1");
        assert_eq!(
            expanded_text("$KEY {KEY} $ ${GONE:-other} ${EMPTY:-} ${KEY:-other}").unwrap(),
            "$KEY {KEY} $ other  k1"
        );
    }

    #[test]
    fn an_unset_variable_is_an_error_that_names_it() {
        for text in ["${GONE}", "x ${EMPTY}"] {
            assert!(expanded_text(text).unwrap_err().ends_with("which it needs, is not set"), "{text}");
        }
        assert_eq!(expanded_text("${open").unwrap_err(), "a `${` has no `}`");
        assert_eq!(expanded_text("${a b}").unwrap_err(), "`${a b}` names no variable");
        assert_eq!(expanded_text("${}").unwrap_err(), "`${}` names no variable");
    }
}
