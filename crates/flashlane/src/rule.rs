//! Rules that policies of a family have to keep, which lie beside the policies.

/// Ends a rule with a sentence unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($words:tt)+) => {
        let held: bool = $condition;
        if !held {
            return Err(format!($($words)+));
        }
    };
}
pub(crate) use ensure;

/// A rule of a family.
pub(crate) struct Rule<P> {
    /// The rule, as a sentence.
    pub(crate) text: &'static str,
    /// Tries it; the error says how it is broken.
    pub(crate) check: fn(&P) -> Result<(), String>,
}
