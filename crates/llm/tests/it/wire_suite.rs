//! Behaviour required of every wire, over real connections to a scripted server. A new wire is one row of the macro.

mod attachment;
mod conversation;
mod failure;
mod fault;
mod usage;

macro_rules! wire_suite {
    ($($wire:ident = $kind:ident),+ $(,)?) => {
        $(mod $wire {
            use sortie_llm::WireKind;

            wire_suite!(@behaviours $kind, conversation:
                parallel_calls_arrive_whole_and_in_order,
                text_survives_being_cut_inside_its_characters,
                a_history_with_everything_in_it_is_accepted,
                reasoning_is_replayed_byte_for_byte,
                an_empty_answer_is_an_answer,
                truncated_arguments_are_kept_with_their_reason,
                a_cut_reply_is_marked_though_its_calls_parse,
                a_reply_of_thousands_of_calls_is_refused_while_it_arrives,
                usage_and_the_answering_model_are_reported,
                unreported_usage_is_estimated_from_sizes,
                usage_that_looks_too_high_counts_and_is_marked,
                one_connection_serves_many_calls,
            );
            wire_suite!(@behaviours $kind, attachment:
                attachments_of_an_output_reach_the_model_or_are_named,
                the_bytes_of_an_attachment_are_not_counted_as_text,
            );
            wire_suite!(@behaviours $kind, fault:
                a_stream_cut_at_any_byte_is_never_half_a_reply,
                a_reply_that_ends_too_early_is_cut,
                a_cut_stream_is_retried,
                a_stalled_stream_fails_with_its_partial_text,
                keep_alives_do_not_keep_a_call_alive,
                a_silent_server_is_stalled,
                slow_content_is_not_a_stall,
                an_overload_inside_a_stream_is_retried,
                garbage_is_retried_and_then_reported,
                dropping_a_call_closes_its_connection,
            );
            wire_suite!(@behaviours $kind, usage:
                a_failed_try_reports_its_usage_and_the_reply_counts_only_its_own,
                usage_is_reported_while_streaming_and_with_the_cut,
                every_failed_try_reports_its_usage,
                a_failure_event_with_usage_is_reported_with_it,
                nothing_is_estimated_for_a_try_without_reported_usage,
                a_reply_in_one_document_counts_its_usage,
            );
            wire_suite!(@behaviours $kind, failure:
                statuses_have_their_kinds,
                retry_after_is_the_shortest_wait,
                no_retry_starts_after_the_deadline,
                a_server_error_is_retried_and_announced,
                retries_end_at_their_number,
                earlier_retries_count,
                refusals_for_rate_or_load_use_up_no_retry,
                a_wrong_key_is_reported_with_its_setting_and_never_shown,
                a_wrong_model_is_reported_with_its_address,
                a_missing_model_is_recognised_under_any_status,
                a_conversation_that_no_longer_fits_is_recognised,
                a_too_high_output_cap_is_not_mistaken_for_a_too_long_conversation,
                a_refused_connection_fails_soon,
                a_server_that_answered_before_is_retried_when_it_is_gone,
            );
        })+
    };
    (@behaviours $kind:ident, $module:ident: $($behaviour:ident),+ $(,)?) => {
        $(#[tokio::test]
        async fn $behaviour() {
            crate::wire_suite::$module::$behaviour(WireKind::$kind).await;
        })+
    };
}

wire_suite! {
    anthropic = Anthropic,
    gemini = Gemini,
    openai_chat = OpenAiChat,
    openai_responses = OpenAiResponses,
}
