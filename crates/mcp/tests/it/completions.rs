//! Completion of arguments while a person types.

use rmcp::model::{CompleteRequestParams, Reference};
use serde_json::json;
use sortie_testkit::{Script, reply};

use crate::site::{Client, Site, task};

async fn complete(client: &Client<()>, reference: Reference, name: &str, typed: &str) -> Vec<String> {
    let argument = serde_json::from_value(json!({"name": name, "value": typed})).expect("an argument");
    client.complete(CompleteRequestParams::new(reference, argument)).await.expect("an answer").completion.values
}

const TEMPLATE: &str =
    "---\ndescription: Ports\narguments: [from, {name: to, default: rust}]\n---\nPort from {{from}} to {{to}}.\n";

#[tokio::test]
async fn agents_defaults_and_ids_are_suggested() {
    let site = Site::new(Script::always(reply::text("done")), &[(".sortie/templates/port.md", TEMPLATE)]);
    let client = site.connect(()).await;
    let port = || Reference::for_prompt("port");
    assert_eq!(complete(&client, port(), "agent", "EX").await, ["explore"]);
    assert_eq!(complete(&client, port(), "agent", "").await.len(), 5);
    assert_eq!(complete(&client, port(), "to", "").await, ["rust"]);
    assert_eq!(complete(&client, port(), "from", "").await, [""; 0]);
    let id = task(&client, "Look.").await;
    let report = || Reference::for_resource("sortie://tasks/{id}/report{?from}");
    assert_eq!(complete(&client, report(), "id", "agent-").await, [id]);
    assert_eq!(complete(&client, report(), "id", "other").await, [""; 0]);
    assert_eq!(complete(&client, report(), "from", "").await, [""; 0]);
    let argument = || serde_json::from_value(json!({"name": "agent", "value": ""})).expect("an argument");
    for unknown in [Reference::for_prompt("nothing"), Reference::for_resource("sortie://nothing")] {
        assert!(client.complete(CompleteRequestParams::new(unknown, argument())).await.is_err());
    }
}
