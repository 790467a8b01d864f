//! Strings without a bound, of `char` and of UTF-16 units.

use ringspin_executor::{Digest, DigestHasher};
use ringspin_messages::support::{Element, WideString};
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::ffi::{CStr, c_char};
use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// A string of C characters, which normally are UTF-8.
///
/// It dereferences to its characters without the NUL at the end. They can be overwritten one by
/// one, so they are possibly not UTF-8: each conversion to text replaces invalid parts by U+FFFD.
///
/// ```
/// use rosidl_runtime_rs::String;
/// let text = String::from("lidar");
/// assert_eq!(text.to_string(), "lidar");
/// assert_eq!(text.len(), 5);
/// ```
#[derive(Clone, Default)]
pub struct String {
    /// Ends with a NUL; has none if it is empty, so that an empty string needs no memory.
    units: Vec<c_char>,
}

/// A string of UTF-16 units.
///
/// It dereferences to its units. They can be overwritten one by one, so they are possibly not
/// UTF-16: each conversion to text replaces invalid parts by U+FFFD.
///
/// ```
/// use rosidl_runtime_rs::WString;
/// let text = WString::from("Größe");
/// assert_eq!(text.to_string(), "Größe");
/// assert_eq!(text.len(), 5);
/// ```
#[derive(Clone, Default)]
pub struct WString {
    units: Vec<u16>,
}

impl String {
    /// The string as a C string. It ends at the first NUL, which is possibly not the last
    /// character.
    pub fn to_cstr(&self) -> &CStr {
        CStr::from_bytes_until_nul(bytemuck::cast_slice(&self.units)).unwrap_or_default()
    }

    /// The text, without a copy if it is UTF-8.
    fn text(&self) -> Cow<'_, str> {
        std::string::String::from_utf8_lossy(bytemuck::cast_slice(self))
    }
}

impl WString {
    /// The text.
    fn text(&self) -> Cow<'_, str> {
        Cow::Owned(std::string::String::from_utf16_lossy(self))
    }
}

impl<T: Borrow<str>> From<T> for String {
    fn from(text: T) -> Self {
        let bytes: &[c_char] = bytemuck::cast_slice(text.borrow().as_bytes());
        match bytes.is_empty() {
            true => Self::default(),
            false => Self { units: [bytes, &[0]].concat() },
        }
    }
}

impl From<&str> for WString {
    fn from(text: &str) -> Self {
        Self { units: text.encode_utf16().collect() }
    }
}

impl Deref for String {
    type Target = [c_char];

    fn deref(&self) -> &[c_char] {
        self.units.split_last().map_or(&[], |(_, units)| units)
    }
}

impl DerefMut for String {
    fn deref_mut(&mut self) -> &mut [c_char] {
        self.units.split_last_mut().map_or(&mut [], |(_, units)| units)
    }
}

impl Deref for WString {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.units
    }
}

impl DerefMut for WString {
    fn deref_mut(&mut self) -> &mut [u16] {
        &mut self.units
    }
}

impl Extend<char> for String {
    fn extend<I: IntoIterator<Item = char>>(&mut self, chars: I) {
        let text: std::string::String = chars.into_iter().collect();
        self.units.pop();
        self.units.extend_from_slice(bytemuck::cast_slice(text.as_bytes()));
        if !self.units.is_empty() {
            self.units.push(0);
        }
    }
}

impl Extend<char> for WString {
    fn extend<I: IntoIterator<Item = char>>(&mut self, chars: I) {
        let mut buffer = [0; 2];
        for c in chars {
            self.units.extend_from_slice(c.encode_utf16(&mut buffer));
        }
    }
}

/// Implements the traits that both kinds of strings have in the same way. Comparisons are those of
/// the units.
macro_rules! string_traits {
    ($($string:ident)*) => {$(
        impl Debug for $string {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Debug::fmt(&self.text(), f)
            }
        }

        impl Display for $string {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Display::fmt(&self.text(), f)
            }
        }

        impl PartialEq for $string {
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }
        }

        impl Eq for $string {}

        impl PartialOrd for $string {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $string {
            fn cmp(&self, other: &Self) -> Ordering {
                (**self).cmp(&**other)
            }
        }

        impl Hash for $string {
            fn hash<H: Hasher>(&self, state: &mut H) {
                (**self).hash(state);
            }
        }

        impl<'a> Extend<&'a char> for $string {
            fn extend<I: IntoIterator<Item = &'a char>>(&mut self, chars: I) {
                self.extend(chars.into_iter().copied());
            }
        }

        impl FromIterator<char> for $string {
            fn from_iter<I: IntoIterator<Item = char>>(chars: I) -> Self {
                let mut string = Self::default();
                string.extend(chars);
                string
            }
        }

        impl<'a> FromIterator<&'a char> for $string {
            fn from_iter<I: IntoIterator<Item = &'a char>>(chars: I) -> Self {
                chars.into_iter().copied().collect()
            }
        }

        /// Is the digest of the text, as that of `std::string::String`.
        impl Digest for $string {
            fn digest(&self, hasher: &mut DigestHasher) {
                self.text().digest(hasher);
            }
        }
    )*};
}

string_traits!(String WString);

impl Serialize for String {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for String {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Copies the text once.
        struct Text;

        impl Visitor<'_> for Text {
            type Value = String;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<String, E> {
                Ok(text.into())
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// The form of wide strings without a bound.
type Wide = WideString<{ u32::MAX }>;

impl Serialize for WString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Wide::serialize(&self.to_string(), serializer)
    }
}

impl<'de> Deserialize<'de> for WString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Result<std::string::String, _> = Wide::deserialize(deserializer)?;
        let too_long = |_| D::Error::custom("a wide string is too long");
        Ok(text.map_err(too_long)?.as_str().into())
    }
}

/// Lets generated code name one form for all unbounded wide strings.
impl<const MAX: u32> Element<WString> for WideString<MAX> {}
