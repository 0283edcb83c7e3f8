//! Messages of external servers, made harmless on arrival: nesting bounded, requests to us declined, words without
//! secrets.

pub(crate) mod brief;
pub(crate) mod decline_requests;
pub(crate) mod nesting;
