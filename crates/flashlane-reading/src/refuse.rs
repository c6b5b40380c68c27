//! Turns an error of the deserialiser into a problem that names place, value and rule.

use std::borrow::Cow;

use super::hint;
use super::places::{Places, join};
use crate::Problem;
use crate::shortened;

/// The problem for a deserialisation error at `key`.
pub(crate) fn problem(mut key: String, message: &str, places: &Places) -> Problem {
    let (word, text) = explain(message.trim());
    let place = if let Some(word) = word {
        // The deserialiser may or may not have entered the offending key already.
        if !(key == word || key.ends_with(&format!(".{word}"))) {
            key = join(&key, &word);
        }
        with_word(places.locate_nearest(&key), &word)
    } else {
        places.locate_nearest(&key)
    };
    Problem { place, message: text }
}

/// The place, with a long word of a user shown in part.
fn with_word(place: String, word: &str) -> String {
    match shortened(word) {
        Cow::Borrowed(_) => place,
        Cow::Owned(short) => place.replace(word, &short),
    }
}

/// Our words for the deserialiser's message, and the key that it is about, if it names one.
fn explain(message: &str) -> (Option<String>, String) {
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if message.starts_with("unknown field")
        && let [found, keys @ ..] = words.as_slice()
    {
        let hint = hint::allowed(found, keys);
        return (Some((*found).to_owned()), format!("unknown key `{}`; {hint}", shortened(found)));
    }
    if message.starts_with("unknown variant")
        && let [found, names @ ..] = words.as_slice()
    {
        return (None, format!("found `{}`; {}", shortened(found), hint::allowed(found, names)));
    }
    if message.starts_with("missing field")
        && let [name, ..] = words.as_slice()
    {
        return (Some((*name).to_owned()), format!("missing key `{name}`; it has no default"));
    }
    for start in ["invalid type: ", "invalid value: ", "invalid length "] {
        if let Some((found, expected)) =
            message.strip_prefix(start).and_then(|rest| rest.split_once(", expected "))
        {
            let found = found.replace("map", "a table").replace("sequence", "a list");
            return (None, format!("found {found}, allowed: {}", plain_type(expected)));
        }
    }
    (None, message.to_owned())
}

/// The name of a Rust type for users.
fn plain_type(expected: &str) -> String {
    let text = match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "i32" => "a whole number from -2147483648 to 2147483647",
        "u64" | "usize" => "a whole number, 0 or more",
        "f64" | "f32" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list, [ ... ]",
        other if other.starts_with("struct ") || other.starts_with("a map") => "a table",
        other => other,
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_is_allowed() {
        let (key, text) = explain("unknown field `chanels`, expected one of `channels`, `chips`");
        assert_eq!(key.as_deref(), Some("chanels"));
        assert!(text.contains("did you mean `channels`?"), "{text}");
        let (_, text) = explain("invalid value: integer `-1`, expected u32");
        assert_eq!(text, "found integer `-1`, allowed: a whole number from 0 to 4294967295");
        let (key, text) = explain("missing field `flash`");
        assert_eq!(key.as_deref(), Some("flash"));
        assert!(text.contains("missing key"), "{text}");
    }
}
