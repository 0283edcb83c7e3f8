//! Resources: fixed ones, and those of the single template.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResponse, ReadResourceResult, ResourceContents};
use serde_json::json;

use crate::lists::Lists;

pub(crate) fn answer(uri: &str, lists: &Lists) -> Result<ReadResourceResponse, ErrorData> {
    let contents = lists.fixed_resource(uri).or_else(|| from_template(uri));
    let contents =
        contents.ok_or_else(|| ErrorData::resource_not_found("no such resource", Some(json!({ "uri": uri }))))?;
    Ok(ReadResourceResult::new(vec![contents]).into())
}

fn from_template(uri: &str) -> Option<ResourceContents> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let text = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string();
    Some(ResourceContents::text(text, uri).with_mime_type("application/json"))
}
