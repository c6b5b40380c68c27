//! Reads structures out of values, and keeps the way to the value at which reading stopped.
//!
//! The crate `serde_path_to_error` does so for any format by wrapping every visitor. That code is
//! made anew for every structure, and was a quarter of the module for browsers. Here one type
//! stands for every value.

use std::cell::RefCell;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use toml::Value;

use super::places::{join, join_index};

/// Where reading stopped, and why.
#[derive(Debug)]
pub(crate) struct Stop {
    /// For example `flash.read_time[0]`.
    pub key: String,
    /// Words of serde or of a structure.
    pub message: String,
}

/// Reads the structure that a value describes.
pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Stop> {
    let way = Way::default();
    let read = T::deserialize(At { value, way: &way, depth: 0 });
    read.map_err(|Refusal(message)| Stop { key: way.key(), message })
}

/// A step from a value to one inside it.
#[derive(Debug)]
enum Step<'a> {
    Key(&'a str),
    Element(usize),
}

/// The steps to the value that is read. A refusal leaves them where it came up.
#[derive(Debug, Default)]
struct Way<'a>(RefCell<Vec<Step<'a>>>);

impl<'a> Way<'a> {
    /// Steps on from the value at `depth`, wherever reading went before.
    fn enter(&self, depth: usize, step: Step<'a>) {
        let mut steps = self.0.borrow_mut();
        steps.truncate(depth);
        steps.push(step);
    }

    fn key(&self) -> String {
        self.0.borrow().iter().fold(String::new(), |key, step| match step {
            Step::Key(name) => join(&key, name),
            Step::Element(index) => join_index(&key, *index),
        })
    }
}

/// Why a value was refused.
#[derive(Debug)]
struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl Error for Refusal {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// A value, and how many steps lead to it.
#[derive(Clone, Copy)]
struct At<'a> {
    value: &'a Value,
    way: &'a Way<'a>,
    depth: usize,
}

impl<'a> At<'a> {
    /// Reads a value inside this one.
    fn inside<'de, S: DeserializeSeed<'de>>(
        self,
        value: &'a Value,
        seed: S,
    ) -> Result<S::Value, Refusal> {
        let read = seed.deserialize(At { value, depth: self.depth + 1, ..self })?;
        self.way.0.borrow_mut().truncate(self.depth);
        Ok(read)
    }

    fn entries<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let Value::Table(table) = self.value else { return Err(self.unexpected(&visitor)) };
        visitor.visit_map(Entries { of: self, rest: table.iter(), value: None })
    }

    fn elements<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let Value::Array(list) = self.value else { return Err(self.unexpected(&visitor)) };
        let mut elements = Elements { of: self, rest: list.iter().enumerate() };
        let read = visitor.visit_seq(&mut elements)?;
        match elements.rest.next() {
            None => Ok(read),
            Some((taken, _)) => {
                let expected = format!("a list of {taken} elements");
                Err(Refusal::invalid_length(list.len(), &expected.as_str()))
            }
        }
    }

    fn scalar<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.value {
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::String(value) => visitor.visit_str(value),
            // A date that somebody wrote for a name, without quotes.
            Value::Datetime(value) => visitor.visit_string(value.to_string()),
            Value::Array(_) | Value::Table(_) => Err(self.unexpected(&visitor)),
        }
    }

    #[cold]
    fn unexpected(self, expected: &dyn de::Expected) -> Refusal {
        let text;
        let found = match self.value {
            Value::Boolean(value) => Unexpected::Bool(*value),
            Value::Integer(value) => Unexpected::Signed(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::String(value) => Unexpected::Str(value),
            Value::Datetime(value) => {
                text = value.to_string();
                Unexpected::Str(&text)
            }
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        };
        Refusal::invalid_type(found, expected)
    }
}

/// Forwards methods of a deserializer that need no arguments but the visitor.
macro_rules! read_by {
    ($($method:ident => $by:ident),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
            self.$by(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for At<'_> {
    type Error = Refusal;

    read_by! {
        deserialize_bool => scalar, deserialize_i8 => scalar, deserialize_i16 => scalar,
        deserialize_i32 => scalar, deserialize_i64 => scalar, deserialize_u8 => scalar,
        deserialize_u16 => scalar, deserialize_u32 => scalar, deserialize_u64 => scalar,
        deserialize_f32 => scalar, deserialize_f64 => scalar, deserialize_char => scalar,
        deserialize_str => scalar, deserialize_string => scalar, deserialize_bytes => scalar,
        deserialize_byte_buf => scalar, deserialize_unit => scalar,
        deserialize_identifier => scalar, deserialize_seq => elements, deserialize_map => entries
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.value {
            Value::Table(_) => self.entries(visitor),
            Value::Array(_) => self.elements(visitor),
            _ => self.scalar(visitor),
        }
    }

    /// TOML has no word for nothing: a value that is there is some value.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.entries(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refusal> {
        self.elements(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.elements(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.scalar(visitor)
    }

    /// A name, or a table of one key: the name, with its settings.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let mut entries = match self.value {
            Value::String(name) => return visitor.visit_enum(StrDeserializer::new(name)),
            Value::Table(table) => table.iter(),
            _ => return Err(self.unexpected(&"a name, or a table with one key")),
        };
        match (entries.next(), entries.len()) {
            (Some((name, settings)), 0) => visitor.visit_enum(Choice { of: self, name, settings }),
            (_, more) => {
                let found = if more == 0 { 0 } else { more + 1 };
                Err(Refusal(format!("found a table of {found} keys, allowed: one key")))
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_unit()
    }
}

/// The entries of a table that are not read yet.
struct Entries<'a> {
    of: At<'a>,
    rest: toml::map::Iter<'a, String, Value>,
    /// The value of the key that was read last.
    value: Option<&'a Value>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refusal> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        self.of.way.enter(self.of.depth, Step::Key(key));
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        let value = self.value.take().expect("a key comes before its value");
        self.of.inside(value, seed)
    }
}

/// The elements of a list that are not read yet.
struct Elements<'a> {
    of: At<'a>,
    rest: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Refusal;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        let Some((index, value)) = self.rest.next() else { return Ok(None) };
        self.of.way.enter(self.of.depth, Step::Element(index));
        self.of.inside(value, seed).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A name of several, with its settings.
struct Choice<'a> {
    of: At<'a>,
    name: &'a str,
    settings: &'a Value,
}

impl<'a, 'de> EnumAccess<'de> for Choice<'a> {
    type Error = Refusal;
    type Variant = At<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, At<'a>), Refusal> {
        self.of.way.enter(self.of.depth, Step::Key(self.name));
        let name = seed.deserialize(StrDeserializer::new(self.name))?;
        Ok((name, At { value: self.settings, depth: self.of.depth + 1, ..self.of }))
    }
}

impl<'de> VariantAccess<'de> for At<'_> {
    type Error = Refusal;

    fn unit_variant(self) -> Result<(), Refusal> {
        match self.value {
            Value::Table(settings) if settings.is_empty() => Ok(()),
            Value::Array(settings) if settings.is_empty() => Ok(()),
            _ => Err(self.unexpected(&"nothing: this name has no settings")),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Refusal> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refusal> {
        self.elements(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.entries(visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    enum Policy {
        Plain,
        Sized { pages: u32 },
        Named(String),
        Pair(u8, f64),
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default, deny_unknown_fields)]
    struct Settings {
        on: bool,
        rate: Option<f64>,
        name: String,
        policies: Vec<Policy>,
        range: Option<(u8, u8)>,
        inner: Option<Box<Settings>>,
        all: BTreeMap<String, u16>,
    }

    fn of(text: &str) -> Result<Settings, (String, String)> {
        let value = Value::Table(text.parse().expect("TOML"));
        read(&value).map_err(|stop| (stop.key, stop.message))
    }

    #[test]
    fn values_of_every_kind_are_read() {
        let read = of(
            "on = true\nrate = 2\nname = 2020-01-01\nrange = [1, 2]\nall = { a = 1, b = 2 }\n\
            policies = ['plain', { sized = { pages = 4 } }, { named = 'x' }, { pair = [1, 2.5] }, { plain = {} }]\n\
            [inner]\nrate = 0.5",
        );
        let read = read.expect("read");
        assert_eq!((read.on, read.rate, read.name.as_str()), (true, Some(2.0), "2020-01-01"));
        let sized = Policy::Sized { pages: 4 };
        let [named, pair] = [Policy::Named("x".to_owned()), Policy::Pair(1, 2.5)];
        assert_eq!(read.policies, [Policy::Plain, sized, named, pair, Policy::Plain]);
        assert_eq!((read.range, read.inner.expect("inner").rate), (Some((1, 2)), Some(0.5)));
        assert_eq!(read.all.into_iter().collect::<Vec<_>>(), [("a".into(), 1), ("b".into(), 2)]);
    }

    #[test]
    fn a_refusal_has_the_key_where_it_came_up() {
        let refused = [
            ("on = 1", "on", "integer `1`, expected a boolean"),
            ("[inner]\nrate = 'x'", "inner.rate", "string \"x\", expected f64"),
            ("[inner.inner]\nrat = 1", "inner.inner.rat", "unknown field `rat`"),
            ("all = { a = 1, b = -2 }", "all.b", "integer `-2`, expected u16"),
            ("policies = ['plain', 'plane']", "policies[1]", "unknown variant `plane`"),
            (
                "policies = [{ sized = { pages = [] } }]",
                "policies[0].sized.pages",
                "sequence, expected u32",
            ),
            ("policies = [{ sized = {} }]", "policies[0].sized", "missing field `pages`"),
            (
                "policies = [{ plain = { a = 1 } }]",
                "policies[0].plain",
                "this name has no settings",
            ),
            ("policies = [{}]", "policies[0]", "a table of 0 keys"),
            ("policies = [{ plain = {}, named = 'x' }]", "policies[0]", "a table of 2 keys"),
            ("policies = [3]", "policies[0]", "integer `3`, expected a name"),
            ("range = [1, 2, 3]", "range", "invalid length 3, expected a list of 2"),
            ("range = [1]", "range", "invalid length 1"),
            ("inner = [true]", "inner", "sequence, expected struct"),
            ("inner = 2020-01-01", "inner", "string \"2020-01-01\", expected struct"),
            ("name = {}", "name", "map, expected a string"),
            ("all = 1", "all", "integer `1`, expected a map"),
        ];
        for (text, key, words) in refused {
            let (at, message) = of(text).expect_err(text);
            assert_eq!(at, key, "{text}: {message}");
            assert!(message.contains(words), "{text}: {message}");
        }
    }

    #[test]
    fn a_refusal_after_values_that_were_read_is_of_the_table() {
        #[derive(Debug, Deserialize)]
        struct Both {
            #[expect(dead_code, reason = "only read")]
            first: u8,
            #[expect(dead_code, reason = "only read")]
            second: u8,
        }
        let value = Value::Table("[a]\nfirst = 1".parse().expect("TOML"));
        let stop = read::<BTreeMap<String, Both>>(&value).expect_err("one is missing");
        assert_eq!((stop.key.as_str(), stop.message.as_str()), ("a", "missing field `second`"));
    }
}
