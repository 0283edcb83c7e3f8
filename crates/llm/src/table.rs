//! Table of routes: choosing a model by name, checking a route, and listing them all.

mod alias;
mod check;
mod choose;
mod confirm;
mod listing;
pub mod offline;
mod route_table;
mod setup;

pub use check::Checked;
pub use listing::{RouteListing, Served};
pub use route_table::RouteTable;
pub use setup::{RouteError, RouteSetup};
