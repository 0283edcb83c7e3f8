//! `DecodedCall`: the request in a Task call, read from its arguments once.

use std::sync::OnceLock;

use sortie_protocol::{Failure, TaskRequest};

/// The request in a Task call. Ordering, permission and the run all read it; its arguments are decoded once.
#[derive(Debug, Default)]
pub struct DecodedCall(OnceLock<Result<TaskRequest, Failure>>);

impl DecodedCall {
    /// Returns the request. The first caller decodes it.
    pub(crate) fn request(
        &self,
        decode: impl FnOnce() -> Result<TaskRequest, Failure>,
    ) -> Result<&TaskRequest, &Failure> {
        self.0.get_or_init(decode).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_call_is_decoded_once_however_often_it_is_read() {
        let (call, n_decoded) = (DecodedCall::default(), Cell::new(0));
        let decode = || {
            n_decoded.set(n_decoded.get() + 1);
            Ok(TaskRequest { prompt: "Look.".to_owned(), ..TaskRequest::default() })
        };
        for _ in 0..3 {
            assert_eq!(call.request(decode).expect("it can be read").prompt, "Look.");
        }
        assert_eq!(n_decoded.get(), 1);
    }
}
