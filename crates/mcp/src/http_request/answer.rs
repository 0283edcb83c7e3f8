//! The reply to a request, as an HTTP response.

use std::convert::Infallible;

use bytes::Bytes;
use http::Response;
use http_body_util::combinators::BoxBody;

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;
