//! Details that Google adds to its errors: typed objects with the reason and the retry delay.

use std::time::Duration;

use serde_json::Value;

/// Reasons by name, e.g. `API_KEY_INVALID`.
pub(super) fn reasons(error: &Value) -> impl Iterator<Item = &str> {
    details(error).iter().filter_map(|detail| detail["reason"].as_str())
}

/// Returns the wait that the provider asks for. The delay given for an exhausted daily quota does not bring the quota
/// back, so it is ignored.
pub(super) fn retry_delay(error: &Value) -> Option<Duration> {
    if details(error).iter().flat_map(violated_quotas).any(|quota| quota.contains("PerDay")) {
        return None;
    }
    let delay = details(error).iter().find_map(|detail| detail["retryDelay"].as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn details(error: &Value) -> &[Value] {
    error["details"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn violated_quotas(detail: &Value) -> impl Iterator<Item = &str> {
    let violations = detail["violations"].as_array().map(Vec::as_slice).unwrap_or_default();
    violations.iter().filter_map(|violation| violation["quotaId"].as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_delay_may_have_fractions_of_a_second() {
        for (delay, expected) in [("7s", Some(7000)), ("0.25s", Some(250)), ("7", None), ("soon", None), ("-1s", None)]
        {
            let error = json!({ "details": [{ "@type": "Help" }, { "@type": "RetryInfo", "retryDelay": delay }] });
            assert_eq!(retry_delay(&error), expected.map(Duration::from_millis), "{delay}");
        }
        assert_eq!(retry_delay(&json!({ "details": "none" })), None);
    }

    #[test]
    fn the_delay_for_a_daily_quota_is_ignored() {
        let limited = |quota: &str| {
            json!({ "details": [
                { "@type": "QuotaFailure", "violations": [{ "quotaId": quota }] },
                { "@type": "RetryInfo", "retryDelay": "38s" },
            ] })
        };
        assert_eq!(retry_delay(&limited("GenerateRequestsPerDayPerProjectPerModel-FreeTier")), None);
        assert_eq!(retry_delay(&limited("GenerateRequestsPerMinutePerProjectPerModel")), Some(Duration::from_secs(38)));
    }
}
