//! Instructions of a filter, as numbers of the kernel.

pub(super) const LOAD: u16 = 0x20;
pub(super) const JUMP: u16 = 0x05;
pub(super) const JUMP_IF_EQUAL: u16 = 0x15;
pub(super) const JUMP_IF_AT_LEAST: u16 = 0x35;
pub(crate) const RETURN: u16 = 0x06;

/// Returns an error number instead of making the call.
const ERROR: u32 = 0x0005_0000;
pub(crate) const REFUSE: u32 = ERROR | libc::EPERM.cast_unsigned();
pub(super) const ABSENT: u32 = ERROR | libc::ENOSYS.cast_unsigned();
pub(super) const ALLOW: u32 = 0x7fff_0000;
/// Stops the caller until the listener of the filter has answered.
pub(crate) const TELL: u32 = 0x7fc0_0000;
