//! `Alone`: a caller without relatives, for calls outside of any tree.

use std::time::Duration;

use sortie_protocol::{CallId, Failure, FailureCode};

use super::{Choice, Glance, Kin, Listing, Receipt, ReportPage};
use crate::port::future::BoxFuture;

/// A caller with nobody to reach and nothing to read.
pub struct Alone;

fn nobody<'a, T: Send + 'a>() -> BoxFuture<'a, Result<T, Failure>> {
    Box::pin(async { Err(Failure::new(FailureCode::UnknownTask, "there are no other tasks here")) })
}

impl Kin for Alone {
    fn look<'a>(&'a self, _: &'a str, _: Duration) -> BoxFuture<'a, Result<Glance, Failure>> {
        nobody()
    }

    fn list<'a>(&'a self, _: Choice<'a>) -> BoxFuture<'a, Result<Listing, Failure>> {
        Box::pin(async { Ok(Listing::default()) })
    }

    fn page<'a>(&'a self, _: &'a str, _: usize, _: usize) -> BoxFuture<'a, Result<ReportPage, Failure>> {
        nobody()
    }

    fn stop<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<Glance>, Failure>> {
        nobody()
    }

    fn send<'a>(&'a self, _: &'a CallId, _: &'a str, _: String) -> BoxFuture<'a, Result<Receipt, Failure>> {
        nobody()
    }
}
