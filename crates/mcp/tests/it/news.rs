//! Notifications that a host receives unasked.
#![expect(deprecated, reason = "`resources/subscribe` is the way of all revisions with `initialize`")]

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ProtocolVersion, ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RoleClient};
use rmcp::{ClientHandler, ServiceExt as _};
use serde_json::json;
use sortie_mcp::Server;
use sortie_protocol::TaskRequest;
use sortie_testkit::{Script, reply, when};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::site::{Client, Site, call, task};

/// A host that records its notifications.
struct Listener(mpsc::UnboundedSender<String>);

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("tools".to_owned()).ok();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("prompts".to_owned()).ok();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("resources".to_owned()).ok();
    }

    async fn on_resource_updated(&self, updated: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.send(updated.uri).ok();
    }
}

fn listener() -> (Listener, mpsc::UnboundedReceiver<String>) {
    let (sender, heard) = mpsc::unbounded_channel();
    (Listener(sender), heard)
}

/// The next notification. A missing one makes a test fail, not hang.
async fn next(heard: &mut mpsc::UnboundedReceiver<String>) -> Option<String> {
    tokio::time::timeout(Duration::from_mins(2), heard.recv()).await.expect("no notification")
}

const AGENT: &str = "---\nname: reviewer\ndescription: Reviews\n---\nYou review.\n";

#[tokio::test]
async fn a_new_agent_and_a_new_template_change_the_lists() {
    let site = Site::new(Script::new().otherwise(reply::text("Seen.")), &[]);
    let (client, mut heard) = listener();
    let client = site.connect(client).await;
    client.subscribe(SubscribeRequestParams::new("sortie://agents")).await.expect("the resource exists");
    settle(&client, &mut heard).await;
    site.write(".sortie/agents/reviewer.md", AGENT);
    assert_eq!(next(&mut heard).await.as_deref(), Some("tools"));
    assert_eq!(next(&mut heard).await.as_deref(), Some("sortie://agents"));
    let tools = client.list_all_tools().await.expect("tools");
    assert!(
        tools[0].description.as_ref().expect("words").contains("\nreviewer: Reviews"),
        "{:?}",
        tools[0].description
    );

    site.write(".sortie/templates/look.md", "---\ndescription: Look\n---\nLook at {{input}}.\n");
    assert_eq!(next(&mut heard).await.as_deref(), Some("tools"));
    assert_eq!(next(&mut heard).await.as_deref(), Some("prompts"));
}

#[tokio::test]
async fn a_subscribed_report_is_notified_when_its_task_ends() {
    let late = reply::text("Late.").held_by("task");
    let site = Site::new(Script::new().once(when::any(), reply::text("Seen.")).otherwise(late), &[]);
    let (client, mut heard) = listener();
    let client = site.connect(client).await;
    settle(&client, &mut heard).await;
    let answer = call(&client, "Task", json!({"description": "a", "prompt": "b", "run_in_background": true})).await;
    let id = answer.structured_content.expect("an outcome")["task_id"].as_str().expect("an id").to_owned();
    let (report, changes) = (format!("sortie://tasks/{id}/report"), format!("sortie://tasks/{id}/changes"));
    client.subscribe(SubscribeRequestParams::new(&report)).await.expect("the resource exists");
    client.subscribe(SubscribeRequestParams::new(&changes)).await.expect("the resource exists");
    client.unsubscribe(UnsubscribeRequestParams::new(&changes)).await.expect("the resource exists");
    assert_eq!(next(&mut heard).await.as_deref(), Some("resources"), "there is a new task");
    site.model.gate("task").open();
    assert_eq!(next(&mut heard).await, Some(report));
    assert!(client.subscribe(SubscribeRequestParams::new("sortie://nothing")).await.is_err());
}

/// Waits until the session is being watched: a report from before the subscription is notified once.
async fn settle(client: &Client<Listener>, heard: &mut mpsc::UnboundedReceiver<String>) {
    let report = format!("sortie://tasks/{}/report", task(client, "Look.").await);
    client.subscribe(SubscribeRequestParams::new(&report)).await.expect("the resource exists");
    loop {
        match next(heard).await {
            Some(told) if told == report => break,
            Some(told) => assert_eq!(told, "resources"),
            None => panic!("the host is gone"),
        }
    }
}

#[tokio::test]
async fn a_report_from_before_the_subscription_is_notified_once() {
    let site = Site::new(Script::new().otherwise(reply::text("Seen.")), &[]);
    let (client, mut heard) = listener();
    let client = site.connect(client).await;
    settle(&client, &mut heard).await;
    site.write(".sortie/agents/reviewer.md", AGENT);
    assert_eq!(next(&mut heard).await.as_deref(), Some("tools"), "and not of the report again");
}

#[tokio::test]
async fn a_newer_listener_receives_only_what_it_requested() {
    let site = Site::new(Script::new().otherwise(reply::text("Seen.")), &[]);
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let server = Server::new(Arc::clone(&site.office), CancellationToken::new());
    tokio::spawn(async move { server.serve(ours).await.expect("a session").waiting().await });
    let newer = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client = ().serve_with_lifecycle(theirs, newer).await.expect("a session");
    let report = format!("sortie://tasks/{}/report", task(&client, "Look.").await);
    let wishes = SubscriptionFilter::builder().tools_list_changed().resource_subscriptions([&*report, "sortie://no"]);
    let mut subscription = client.listen(wishes.build()).await.expect("it is accepted");
    assert_eq!(subscription.acknowledged().resource_subscriptions, Some(vec![report.clone()]));
    match subscription.next().await {
        Ok(Some(ServerNotification::ResourceUpdatedNotification(updated))) => assert_eq!(updated.params.uri, report),
        other => panic!("not the report: {other:?}"),
    }
    site.write(".sortie/templates/look.md", "---\ndescription: Look\n---\nLook.\n");
    let told = subscription.next().await;
    assert!(matches!(told, Ok(Some(ServerNotification::ToolListChangedNotification(_)))), "{told:?}");
}

#[tokio::test]
async fn invisible_resources_cause_no_notification() {
    let site = Site::new(Script::new().otherwise(reply::text("Seen.")), &[]);
    let (client, mut heard) = listener();
    let client = site.connect(client).await;
    settle(&client, &mut heard).await;
    let persons = TaskRequest { prompt: "Look.".to_owned(), agent: "main".to_owned(), ..TaskRequest::default() };
    let running = site.engine.run(persons).await.expect("it starts");
    let uri = format!("sortie://tasks/{}/transcript", running.task);
    client.subscribe(SubscribeRequestParams::new(&uri)).await.expect("as good as any address");
    running.outcome().await.expect("it ends");
    // All earlier changes would be notified before the following ones.
    site.write(".sortie/agents/reviewer.md", AGENT);
    assert_eq!(next(&mut heard).await.as_deref(), Some("tools"));
    site.write(".sortie/templates/look.md", "---\ndescription: Look\n---\nLook.\n");
    assert_eq!(next(&mut heard).await.as_deref(), Some("tools"));
    assert_eq!(next(&mut heard).await.as_deref(), Some("prompts"));
}
