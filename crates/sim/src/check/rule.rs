//! The response to a violated rule.

use kernel::Instant;

/// Panics with the rule's name if the rule does not hold.
pub(super) fn rule(now: Instant, holds: bool, rule: &str, detail: impl FnOnce() -> String) {
    assert!(holds, "broken rule at {now}: {rule}: {}", detail());
}
