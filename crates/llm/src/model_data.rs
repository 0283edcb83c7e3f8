//! Facts known about models in advance: windows, caps, prices, and the wire of their provider.

pub mod catalogue;
mod prices;
pub(crate) mod wire_kind;

pub use catalogue::Catalogue;
pub(crate) use prices::Prices;
pub use wire_kind::{UnknownWire, WireKind};
