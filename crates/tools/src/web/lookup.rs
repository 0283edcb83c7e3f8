//! Name lookup: from a host name to its addresses.

use std::io;
use std::net::IpAddr;

use crate::port::future::BoxFuture;

/// Asks what a host's name leads to. Nothing that it says is believed before it is checked.
pub trait Lookup: Send + Sync {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// As the machine does it: its hosts file, its name servers.
pub(super) struct SystemLookup;

impl Lookup for SystemLookup {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()) })
    }
}
