//! `WebFetch` against real servers on this machine: what is reached and what is not, what it returns, what it may cost.

mod addresses;
mod bombs;
mod hosts;
mod markdown;
mod own;
mod pages;
mod question;
mod rebinding;
mod redirects;
mod server;
mod tls;
mod web;
