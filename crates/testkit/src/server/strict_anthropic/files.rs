//! Rejections of Anthropic for images and documents. Only bytes in the request itself are served here.

use serde_json::Value;

use super::{Checked, check_fields, invalid};
use crate::server::strict::{Object, is_base64};

const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];
const DOCUMENTS: &[&str] = &["application/pdf"];
const LONGEST_TITLE: usize = 500;

pub(super) fn check_image(at: &str, block: &Object) -> Checked {
    check_fields(at, block, &["type", "source", "cache_control"], &["source"])?;
    check_source(&format!("{at}.source"), &block["source"], IMAGES)
}

pub(super) fn check_document(at: &str, block: &Object) -> Checked {
    let known = ["type", "source", "cache_control", "citations", "context", "title"];
    check_fields(at, block, &known, &["source"])?;
    if let Some(title) = block.get("title") {
        match title.as_str().map(|title| title.chars().count()) {
            Some(1..=LONGEST_TITLE) => {}
            Some(0) => return invalid(format!("{at}.title: String should have at least 1 character")),
            Some(_) => return invalid(format!("{at}.title: String should have at most {LONGEST_TITLE} characters")),
            None => return invalid(format!("{at}.title: Input should be a valid string")),
        }
    }
    check_source(&format!("{at}.source"), &block["source"], DOCUMENTS)
}

fn check_source(at: &str, source: &Value, media_types: &[&str]) -> Checked {
    let Some(source) = source.as_object() else { return invalid(format!("{at}: Input should be an object")) };
    check_fields(at, source, &["type", "media_type", "data"], &["type", "media_type", "data"])?;
    if source["type"] != "base64" {
        return invalid(format!("{at}.type: only base64 sources are served here, got {}", source["type"]));
    }
    if !source["media_type"].as_str().is_some_and(|given| media_types.contains(&given)) {
        return invalid(format!("{at}.base64.media_type: Input should be '{}'", media_types.join("', '")));
    }
    match source["data"].as_str() {
        None | Some("") => invalid(format!("{at}.base64.data: String should have at least 1 character")),
        Some(data) if is_base64(data) => Ok(()),
        Some(_) => invalid(format!("{at}.base64.data: Invalid base64 data")),
    }
}
