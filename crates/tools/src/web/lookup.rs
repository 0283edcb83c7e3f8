//! Name lookup: from a host name to its addresses.

use std::io;
use std::net::IpAddr;

use crate::port::future::BoxFuture;

/// Looks up the addresses of a host. Its answers are checked before use.
pub trait Lookup: Send + Sync {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Uses the machine's hosts file and name servers.
pub(super) struct SystemLookup;

impl Lookup for SystemLookup {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()) })
    }
}
