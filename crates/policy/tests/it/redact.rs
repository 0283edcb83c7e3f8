//! Secrets are redacted; lookalikes stay.
//!
//! The keys are assembled here so that no scanner takes this file for a leak.

use std::sync::{Arc, LazyLock};

use sortie_policy::{Redactor, without_credentials};

/// Knows shapes only. Built once, since that takes longer than all its work here.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(Vec::new()));

/// Repeatable letters and digits that look machine-made.
fn drawn(length: usize) -> String {
    let letters = b"Qa7xZ2mK9pLr4TfW8cVy3NbH6dGj5Es1UoIiRtXe0BnPwMkAvCzYhJqDgFlSu";
    (0..length).map(|index| letters[index * 17 % letters.len()] as char).collect()
}

fn clean(text: &str) -> String {
    REDACTOR.redact(text).text.into_owned()
}

/// A key of every kind that is recognised by itself, and its name.
fn keys() -> Vec<(String, &'static str)> {
    let upper = drawn(64).to_uppercase();
    vec![
        (format!("AKIA{}", &upper[..16]), "AWS access key id"),
        (format!("ASIA{}", &upper[..16]), "AWS access key id"),
        (format!("ghp_{}", drawn(36)), "GitHub token"),
        (format!("gho_{}", drawn(36)), "GitHub token"),
        (format!("ghu_{}", drawn(36)), "GitHub token"),
        (format!("ghs_{}", drawn(36)), "GitHub token"),
        (format!("ghr_{}", drawn(76)), "GitHub token"),
        (format!("github_pat_{}_{}", drawn(22), drawn(59)), "GitHub token"),
        (format!("glpat-{}", drawn(20)), "GitLab token"),
        (format!("sk-ant-api03-{}-{}AA", drawn(60), drawn(20)), "Anthropic key"),
        (format!("sk-{}", drawn(48)), "OpenAI key"),
        (format!("sk-{}", "0123456789abcdef".repeat(2)), "OpenAI key"),
        (format!("sk-proj-{}_{}-{}", drawn(20), drawn(30), drawn(60)), "OpenAI key"),
        (format!("sk-svcacct-{}", drawn(60)), "OpenAI key"),
        (format!("sk-or-v1-{}", "0123456789abcdef".repeat(4)), "OpenRouter key"),
        (format!("AIza{}", drawn(35)), "Google API key"),
        (format!("GOCSPX-{}", drawn(28)), "Google client secret"),
        (format!("xoxb-123456789012-123456789012-{}", drawn(24)), "Slack token"),
        (format!("xoxp-123456789012-{}", drawn(24)), "Slack token"),
        (format!("sk_live_{}", drawn(24)), "Stripe key"),
        (format!("rk_live_{}", drawn(24)), "Stripe key"),
        (format!("npm_{}", drawn(36)), "npm token"),
        (format!("hf_{}", drawn(34)), "Hugging Face token"),
        (format!("SG.{}.{}", drawn(22), drawn(43)), "SendGrid key"),
        (format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", drawn(30), drawn(43)), "JWT"),
        (format!("xapp-1-A012BCDEFGH-1234567890123-{}", "0123456789abcdef".repeat(4)), "Slack token"),
        (format!("sk_test_{}", drawn(24)), "Stripe key"),
        (format!("whsec_{}", drawn(32)), "webhook secret"),
        (format!("pypi-AgEIcHlwaS5vcmc{}", drawn(120)), "PyPI token"),
        (format!("gsk_{}", drawn(52)), "Groq key"),
        (format!("xai-{}", drawn(80)), "xAI key"),
        (format!("ya29.a0{}-{}", drawn(40), drawn(60)), "Google access token"),
        (format!("dop_v1_{}", "0123456789abcdef".repeat(4)), "DigitalOcean token"),
        (format!("hvs.{}", drawn(24)), "Vault token"),
    ]
}

#[test]
fn known_shapes_are_marked_with_their_kind() {
    for (secret, what) in keys() {
        for (before, after) in
            [("", ""), ("key=", "\n"), ("\"", "\","), ("Authorization: ", ""), ("\\n", "\\n"), ("(", ")")]
        {
            let redacted = clean(&format!("{before}{secret}{after}"));
            assert_eq!(redacted, format!("{before}[redacted: {what}]{after}"), "{secret}");
        }
        let glued = format!("x{secret}");
        assert_eq!(clean(&glued), glued, "the middle of a word is no key");
    }
}

#[test]
fn any_character_that_is_not_a_letter_may_precede_a_key() {
    for (secret, what) in keys() {
        for before in ["-", "+", "_", "=", ":", "\"", "/", "@", "TOKEN_", "--token-", "a\n-", "%3D", "token%3d", "é"] {
            let redacted = clean(&format!("{before}{secret}\n"));
            assert_eq!(redacted, format!("{before}[redacted: {what}]\n"), "{before}{secret}");
        }
    }
}

#[test]
fn an_aws_secret_key_is_recognised_by_the_word_before_it() {
    let secret = format!("{}/+{}", drawn(20), drawn(18));
    for line in [
        format!("aws_secret_access_key = {secret}"),
        format!("export AWS_SECRET_ACCESS_KEY={secret}\n"),
        format!("\"SecretAccessKey\": \"{secret}\","),
        format!("secretAccessKey: '{secret}'"),
        format!("{{\\\"SecretAccessKey\\\": \\\"{secret}\\\"}}"),
    ] {
        let redacted = REDACTOR.redact(&line).text.into_owned();
        assert_eq!(redacted, line.replace(&secret, "[redacted: AWS secret key]"), "{line}");
    }
    assert_eq!(clean(&secret), secret, "forty letters by themselves may be anything");
}

#[test]
fn private_keys_and_their_armour_are_redacted_in_any_notation() {
    let body = format!("{}\n{}\n{}==", drawn(64), drawn(64), drawn(20));
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let key = format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----");
        assert_eq!(clean(&format!("a\n{key}\nb")), "a\n[redacted: private key]\nb");
        let json = format!("{{\"key\": \"{}\"}}", key.replace('\n', "\\n"));
        assert_eq!(clean(&json), "{\"key\": \"[redacted: private key]\"}");
        let line = |(index, line): (usize, &str)| format!("{:>6}\t{line}", index + 1);
        let numbered = key.lines().enumerate().map(line).collect::<Vec<_>>().join("\n");
        assert_eq!(clean(&numbered), "     1\t[redacted: private key]");
    }
    let pgp =
        format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----");
    assert_eq!(clean(&pgp), "[redacted: private key]");
}

/// Starts of base64 keys, and lines that follow them.
fn bodies() -> Vec<(&'static str, String)> {
    let starts = [
        ("PKCS #1", "MIIEpAIBAAKCAQEA"),
        ("PKCS #1, 4096 bits", "MIIJKQIBAAKCAgEA"),
        ("PKCS #8", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"),
        ("PKCS #8, encrypted", "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkq"),
        ("SEC 1, P-256", "MHcCAQEEI"),
        ("SEC 1, P-384", "MIGkAgEBBDB"),
        ("PKCS #8, P-256", "MIGHAgEAMBMGByqGSM49AgEG"),
        ("PKCS #8, Ed25519", "MC4CAQAwBQYDK2VwBCIEI"),
        ("OpenSSH", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE"),
        ("something like a key", "MIIE0000000000"),
    ];
    let body = |start: &str| {
        format!("{start}{}\n{}/+\n{}==", drawn(64 - start.len()), drawn(62), drawn(18))
            .replace("0000000000", "abcdefghij")
    };
    starts.map(|(kind, start)| (kind, body(start))).to_vec()
}

#[test]
fn the_body_of_a_private_key_is_redacted_without_its_armour() {
    for (kind, body) in bodies() {
        let lines = |mark: fn(usize) -> String| {
            let line = |(index, line): (usize, &str)| format!("{}{line}", mark(index + 2));
            body.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
        };
        for (mark, shown) in [
            (lines(|number| format!("{number}\t")), "2\t"),
            (lines(|number| format!("{number}:")), "2:"),
            (lines(|number| format!("{number}-")), "2-"),
            (lines(|_| "-".to_owned()), "-"),
            (lines(|_| "+".to_owned()), "+"),
            (lines(|_| "    ".to_owned()), "    "),
            (body.replace('\n', "\r\n"), ""),
            (body.replace('\n', "\\n"), ""),
        ] {
            let redacted = clean(&format!("a\n{mark}\nand text again\n"));
            assert_eq!(redacted, format!("a\n{shown}[redacted: private key]\nand text again\n"), "{kind}: {mark}");
        }
        let first = body.lines().next().unwrap();
        let redacted = clean(&format!("1:{first}"));
        assert_eq!(redacted == "1:[redacted: private key]", kind != "something like a key", "{redacted}");
    }
}

#[test]
fn the_end_of_a_private_key_is_redacted_without_its_beginning() {
    let (full, last) = (drawn(64), format!("{}==", drawn(18)));
    let end = "-----END RSA PRIVATE KEY-----";
    for (text, expected) in [
        (format!("{full}\n{last}\n{end}\nb"), "[redacted: private key]\nb"),
        (format!("10\t{full}\n11\t{last}\n12\t{end}\nb"), "10\t[redacted: private key]\nb"),
        (format!("10-{full}\n11-{last}\n12:{end}\nb"), "10-[redacted: private key]\nb"),
        (format!("-{full}\n-{last}\n-{end}\nb"), "-[redacted: private key]\nb"),
        (format!("a {full}\\n{full}\\n{last}\\n{end}\\n"), &format!("a {full}\\n[redacted: private key]\\n")),
        (format!("11\t{last}\n12\t{end}\n"), "11\t[redacted: private key]\n"),
    ] {
        assert_eq!(clean(&text), expected, "{text}");
    }
    for text in [
        format!("some words\n{end}\n"),
        format!("{full}\n-----END CERTIFICATE-----\n"),
        format!("{full} is followed by {end}\n"),
    ] {
        assert_eq!(clean(&text), text);
    }
}

#[test]
fn a_private_key_in_a_diff_is_redacted_to_its_end() {
    let body = format!("{}\n{}\n{}==", drawn(64), drawn(64), drawn(18));
    let key = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----");
    for mark in ["-", "+", " ", "12-"] {
        let lines: Vec<String> = key.lines().map(|line| format!("{mark}{line}")).collect();
        assert_eq!(clean(&lines.join("\n")), format!("{mark}[redacted: private key]"));
        assert_eq!(clean(&lines[..4].join("\n")), format!("{mark}[redacted: private key]"), "without its end");
    }
}

#[test]
fn public_data_in_base64_stays() {
    let lines = format!("{}\n{}\n{}==", drawn(40), drawn(64), drawn(18));
    for start in [
        "MIIDXTCCAkWgAwIBAgIJ",             // a certificate
        "MIIFazCCA1OgAwIBAgIU",             // a larger one
        "MIIEpDCCA4ygAwIBAgIJ",             // one that is as long as a private key
        "MIICijCCAXICAQAwRTEL",             // a request
        "MIIBIjANBgkqhkiG9w0BAQEFAAOC",     // a public key
        "MIIBCgKCAQEA",                     // the same in PKCS #1
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD", // one on a curve
        "iVBORw0KGgoAAAANSUhEUgAA",         // an image
        "UEsDBBQAAAAIAA",                   // an archive
    ] {
        let text = format!("{start}{lines}\n");
        assert_eq!(clean(&text), text);
    }
}

#[test]
fn a_key_is_recognised_by_the_name_of_its_header_or_field() {
    let key = format!("{}-{}", drawn(20), drawn(12));
    for line in [
        format!("x-api-key: {key}"),
        format!("-H 'X-Api-Key: {key}'"),
        format!("\"X-API-Key\": \"{key}\","),
        format!("request.header(\"x-api-key\", \"{key}\")"),
        format!("headers[\"X-API-KEY\"] = \"{key}\""),
        format!("api-key: {key}"),
        format!("serve --api-key={key} --port 1"),
    ] {
        assert_eq!(clean(&line), line.replace(&key, "[redacted: credentials]"), "{line}");
    }
    let account = format!("{}+{}/{}==", drawn(40), drawn(20), drawn(24));
    for line in [
        format!("DefaultEndpointsProtocol=https;AccountName=a;AccountKey={account};EndpointSuffix=b"),
        format!("Endpoint=sb://a/;SharedAccessKeyName=b;SharedAccessKey={account}"),
        format!("\"AccountKey\": \"{account}\""),
    ] {
        assert_eq!(clean(&line), line.replace(&account, "[redacted: Azure key]"), "{line}");
    }
    for line in [
        "x-api-key: $ANTHROPIC_API_KEY_2",
        "x-api-key: ${KEY1}, x-api-key: <your-api-key-1>, x-api-key: {{api_key_1}}",
        "the x-api-key header, and an api-key-that-was-1-word-long",
        "x-api-key: process.env.ANTHROPIC_API_KEY",
        "AccountKey = ReadFromTheEnvironment(); SharedAccessKeyName=RootManageSharedAccessKey",
    ] {
        assert_eq!(clean(line), line);
    }
}

#[test]
fn a_truncated_private_key_is_redacted() {
    let cut = format!("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{}\n{}\n", drawn(64), drawn(12));
    assert_eq!(clean(&cut), "[redacted: private key]");
    let followed = format!("{cut}and then there is text again\n");
    assert_eq!(clean(&followed), "[redacted: private key]and then there is text again\n");
}

#[test]
fn only_the_password_of_a_url_is_redacted() {
    for (url, redacted) in [
        ("postgres://me:hunter2@db.example/x", "postgres://me:[redacted: password]@db.example/x"),
        ("https://:s3cret@example.com", "https://:[redacted: password]@example.com"),
        ("https://a:b@c@example.com/", "https://a:[redacted: password]@example.com/"),
        ("see redis://u:p4ss@h:6379, or not", "see redis://u:[redacted: password]@h:6379, or not"),
    ] {
        assert_eq!(clean(url), redacted);
    }
    for url in [
        "https://example.com/a:b@c",
        "https://me@example.com/",
        "http://127.0.0.1:8080/",
        "postgres://me:$PASSWORD@db/x",
        "postgres://me:${PASSWORD}@db/x",
        "postgres://me:<password>@db/x",
        "postgres://me:****@db/x",
        "git+ssh://git@host:path",
    ] {
        assert_eq!(clean(url), url);
    }
}

#[test]
fn the_credentials_of_a_header_are_redacted_in_any_form() {
    for (header, redacted) in [
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [redacted: credentials]"),
        ("authorization: bearer tok_9x8y7z6w", "authorization: bearer [redacted: credentials]"),
        ("-H 'Authorization: Basic dXNlcjpwYXNz'", "-H 'Authorization: Basic [redacted: credentials]'"),
        ("\"Authorization\": \"Bearer abc123def456\"", "\"Authorization\": \"Bearer [redacted: credentials]\""),
        ("AUTHORIZATION: Token 0123456789ab", "AUTHORIZATION: Token [redacted: credentials]"),
        ("Proxy-Authorization: Basic dXNlcjpwYXNz", "Proxy-Authorization: Basic [redacted: credentials]"),
    ] {
        assert_eq!(clean(header), redacted);
    }
    for header in [
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: Bearer {token}",
        "Authorization: Bearer",
        "the authorization token is sent as a header",
        "Authorization: Bearer xxxxxxxxxxxx",
    ] {
        assert_eq!(clean(header), header);
    }
}

#[test]
fn known_values_are_redacted_everywhere() {
    let redactor = Redactor::new(vec!["correct-horse".to_owned(), "with\"quote".to_owned(), "short".to_owned()]);
    let redacted = redactor.redact("Xcorrect-horseX with\"quote {\"a\": \"with\\\"quote\"} a short word");
    let mark = "[redacted: known secret]";
    assert_eq!(redacted.text, format!("X{mark}X {mark} {{\"a\": \"{mark}\"}} a short word"));
    assert_eq!(redacted.count, 3);
    let lines = "first \"line\"\r\n\tsecond\\line";
    let redactor = Redactor::new(vec![lines.to_owned()]);
    let shown = serde_json::json!({ "a": lines }).to_string();
    assert_eq!(redactor.redact(&shown).text, format!("{{\"a\":\"{mark}\"}}"), "of several lines, in JSON");
    assert_eq!(redactor.redact(lines).text, mark);
    let placeholders = Redactor::new(vec!["lm-studio".to_owned()]);
    assert_eq!(placeholders.redact("start lm-studio first").count, 0, "a key that is none");
    assert!(!format!("{redactor:?}").contains("line"), "nor does it tell");
}

#[test]
fn values_learnt_later_are_redacted_for_everyone_who_shares_the_redactor() {
    let redactor = Arc::new(Redactor::new(vec!["known-before".to_owned()]));
    let shared = Arc::clone(&redactor);
    let text = "known-before, learnt-later, short, password";
    assert_eq!(shared.redact(text).count, 1);
    redactor.learn(vec!["learnt-later".to_owned(), "short".to_owned(), "password".to_owned()]);
    let mark = "[redacted: known secret]";
    assert_eq!(shared.redact(text).text, format!("{mark}, {mark}, short, password"));
    assert_eq!(shared.secrets(text), ["known-before", "learnt-later"]);
    redactor.learn(vec!["learnt-later".to_owned()]);
    assert_eq!(shared.redact(text).count, 2, "nothing is forgotten over what is learnt again");
    let key = format!("ghp_{}", drawn(36));
    assert_eq!(shared.redact(&key).text, "[redacted: GitHub token]", "shapes stay known");
}

#[test]
fn a_url_is_shown_without_possible_keys() {
    for (url, shown) in [
        ("https://me:key@h/mcp?key=x", "https://********@h/mcp"),
        ("https://h?key=x", "https://h"),
        ("http://h/a@b", "http://h/a@b"),
        ("no address", "no address"),
    ] {
        assert_eq!(without_credentials(url), shown);
    }
}

#[test]
fn a_known_value_with_a_known_shape_is_marked_once() {
    let key = format!("ghp_{}", drawn(36));
    let redactor = Redactor::new(vec![key.clone(), key[..20].to_owned(), key[10..].to_owned() + " tail"]);
    let redacted = redactor.redact(&format!("a {key} tail b")).into_text();
    assert!(!redacted.contains(&key[4..12]) && !redacted.contains("tail"), "{redacted}");
    assert!(redacted.starts_with("a [redacted: ") && redacted.ends_with("] b"), "{redacted}");
}

#[test]
fn ordinary_text_is_borrowed_unchanged() {
    let image = drawn(4000).replace('a', "/").replace('7', "+");
    for text in [
        "",
        "sk-learn and sk-circle-fade-dot-animation-large, task-1234567890, risk-free",
        "disk-0123456789abcdef0123456789abcdef",
        "class=\"sk-three-bounce-loading-indicator-2\"",
        "sk-your-api-key-goes-here",
        "sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "hf_hub_download(repo_id, filename, cache_directory, force)",
        "hf_transformer_attention_output_projection",
        "npm_config_registry npm_lifecycle_event npm_package_version",
        "AKIA ASIA ASIAN AKIAKIA",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "123e4567-e89b-12d3-a456-426614174000",
        "data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEuanMiXX0=",
        "eyJ.eyJ.x and eyJhbGciOiJIUzI1NiJ9 alone",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "if (line === '-----BEGIN PRIVATE KEY-----') { until('-----END PRIVATE KEY-----') }",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
        "secret_access_key is read from the environment",
        "-sk-circle-fade-dot-animation-large --sk-learn _hf_hub_download -npm_config_registry",
        "pypi-attestations-and-other-packages-with-long-names-0-1-2-3-4-5",
        "xapp-my-application-0-1-2-3, gsk_version_1, hvs.rs, ya29.example, whsec_your_webhook_secret_1",
        "xai-org/grok-prompts-and-other-things-1-2-3-4-5-6-7-8-9-10-11-12-13",
        "MIT MII MIIE MIGRATION_0001 CAQEE",
        "SG.x SG.1 SG.short.parts",
        "xoxo-love xoxb-your-token",
        "https://user@example.com:8080/a?b=c://d",
        image.as_str(),
    ] {
        let redacted = REDACTOR.redact(text);
        assert_eq!(redacted.text, text);
        assert_eq!(redacted.count, 0);
        assert!(matches!(redacted.text, std::borrow::Cow::Borrowed(_)));
    }
}

#[test]
fn redacting_twice_changes_nothing() {
    let text = format!(
        "ghp_{} https://a:b1@c Authorization: Bearer abc123def456 -----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
        drawn(36),
        drawn(64)
    );
    let once = clean(&text);
    assert_eq!(REDACTOR.redact(&text).count, 4);
    assert_eq!(clean(&once), once);
}

#[test]
fn letters_of_every_alphabet_around_a_secret_survive() {
    let key = format!("ghp_{}", drawn(36));
    assert_eq!(clean(&format!("héé→{key}←žluť 🦀")), "héé→[redacted: GitHub token]←žluť 🦀");
    assert_eq!(clean(&format!("https://ü:ö1ö@ä/{key}é")), "https://ü:[redacted: password]@ä/[redacted: GitHub token]é");
}
