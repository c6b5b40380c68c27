//! Types of pages: how the pages of a block share its cells, and the times that follow.
//!
//! Cells with several bits give pages of several types. The pages on one row of cells are those of
//! a word line: one of each type. Pages are programmed one by one (`flash.programming = "page"`),
//! or all pages of a word line at once, in one array operation (`"one-shot"`) or in two
//! (`"two-pass"`). The type of a page follows from its index in the block (`flash.page_order`).

use std::fmt;

use flashlane_units::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize as FromText, Serialize};

use super::config::{FlashConfig, Technology};

/// How a die programs pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, FromText, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Programming {
    /// One page of each plane at a time.
    #[default]
    Page,
    /// All pages of a word line of each plane at once, in one tPROG. Their data waits in the
    /// controller's memory until the word line is full (`ftl.mapping.fill_time`).
    OneShot,
    /// All pages of a word line of each plane at once, in two array operations: a first pass, which
    /// brings the cells near their levels, and a second one, which brings them to their ends. The
    /// next word line of the block has its first pass between the two. The data waits in the
    /// controller's memory until the second pass is over.
    TwoPass,
}

impl Programming {
    /// True if the pages of a word line are programmed together.
    #[must_use]
    pub fn by_word_line(self) -> bool {
        self != Self::Page
    }

    /// The name of the value in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::OneShot => "one-shot",
            Self::TwoPass => "two-pass",
        }
    }
}

/// The types of the pages of a block, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, FromText, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PageOrder {
    /// The types take turns: index in the block modulo the number of types.
    Turns,
    /// As in the released MQSim. It differs for TLC only: six pages of the first type, two of the
    /// second, then pairs of the first, second and third type in turn.
    #[default]
    Mqsim,
}

/// Type of a page by its index in the block; 0 for the first of `types` types.
pub(crate) fn page_type(flash: &FlashConfig, page: u32, types: usize) -> usize {
    match (flash.page_order, flash.technology) {
        (PageOrder::Mqsim, Technology::Tlc) => {
            let of_three = match page {
                0..=5 => 0,
                6..=7 => 1,
                _ => (((page - 8) >> 1) % 3) as usize,
            };
            of_three.min(types - 1)
        }
        _ => page as usize % types,
    }
}

/// The time of each page of a block. `times`: one for all pages, or one per page type.
pub(crate) fn time_by_page(flash: &FlashConfig, times: &[Span]) -> impl Iterator<Item = u64> {
    (0..flash.pages_per_block).map(move |page| times[page_type(flash, page, times.len())].0)
}

/// Reads one time, or a list with one per page type.
///
/// # Errors
/// If it is neither.
pub(super) fn one_or_list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Span>, D::Error> {
    struct Times;
    impl<'de> Visitor<'de> for Times {
        type Value = Vec<Span>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a time with a unit, for example \"75us\", or a list of times")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<Span>, E> {
            Ok(vec![text.parse().map_err(E::custom)?])
        }
        fn visit_seq<A: SeqAccess<'de>>(self, times: A) -> Result<Vec<Span>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(times))
        }
    }
    from.deserialize_any(Times)
}

/// What a JSON schema says of a time or a list of times.
pub(super) fn one_or_list_schema(generator: &mut SchemaGenerator) -> Schema {
    let time = generator.subschema_for::<Span>();
    json_schema!({ "anyOf": [time, { "type": "array", "items": time }] })
}
