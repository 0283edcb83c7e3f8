//! The table of known kinds of secrets: the text that each begins with, and what must follow.

use std::ops::Range;

use super::characters::{
    alphanumeric, base64, has_both_cases, has_digit, header_value, longest_stretch, run, run_up_to, starts_word,
    url_safe, word,
};
use super::named_values::{api_key, authorization, aws_secret, azure_key, url_password};
use super::{der, pem};

/// One kind of secret.
pub(super) struct Shape {
    /// Text to search for.
    pub(super) anchor: &'static str,
    /// Name of the kind, for the mark.
    pub(super) what: &'static str,
    body: Body,
}

enum Body {
    /// The anchor and at least this many characters of the class, including a digit; a word of its own.
    Least(Class, usize),
    /// The anchor and exactly this many characters of the class; a word of its own.
    Exactly(Class, usize),
    /// A word of its own, found by the function from the anchor.
    Word(Find),
    /// A word of its own, found by the function. If it finds nothing, it would find nothing later in the same run of
    /// these characters.
    Run(Class, Find),
    /// Found by the function from the anchor, not necessarily a word of its own.
    Beside(Find),
}

type Class = fn(u8) -> bool;
type Find = fn(&str, usize, &'static str) -> Option<Range<usize>>;

/// The finding at an anchor.
pub(super) enum Looked {
    Secret(Range<usize>),
    /// No secret here, nor at any other anchor of the same shape up to this position. A run with many anchors must not
    /// be walked for each of them.
    Nothing {
        until: usize,
    },
}

const fn shape(anchor: &'static str, what: &'static str, body: Body) -> Shape {
    Shape { anchor, what, body }
}

const GITHUB: &str = "GitHub token";
const SLACK: &str = "Slack token";
const STRIPE: &str = "Stripe key";
const AWS_ID: &str = "AWS access key id";
const AWS_SECRET: &str = "AWS secret key";
const OPENAI: &str = "OpenAI key";
const CREDENTIALS: &str = "credentials";
const DIGITAL_OCEAN: &str = "DigitalOcean token";
const AZURE: &str = "Azure key";
const PRIVATE_KEY: &str = "private key";

pub(super) const SHAPES: &[Shape] = &[
    shape("AKIA", AWS_ID, Body::Exactly(alphanumeric, 16)),
    shape("ASIA", AWS_ID, Body::Exactly(alphanumeric, 16)),
    shape("secret_access_key", AWS_SECRET, Body::Beside(aws_secret)),
    shape("SECRET_ACCESS_KEY", AWS_SECRET, Body::Beside(aws_secret)),
    shape("SecretAccessKey", AWS_SECRET, Body::Beside(aws_secret)),
    shape("secretAccessKey", AWS_SECRET, Body::Beside(aws_secret)),
    shape("aws_secret_key", AWS_SECRET, Body::Beside(aws_secret)),
    shape("AWS_SECRET_KEY", AWS_SECRET, Body::Beside(aws_secret)),
    shape("ghp_", GITHUB, Body::Least(alphanumeric, 36)),
    shape("gho_", GITHUB, Body::Least(alphanumeric, 36)),
    shape("ghu_", GITHUB, Body::Least(alphanumeric, 36)),
    shape("ghs_", GITHUB, Body::Least(alphanumeric, 36)),
    shape("ghr_", GITHUB, Body::Least(alphanumeric, 36)),
    shape("github_pat_", GITHUB, Body::Least(word, 36)),
    shape("glpat-", "GitLab token", Body::Least(url_safe, 20)),
    shape("sk-", OPENAI, Body::Run(url_safe, drawn_key)),
    shape("sk-proj-", OPENAI, Body::Least(url_safe, 24)),
    shape("sk-svcacct-", OPENAI, Body::Least(url_safe, 24)),
    shape("sk-admin-", OPENAI, Body::Least(url_safe, 24)),
    shape("sk-ant-", "Anthropic key", Body::Least(url_safe, 24)),
    shape("sk-or-", "OpenRouter key", Body::Least(url_safe, 24)),
    shape("AIza", "Google API key", Body::Exactly(url_safe, 35)),
    shape("GOCSPX-", "Google client secret", Body::Exactly(url_safe, 28)),
    shape("xox", SLACK, Body::Run(url_safe, slack)),
    shape("xapp-1-", SLACK, Body::Least(url_safe, 24)),
    shape("sk_live_", STRIPE, Body::Least(alphanumeric, 16)),
    shape("rk_live_", STRIPE, Body::Least(alphanumeric, 16)),
    shape("sk_test_", STRIPE, Body::Least(alphanumeric, 16)),
    shape("rk_test_", STRIPE, Body::Least(alphanumeric, 16)),
    shape("whsec_", "webhook secret", Body::Least(base64, 24)),
    shape("npm_", "npm token", Body::Exactly(alphanumeric, 36)),
    shape("pypi-AgE", "PyPI token", Body::Least(url_safe, 40)),
    shape("gsk_", "Groq key", Body::Least(alphanumeric, 40)),
    shape("xai-", "xAI key", Body::Least(alphanumeric, 40)),
    shape("ya29.", "Google access token", Body::Least(url_safe, 24)),
    shape("dop_v1_", DIGITAL_OCEAN, Body::Least(alphanumeric, 40)),
    shape("doo_v1_", DIGITAL_OCEAN, Body::Least(alphanumeric, 40)),
    shape("dor_v1_", DIGITAL_OCEAN, Body::Least(alphanumeric, 40)),
    shape("hvs.", "Vault token", Body::Least(url_safe, 24)),
    shape("hvb.", "Vault token", Body::Least(url_safe, 24)),
    shape("hf_", "Hugging Face token", Body::Word(hugging_face)),
    shape("SG.", "SendGrid key", Body::Word(sendgrid)),
    shape("eyJ", "JWT", Body::Run(url_safe, jwt)),
    shape("-----BEGIN ", PRIVATE_KEY, Body::Beside(pem::find)),
    shape("-----END ", PRIVATE_KEY, Body::Beside(pem::find_end)),
    shape("MII", PRIVATE_KEY, Body::Run(base64, der::find)),
    shape("MIG", PRIVATE_KEY, Body::Run(base64, der::find)),
    shape("MIH", PRIVATE_KEY, Body::Run(base64, der::find)),
    shape("CAQEE", PRIVATE_KEY, Body::Beside(der::find_short)),
    shape("CAQAw", PRIVATE_KEY, Body::Beside(der::find_short)),
    shape("CAQEw", PRIVATE_KEY, Body::Beside(der::find_short)),
    shape(der::OPENSSH, PRIVATE_KEY, Body::Run(base64, der::find)),
    shape("://", "password", Body::Beside(url_password)),
    shape("uthorization", CREDENTIALS, Body::Beside(authorization)),
    shape("UTHORIZATION", CREDENTIALS, Body::Beside(authorization)),
    shape("api-key", CREDENTIALS, Body::Run(header_value, api_key)),
    shape("Api-Key", CREDENTIALS, Body::Run(header_value, api_key)),
    shape("API-Key", CREDENTIALS, Body::Run(header_value, api_key)),
    shape("API-KEY", CREDENTIALS, Body::Run(header_value, api_key)),
    shape("AccountKey", AZURE, Body::Beside(azure_key)),
    shape("SharedAccessKey", AZURE, Body::Beside(azure_key)),
];

impl Shape {
    /// Looks for the secret whose anchor begins here.
    pub(super) fn look(&self, text: &str, at: usize) -> Looked {
        let body = at + self.anchor.len();
        let is_beside = matches!(self.body, Body::Beside(_));
        let (place, until) = match self.body {
            _ if !is_beside && !starts_word(text, at) => (None, at + 1),
            Body::Beside(find) | Body::Word(find) => (find(text, at, self.anchor), at + 1),
            Body::Run(class, find) => match find(text, at, self.anchor) {
                None => (None, at + run(text, at, class)),
                found => (found, at),
            },
            Body::Least(class, least) => {
                let end = body + run(text, body, class);
                ((end - body >= least && has_digit(&text[body..end])).then_some(at..end), end)
            }
            Body::Exactly(class, length) => {
                ((run_up_to(length, text, body, class) == length).then_some(at..body + length), at + 1)
            }
        };
        place.map_or(Looked::Nothing { until }, Looked::Secret)
    }
}

/// Finds `sk-` and a long run without the short words of CSS class names.
fn drawn_key(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let body = at + anchor.len();
    let end = body + run(text, body, url_safe);
    let stretch = longest_stretch(&text[body..end]);
    (stretch.len() >= 20 && has_digit(stretch) && stretch.bytes().any(|byte| byte.is_ascii_alphabetic()))
        .then_some(at..end)
}

/// Finds `hf_` and a long run with letters of both cases.
fn hugging_face(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let body = at + anchor.len();
    let end = body + run(text, body, alphanumeric);
    let is_whole = text.as_bytes().get(end) != Some(&b'_');
    (end - body >= 30 && is_whole && has_both_cases(&text[body..end])).then_some(at..end)
}

/// Finds `xoxb-` and the like.
fn slack(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let kind = at + anchor.len();
    let (kind, rest) = text.get(kind..)?.split_at_checked(2)?;
    let body = text.len() - rest.len();
    let end = body + run(text, body, url_safe);
    let is_known = kind.ends_with('-') && kind.starts_with(['a', 'b', 'c', 'd', 'e', 'p', 'r', 's']);
    (is_known && end - body >= 16 && has_digit(&text[body..end])).then_some(at..end)
}

/// Finds three parts, the first of which is known.
fn sendgrid(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let middle = at + anchor.len();
    let dot = middle + run(text, middle, url_safe);
    let last = text[dot..].strip_prefix('.').map(|_| dot + 1)?;
    let end = last + run(text, last, url_safe);
    (dot - middle >= 16 && end - last >= 32).then_some(at..end)
}

/// Finds three parts in `base64url`, the first of which begins as JSON does.
fn jwt(text: &str, at: usize, _: &'static str) -> Option<Range<usize>> {
    let mut end = at;
    let mut parts = 0;
    loop {
        let length = run(text, end, url_safe);
        if length < 12 {
            break;
        }
        (end, parts) = (end + length, parts + 1);
        if !text[end..].starts_with('.') || parts == 5 {
            break;
        }
        end += 1;
    }
    (parts >= 3).then(|| at..end - usize::from(text[..end].ends_with('.')))
}
