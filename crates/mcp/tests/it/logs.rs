//! Log messages, for a host that has set a level.
#![expect(deprecated, reason = "older hosts ask for it")]

use rmcp::ClientHandler;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::{NotificationContext, RoleClient};
use serde_json::json;
use sortie_testkit::{Script, reply};
use tokio::sync::mpsc;

use crate::site::{Site, call, task};

struct Reader(mpsc::UnboundedSender<String>);

impl ClientHandler for Reader {
    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.0.send(format!("{:?}: {}", message.level, message.data)).expect("the test listens");
    }
}

#[tokio::test]
async fn a_host_hears_from_the_level_that_it_has_set() {
    let site = Site::new(Script::always(reply::text("done")), &[]);
    let (sender, mut heard) = mpsc::unbounded_channel();
    let client = site.connect(Reader(sender)).await;
    task(&client, "before any level").await;
    client.set_level(SetLevelRequestParams::new(LoggingLevel::Warning)).await.expect("a level");
    task(&client, "below the level").await;
    call(&client, "Task", json!({})).await;
    client.set_level(SetLevelRequestParams::new(LoggingLevel::Info)).await.expect("a level");
    let id = task(&client, "at the level").await;
    let first = heard.recv().await.expect("a warning");
    assert!(first.starts_with("Warning: \"Task: No sub-agent was started (invalid_arguments)"), "{first}");
    let second = heard.recv().await.expect("a message");
    assert!(second.starts_with(&format!("Info: \"Task: {id} general-purpose completed")), "{second}");
}
