//! Published JSON schemas of results.

use schemars::schema_for;
use serde_json::Value;

use crate::metrics::summary::Summary;
use crate::observe::Blame;

/// Schema of `summary.json`.
#[must_use]
pub fn summary() -> Value {
    schema_for!(Summary).to_value()
}

/// Schema of `blame.json`.
#[must_use]
pub fn blame() -> Value {
    schema_for!(Blame).to_value()
}

#[cfg(test)]
mod tests {
    #[test]
    fn schemas_have_the_keys_of_results() {
        assert!(super::summary()["properties"]["flows"].is_object());
        assert!(super::blame()["properties"].is_object());
    }
}
