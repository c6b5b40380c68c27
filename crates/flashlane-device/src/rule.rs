//! Rules that policies of a family have to keep. They lie beside the policies.

/// Ends a rule with a sentence unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($words:tt)+) => {
        let held: bool = $condition;
        if !held {
            return Err(format!($($words)+));
        }
    };
}
pub use ensure;

/// A rule of a family.
pub struct Rule<P> {
    /// The rule, as a sentence.
    pub text: &'static str,
    /// Tries the rule; the error says how the policy breaks it.
    pub check: fn(&P) -> Result<(), String>,
}
