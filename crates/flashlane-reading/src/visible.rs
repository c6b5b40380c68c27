//! Names of users on screens, made harmless: they cannot move the cursor or hide a part of a line.

use std::borrow::Cow;

/// The text with its control characters written out, such as `\u{1b}`. Names may hold characters
/// that move the cursor of a terminal, change its colours or reverse the direction of the text.
/// Ends of lines and tabs stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| is_hidden(c) && c != '\n' && c != '\t',
        |c, out| out.extend(c.escape_unicode()),
    )
}

/// The text with its control characters written out, for a text of one line such as the name of a
/// flow. Ends of lines and tabs are written out, too.
#[must_use]
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden, |c, out| out.extend(c.escape_unicode()))
}

/// Characters that are shown of the beginning of a user's text, and of its end.
const SHOWN: usize = 60;

/// The text, or only its beginning and its end if it is long; for messages.
#[must_use]
pub fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * SHOWN || text.chars().nth(2 * SHOWN).is_none() {
        return Cow::Borrowed(text);
    }
    let start = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
    let end = text.char_indices().nth_back(SHOWN - 1).map_or(0, |(at, _)| at);
    Cow::Owned(format!("{}…{}", &text[..start], &text[end..]))
}

/// JSON with its control characters written out as JSON escapes, so that its meaning stays.
#[must_use]
pub fn visible_json(text: &str) -> Cow<'_, str> {
    let hidden = |c| is_hidden(c) && c != '\n' && c != '\t';
    // All these characters have four hexadecimal digits.
    escaped(text, hidden, |c, out| out.push_str(&format!("\\u{:04x}", u32::from(c))))
}

/// True for control characters, line separators, and marks that reverse the direction of the text.
fn is_hidden(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

fn escaped(
    text: &str,
    hidden: impl Fn(char) -> bool,
    escape: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) { escape(c, &mut shown) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(visible("a\n\tb"), "a\n\tb");
        assert_eq!(visible("\u{1b}[31mred\r\u{7f}\u{9b}"), "\\u{1b}[31mred\\u{d}\\u{7f}\\u{9b}");
        assert_eq!(visible("Größe \u{202e}x"), "Größe \\u{202e}x");
        assert_eq!(visible_line("a\nb\0"), "a\\u{a}b\\u{0}");
    }

    #[test]
    fn long_texts_are_shown_in_part() {
        let exact = "ä".repeat(2 * SHOWN);
        assert_eq!(shortened(&exact), exact);
        let long = format!("b{exact}e");
        let half = "ä".repeat(SHOWN - 1);
        assert_eq!(shortened(&long), format!("b{half}…{half}e"));
    }

    #[test]
    fn json_stays_the_same_json() {
        let name = "a\u{7f}\u{9b}\u{1b}\n\u{202e}";
        let text = serde_json::to_string(name).expect("JSON");
        let shown = visible_json(&text);
        assert!(!shown.contains(is_hidden), "{shown:?}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), name);
    }
}
