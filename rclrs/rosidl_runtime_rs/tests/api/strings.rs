//! Strings with and without a bound.

use super::{assert_same_form, hash};
use ringspin_executor::{Digest, DigestHasher};
use ringspin_messages::cdr;
use ringspin_messages::support::{Element, WideString};
use rosidl_runtime_rs::{BoundedString, BoundedWString, String, StringExceedsBoundsError, WString};
use serde::{Serialize, Serializer};
use std::ffi::c_char;

const TEXTS: [&str; 4] = ["", "lidar", "Größe", "ロボット 😀"];

/// A text as the idiomatic structs have wide strings.
struct Wide(std::string::String);

impl Serialize for Wide {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WideString::<{ u32::MAX }>::serialize(&self.0, serializer)
    }
}

impl Digest for Wide {
    fn digest(&self, hasher: &mut DigestHasher) {
        self.0.digest(hasher);
    }
}

#[test]
fn strings_have_the_form_of_plain_strings() {
    for text in TEXTS {
        let plain = text.to_string();
        assert_same_form(&String::from(text), &plain);
        assert_same_form(&BoundedString::<30>::try_from(text).unwrap(), &plain);
        assert_same_form(&WString::from(text), &Wide(plain.clone()));
        assert_same_form(&BoundedWString::<30>::try_from(text).unwrap(), &Wide(plain));
    }
}

#[test]
fn strings_are_converted_and_shown_as_their_text() {
    for text in TEXTS {
        let (string, wide) = (String::from(text), WString::from(text));
        assert_eq!((string.to_string(), wide.to_string()), (text.into(), text.into()));
        assert_eq!(format!("{string:?} {wide:?}"), format!("{text:?} {text:?}"));
        assert_eq!(format!("{string:>20}"), format!("{text:>20}"));
        assert_eq!((string.len(), wide.len()), (text.len(), text.encode_utf16().count()));
        assert_eq!(string, text.chars().collect());
        assert_eq!(wide, text.chars().collect());
        assert_eq!(string.to_cstr().to_bytes(), text.as_bytes());
        assert_eq!(String::from(text.to_string()), string);
    }
}

#[test]
fn strings_grow_by_characters() {
    let (mut string, mut wide) = (String::default(), WString::default());
    for part in ["", "Grö", "ße 😀"] {
        string.extend(part.chars());
        wide.extend(&part.chars().collect::<Vec<_>>());
    }
    assert_eq!((string, wide), ("Größe 😀".into(), "Größe 😀".into()));
}

#[test]
fn strings_are_compared_by_their_characters() {
    let [a, ab, b] = ["a", "ab", "b"].map(String::from);
    assert!(a < ab && ab < b && a == String::from("a"));
    assert_eq!(hash(&a), hash(&"a".chars().collect::<String>()));
    let [a, ab, b] = ["a", "ab", "b"].map(WString::from);
    assert!(a < ab && ab < b && hash(&a) == hash(&a.clone()));
}

#[test]
fn invalid_characters_are_replaced_in_text() {
    let mut string = String::from("abc");
    string[1] = 0xffu8 as c_char;
    assert_eq!(string.to_string(), "a\u{fffd}c");
    assert_same_form(&String::from("a\u{fffd}c"), &"a\u{fffd}c".to_string());
    assert_eq!(cdr::to_bytes(&string), cdr::to_bytes(&"a\u{fffd}c"));
    let mut wide = WString::from("abc");
    wide[1] = 0xd800;
    assert_eq!(wide.to_string(), "a\u{fffd}c");
    assert!(cdr::from_bytes::<WString>(&cdr::to_bytes(&wide).unwrap()).is_ok());
}

#[test]
fn a_c_string_ends_at_the_first_nul() {
    let mut string = String::from("abc");
    string[1] = 0;
    assert_eq!((string.to_cstr().to_bytes(), string.len()), (&b"a"[..], 3));
    assert!(cdr::to_bytes(&string).unwrap_err().to_string().contains("NUL"));
}

#[test]
fn texts_beyond_the_bound_are_refused() {
    let error: StringExceedsBoundsError = BoundedString::<4>::try_from("Größe").unwrap_err();
    assert_eq!((error.len, error.upper_bound), (7, 4));
    assert!(error.to_string().contains("length 7 exceeds the bound 4"), "{error}");
    assert_eq!(BoundedWString::<4>::try_from("Größe").unwrap_err().len, 5);
    assert_eq!(&*BoundedWString::<2>::try_from("😀").unwrap(), [0xd83d, 0xde00]);
    let bytes = cdr::to_bytes(&"Größe").unwrap();
    let error = cdr::from_bytes::<BoundedString<4>>(&bytes).unwrap_err();
    assert!(error.to_string().contains("exceeds the bound 4"), "{error}");
    let bytes = cdr::to_bytes(&WString::from("Größe")).unwrap();
    assert!(cdr::from_bytes::<BoundedWString<4>>(&bytes).is_err());
    assert!(cdr::from_bytes::<BoundedWString<5>>(&bytes).is_ok());
}
