//! Rules that every policy of a family must keep, built in or from outside. Anybody can run them:
//! `flashlane conformance`.
//!
//! A rule runs a policy on prepared and random inputs, and checks every decision. The rules of a
//! family lie beside its policies; the last two rules of every family are whole drives.

mod small_drive;
mod without_time;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use flashlane_device::ftl::allocation::{self, Allocation};
use flashlane_device::ftl::gc::{self, Victim};
use flashlane_device::ftl::separation::{self, Separation};
use flashlane_device::interface::arbitration::{self, Arbitration};
use flashlane_device::isolation::{self, Isolation};
use flashlane_device::rule::Rule;
use flashlane_device::scheduler::policy::{self, Scheduling};
pub use without_time::RandomWrites;

/// Result of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The rule, as a sentence.
    pub rule: &'static str,
    /// `Ok`, or how the rule was broken.
    pub result: Result<(), String>,
}

/// Families of policies that can be checked.
pub trait Family: Sized + 'static {
    /// The rules of the family.
    fn verdicts(&self) -> Vec<Verdict>;
}

macro_rules! families {
    ($($family:ident: $rules:path),+ $(,)?) => { $(
        impl Family for $family {
            fn verdicts(&self) -> Vec<Verdict> {
                let mut verdicts: Vec<Verdict> =
                    $rules.iter().map(|rule| try_rule(rule, self)).collect();
                verdicts.push(try_rule(&Rule { text: small_drive::RULE, check: |policy: &Self| {
                    small_drive::check($family::KEY, policy)
                } }, self));
                verdicts.push(try_rule(&Rule { text: without_time::RULE, check: |policy: &Self| {
                    without_time::check($family::KEY, policy)
                } }, self));
                verdicts
            }
        }
    )+ };
}

families! {
    Scheduling: policy::RULES,
    Victim: gc::RULES,
    Separation: separation::RULES,
    Allocation: allocation::RULES,
    Isolation: isolation::RULES,
    Arbitration: arbitration::RULES,
}

/// Tries a rule. A policy that panics breaks the rule, unless a panic ends the program.
fn try_rule<P>(rule: &Rule<P>, policy: &P) -> Verdict {
    let result = catch_unwind(AssertUnwindSafe(|| (rule.check)(policy)))
        .unwrap_or_else(|panic| Err(format!("it panicked: {}", words_of(panic))));
    Verdict { rule: rule.text, result }
}

/// The message of a panic. A panic that is not ours continues.
fn words_of(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(words) => *words,
        Err(panic) => match panic.downcast::<&'static str>() {
            Ok(words) => (*words).to_owned(),
            Err(panic) => resume_unwind(panic),
        },
    }
}
