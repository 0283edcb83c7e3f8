//! The answer to a request, as HTTP has it.

use std::convert::Infallible;

use bytes::Bytes;
use http::Response;
use http_body_util::combinators::BoxBody;

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;
