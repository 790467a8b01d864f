//! SVG drawings from a few shapes. Classes select colours in the page's style sheet, so that one
//! drawing serves light and dark themes; the `<title>` of a shape holds its numbers.

use std::fmt::Write;

use crate::markup::{Markup, Px};

/// The number of colours; further cores and strategies reuse them.
pub(crate) const COLOURS: usize = 8;

/// The estimated width of a small character, in pixels; rather too large than too small.
pub(crate) const CHARACTER_PX: f64 = 6.4;

/// The horizontal anchor of a text.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing under construction.
pub(crate) struct Svg {
    inside: Markup,
    width: f64,
    height: f64,
    label: String,
    class: &'static str,
}

impl Svg {
    /// Creates an empty drawing; `label` describes it to screen readers.
    pub(crate) fn new(width: f64, height: f64, label: &str) -> Self {
        Self { inside: Markup::default(), width, height, label: label.into(), class: "chart" }
    }

    /// Sets a class of its own.
    pub(crate) fn with_class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let (x1, y1, x2, y2) = (Px(from.0), Px(from.1), Px(to.0), Px(to.1));
        let ends: [(&str, &dyn std::fmt::Display); 5] =
            [("class", &class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)];
        self.inside.empty("line", &ends);
    }

    pub(crate) fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (Px(at.0), Px(at.1));
        self.inside.leaf(
            "text",
            &[("class", &class), ("x", &x), ("y", &y), ("text-anchor", &anchor)],
            text,
        );
    }

    /// Draws a rectangle from its upper left corner; `title` is its tooltip.
    pub(crate) fn rect(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        class: &str,
        title: &str,
    ) {
        let (x, y, width, height) = (Px(x), Px(y), Px(width.max(0.1)), Px(height));
        let rounded = if class.contains("box") { 5.0 } else { 1.0 };
        self.inside.element(
            "rect",
            &[
                ("class", &class),
                ("x", &x),
                ("y", &y),
                ("width", &width),
                ("height", &height),
                ("rx", &Px(rounded)),
            ],
            |inside| inside.title(title),
        );
    }

    pub(crate) fn circle(&mut self, at: (f64, f64), radius: f64, class: &str, title: &str) {
        let (x, y, r) = (Px(at.0), Px(at.1), Px(radius));
        self.inside.element(
            "circle",
            &[("class", &class), ("cx", &x), ("cy", &y), ("r", &r)],
            |inside| inside.title(title),
        );
    }

    pub(crate) fn path(&mut self, path: &Path, class: &str, title: &str) {
        self.inside
            .element("path", &[("class", &class), ("d", &path.0)], |inside| inside.title(title));
    }

    /// Draws a square standing on its corner.
    pub(crate) fn diamond(&mut self, (x, y): (f64, f64), size: f64, class: &str, title: &str) {
        let corners = [(x - size, y), (x, y - size), (x + size, y), (x, y + size)];
        self.path(&Path::polygon(corners), class, title);
    }

    /// The SVG element, for a page with the styles.
    pub(crate) fn finish(self) -> String {
        self.wrapped("")
    }

    /// The SVG as a file with its own styles.
    pub(crate) fn standalone(self, styles: &str) -> String {
        self.wrapped(styles) + "\n"
    }

    fn wrapped(self, styles: &str) -> String {
        let Self { inside, width, height, label, class } = self;
        let view = format!("0 0 {} {}", Px(width), Px(height));
        let mut out = Markup::default();
        out.element(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("class", &class),
                ("viewBox", &view),
                ("width", &Px(width)),
                ("height", &Px(height)),
                ("role", &"img"),
                ("aria-label", &label),
            ],
            |out| {
                if !styles.is_empty() {
                    out.element("style", &[], |out| out.raw(styles));
                    let whole: [(&str, &dyn std::fmt::Display); 3] =
                        [("class", &"paper"), ("width", &"100%"), ("height", &"100%")];
                    out.empty("rect", &whole);
                }
                out.raw(&inside.into_text());
            },
        );
        out.into_text()
    }
}

impl Markup {
    fn title(&mut self, title: &str) {
        if !title.is_empty() {
            self.leaf("title", &[], title);
        }
    }
}

/// The data of a path.
#[derive(Clone, Default)]
pub(crate) struct Path(String);

impl Path {
    pub(crate) fn start(at: (f64, f64)) -> Self {
        Self(format!("M{} {}", Px(at.0), Px(at.1)))
    }

    pub(crate) fn polygon(corners: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut path = Self::lines(corners);
        path.0.push('Z');
        path
    }

    pub(crate) fn lines(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut points = points.into_iter();
        let mut path = points.next().map(Self::start).unwrap_or_default();
        points.for_each(|point| path.line_to(point));
        path
    }

    pub(crate) fn line_to(&mut self, to: (f64, f64)) {
        let _ = write!(self.0, "L{} {}", Px(to.0), Px(to.1));
    }

    /// Adds a curve from `from`, the current point, that reaches `to` vertically.
    pub(crate) fn curve(&mut self, from: (f64, f64), to: (f64, f64)) {
        let middle = Px((from.1 + to.1) / 2.0);
        let (x0, x, y) = (Px(from.0), Px(to.0), Px(to.1));
        let _ = write!(self.0, "C{x0} {middle} {x} {middle} {x} {y}");
    }
}

/// The colour class of a core, a mode or a strategy.
pub(crate) fn colour(index: usize) -> String {
    format!("c{}", index % COLOURS)
}
