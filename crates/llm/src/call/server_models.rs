//! Models that a route's server lists, kept for a while.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::route::Route;
use crate::transport::{HttpClients, model_list};

/// Time for a server's answer. A call waits for it before its sub-agent starts.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time for which a list counts. A person may install a model between two calls.
const KEPT_FOR: Duration = Duration::from_mins(1);

/// The list of one route's server.
#[derive(Default)]
pub(crate) struct ServerModels(Mutex<Option<Listed>>);

struct Listed {
    at: Instant,
    /// Absent if the server gives no list.
    ids: Option<Vec<String>>,
}

impl ServerModels {
    /// Returns the ids of all models at the server; `None` if it does not list them. Calls at the same time share one
    /// question.
    pub(crate) async fn ids(&self, clients: &HttpClients, route: &Route) -> Option<Vec<String>> {
        let mut listed = self.0.lock().await;
        if let Some(Listed { ids, .. }) = listed.as_ref().filter(|listed| listed.at.elapsed() < KEPT_FOR) {
            return ids.clone();
        }
        let ids = model_list(clients, route, PATIENCE).await;
        listed.insert(Listed { at: Instant::now(), ids }).ids.clone()
    }
}
