//! Mail that joins the conversation between two turns, as far as there is room for it.

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_llm::estimate;
use sortie_protocol::Fact;

use crate::messages::mail_text::MailText;
use crate::run::context_window::{USUAL_WINDOW, most_input};
use crate::run::{Run, Services, compaction};

/// Reports that come together get one part in so many of the window's free space.
const SHARE_OF_REPORTS: u64 = 4;

/// Adds unread mail to the conversation, as one message. The part that does not fit waits for the next turn.
pub(crate) async fn read_mail(run: &Run<'_>) -> Result<(), JournalError> {
    let Services { inbox, mail_writer, .. } = run.services;
    if !inbox.has_mail() {
        return Ok(());
    }
    let delivery = mail_writer.deliver(&inbox.unread(), room_for_reports(run, 0)).await;
    let Some(MailText { mail, text }) = delivery else { return Ok(()) };
    run.sink.append(Fact::MailRead { mail, text }).await?;
    point("mail.read");
    Ok(())
}

/// Returns the bytes of reports that may join the conversation now. `not_joined` is the size of outputs still missing
/// from it. Old outputs make way for reports.
pub(crate) fn room_for_reports(run: &Run<'_>, not_joined: usize) -> usize {
    let terms = &run.services.model_caller.terms;
    let (history, request_size) = (run.record.history(), run.request_size());
    // A request that the provider has read fits its window, whatever its size.
    let at_least = || USUAL_WINDOW.max(request_size.measure(&history).saturating_mul(2));
    let most = request_size.room(most_input(terms.window.unwrap_or_else(at_least), terms));
    let spared = terms.window.map_or(0, |_| compaction::spared_by_stubs(&history, most, &run.services.gate));
    let left = most.saturating_sub(history.tokens().saturating_sub(spared));
    estimate::bytes(left / SHARE_OF_REPORTS).saturating_sub(not_joined)
}
