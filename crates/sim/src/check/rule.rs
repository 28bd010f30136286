//! What is done where a rule is broken.

use kernel::Instant;

/// Panics with the rule's name where it does not hold.
pub(super) fn rule(now: Instant, holds: bool, rule: &str, detail: impl FnOnce() -> String) {
    assert!(holds, "broken rule at {now}: {rule}: {}", detail());
}
