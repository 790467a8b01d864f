//! HTML and SVG text that is well-formed by construction: elements are closed where they are
//! opened, and every text and value is escaped, so that no node name can break a page.

use std::fmt::{Display, Write};

/// Attributes: names and values.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// A document under construction.
#[derive(Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// Writes an element with the content that `inside` writes.
    pub(crate) fn element(
        &mut self,
        name: &str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) {
        self.start(name, attributes);
        self.0.push('>');
        inside(self);
        let _ = write!(self.0, "</{name}>");
    }

    /// Writes an element with a text.
    pub(crate) fn leaf(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.element(name, attributes, |inside| inside.text(text));
    }

    /// Writes an element without content.
    pub(crate) fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.0.push_str("/>");
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, text: &str) {
        push_escaped(&mut self.0, text);
    }

    /// Writes a line break, for readers of the source.
    pub(crate) fn line(&mut self) {
        self.0.push('\n');
    }

    /// Writes text that is already markup.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    fn start(&mut self, name: &str, attributes: Attributes<'_>) {
        let _ = write!(self.0, "<{name}");
        for (name, value) in attributes {
            let value = value.to_string();
            if !(*name == "class" && value.is_empty()) {
                let _ = write!(self.0, " {name}=\"");
                push_escaped(&mut self.0, &value);
                self.0.push('"');
            }
        }
    }
}

/// Appends escaped text. Control characters, which XML and HTML do not allow, become replacement
/// characters.
fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// A length or position in a drawing, in pixels with one decimal.
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        // Avoids "-0" and values that are not numbers.
        match tenths {
            t if !t.is_finite() || t == 0.0 => f.write_str("0"),
            t => write!(f, "{t}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_values_are_escaped() {
        let mut markup = Markup::default();
        markup.leaf("p", &[("title", &"<b>&\""), ("x", &Px(1.0))], "<b>&\"\u{0}\u{1b}\nü");
        let expected = "<p title=\"&lt;b&gt;&amp;&quot;\" x=\"1\">\
                        &lt;b&gt;&amp;&quot;\u{fffd}\u{fffd} ü</p>";
        assert_eq!(markup.into_text(), expected);
    }

    #[test]
    fn pixels_are_short_and_always_numbers() {
        let text = [0.0, -0.01, 1.25, 100.04, f64::NAN, f64::INFINITY].map(|v| Px(v).to_string());
        assert_eq!(text, ["0", "0", "1.3", "100", "0", "0"]);
    }
}
