//! Outlets for notifications: a session opened by `initialize`, which receives everything that applies to it, or one
//! `subscriptions/listen`, which receives what it requested.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionSendError, SubscriptionSink};

use crate::resources::Address;
use crate::resources::news::differences::Change;

/// Addresses that one session has subscribed to. Clones share one list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subscriptions(Arc<Mutex<BTreeSet<String>>>);

/// Most subscriptions of one session.
const MOST: usize = 1000;

impl Subscriptions {
    /// Adds an address; refuses invalid ones, and one too many.
    pub(crate) fn add(&self, uri: String) -> Result<(), ErrorData> {
        uri.parse::<Address>().map_err(|error| ErrorData::resource_not_found(error.to_string(), None))?;
        let mut uris = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if uris.len() >= MOST && !uris.contains(&uri) {
            let message = format!("this session has subscribed to {MOST} resources; unsubscribe from some of them");
            return Err(ErrorData::invalid_params(message, None));
        }
        uris.insert(uri);
        Ok(())
    }

    /// Removes an address; harmless if it was not subscribed.
    pub(crate) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}

/// Returns the accepted part of a `subscriptions/listen`: all kinds of notifications, and valid addresses.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| uri.parse::<Address>().is_ok());
        uris.truncate(MOST);
    }
    accepted
}

pub(super) enum Outlet {
    Session { peer: Peer<RoleServer>, subscriptions: Subscriptions },
    Listener(SubscriptionSink),
}

/// Nobody receives it any more.
pub(super) struct Closed;

impl Outlet {
    pub(super) fn subscribed(&self) -> Vec<String> {
        match self {
            Self::Session { subscriptions, .. } => {
                subscriptions.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
            }
            Self::Listener(sink) => sink.accepted().resource_subscriptions.clone().unwrap_or_default(),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Session { peer, .. } => peer.is_transport_closed(),
            // Its cancellation is noticed elsewhere, where it is awaited.
            Self::Listener(_) => false,
        }
    }

    pub(super) async fn send(&self, change: Change) -> Result<(), Closed> {
        match self {
            Self::Session { peer, .. } => {
                let sent = match change {
                    Change::Tools => peer.notify_tool_list_changed().await,
                    Change::Prompts => peer.notify_prompt_list_changed().await,
                    Change::Resources => peer.notify_resource_list_changed().await,
                    Change::Updated(uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                    }
                };
                sent.map_err(|_| Closed)
            }
            Self::Listener(sink) => {
                let sent = match change {
                    Change::Tools => sink.notify_tool_list_changed().await,
                    Change::Prompts => sink.notify_prompt_list_changed().await,
                    Change::Resources => sink.notify_resource_list_changed().await,
                    Change::Updated(uri) => sink.notify_resource_updated(uri).await,
                };
                match sent {
                    Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => Ok(()),
                    Err(_) => Err(Closed),
                }
            }
        }
    }
}
