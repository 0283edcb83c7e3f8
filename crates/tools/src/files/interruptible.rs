//! `Interruptible`: a reader that fails when its call must stop, so that no library reads on for long.

use std::io::{self, Read};

use crate::answer::halt::Stop;

pub(crate) struct Interruptible<'a, R> {
    inner: R,
    stop: &'a Stop,
}

impl<'a, R> Interruptible<'a, R> {
    pub(crate) fn new(inner: R, stop: &'a Stop) -> Self {
        Self { inner, stop }
    }
}

impl<R: Read> Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop.halt() {
            Some(halt) => Err(io::Error::other(halt.note())),
            None => self.inner.read(buffer),
        }
    }
}
