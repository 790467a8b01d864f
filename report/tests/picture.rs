//! The chart of README is drawn from the files in `results/`.

#[path = "../examples/picture.rs"]
#[expect(dead_code, reason = "the example's `main` writes the file")]
mod picture;

#[test]
fn checked_in_chart_is_drawn_from_the_results() {
    let checked_in = std::fs::read_to_string(picture::FILE).unwrap_or_default();
    let is_equal = checked_in == picture::drawn().unwrap();
    assert!(is_equal, "run `cargo run -p ringspin-report --example picture`");
}
