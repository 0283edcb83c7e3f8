//! Request addresses for every way of writing a base URL.

use sortie_llm::WireKind;
use sortie_llm::wire::for_kind;

use crate::fixture::{everything, request, route};

/// A base URL, and the address that each wire posts to under it.
const ADDRESSES: &[[&str; 4]] = &[
    [
        "http://127.0.0.1:9000",
        "http://127.0.0.1:9000/v1/messages",
        "http://127.0.0.1:9000/v1/chat/completions",
        "http://127.0.0.1:9000/v1/responses",
    ],
    [
        "http://127.0.0.1:9000/",
        "http://127.0.0.1:9000/v1/messages",
        "http://127.0.0.1:9000/v1/chat/completions",
        "http://127.0.0.1:9000/v1/responses",
    ],
    [
        "http://127.0.0.1:9000/v1",
        "http://127.0.0.1:9000/v1/messages",
        "http://127.0.0.1:9000/v1/chat/completions",
        "http://127.0.0.1:9000/v1/responses",
    ],
    [
        "http://127.0.0.1:9000/v1/",
        "http://127.0.0.1:9000/v1/messages",
        "http://127.0.0.1:9000/v1/chat/completions",
        "http://127.0.0.1:9000/v1/responses",
    ],
    [
        "https://api.anthropic.com",
        "https://api.anthropic.com/v1/messages",
        "https://api.anthropic.com/v1/chat/completions",
        "https://api.anthropic.com/v1/responses",
    ],
    [
        "https://host.example/api",
        "https://host.example/api/v1/messages",
        "https://host.example/api/chat/completions",
        "https://host.example/api/responses",
    ],
    [
        "https://host.example/api/v1",
        "https://host.example/api/v1/messages",
        "https://host.example/api/v1/chat/completions",
        "https://host.example/api/v1/responses",
    ],
    [
        "https://host.example/v1beta/openai/",
        "https://host.example/v1beta/openai/v1/messages",
        "https://host.example/v1beta/openai/chat/completions",
        "https://host.example/v1beta/openai/responses",
    ],
    [
        "https://host.example/v1?api-version=2",
        "https://host.example/v1/messages?api-version=2",
        "https://host.example/v1/chat/completions?api-version=2",
        "https://host.example/v1/responses?api-version=2",
    ],
    [
        "http://[::1]:9000",
        "http://[::1]:9000/v1/messages",
        "http://[::1]:9000/v1/chat/completions",
        "http://[::1]:9000/v1/responses",
    ],
];

#[test]
fn the_version_is_added_once_and_a_path_is_kept() {
    let messages = everything();
    for [base_url, anthropic, openai_chat, openai_responses] in ADDRESSES {
        for (wire, expected) in [
            (WireKind::Anthropic, anthropic),
            (WireKind::OpenAiChat, openai_chat),
            (WireKind::OpenAiResponses, openai_responses),
        ] {
            let encoded = for_kind(wire).encode(&route(wire, base_url), &request(&[], &messages)).unwrap();
            assert_eq!(encoded.url.as_str(), *expected, "{base_url} on {wire}");
        }
    }
}
