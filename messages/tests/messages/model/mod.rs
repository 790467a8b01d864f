//! An encoder of random messages, from their definitions alone: the reference for serde's way.

use ringspin_message_generator::{Array, Definitions, Element, InterfaceKind, TypeName};
use ringspin_message_generator::{Field, common_definitions};
use std::path::Path;

/// The definitions of the common packages and of the packages of the tests.
pub(crate) fn definitions() -> Definitions {
    let mut definitions = common_definitions().clone();
    let parents = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder = parents.map(|it| it.join("messages/test_msgs")).find(|it| it.is_dir()).unwrap();
    for package in ["test_msgs", "my_msgs", "type"] {
        let root = folder.join(package);
        for kind in [InterfaceKind::Message, InterfaceKind::Service, InterfaceKind::Action] {
            for file in std::fs::read_dir(root.join(kind.folder())).into_iter().flatten() {
                let path = file.unwrap().path();
                let name =
                    TypeName::new(package, kind, path.file_stem().unwrap().to_str().unwrap());
                let text = std::fs::read_to_string(&path).unwrap();
                definitions.add(&name, &text, path.to_str().unwrap()).unwrap();
            }
        }
    }
    definitions.check().unwrap();
    definitions
}

/// Writes one random message in both byte orders.
pub(crate) struct Encoder<'a> {
    definitions: &'a Definitions,
    state: u64,
    little: Vec<u8>,
    big: Vec<u8>,
}

impl<'a> Encoder<'a> {
    /// The message of type `name` that belongs to `seed`: little-endian and big-endian.
    pub(crate) fn encode(definitions: &'a Definitions, name: &TypeName, seed: u64) -> [Vec<u8>; 2] {
        let (little, big) = (Vec::new(), Vec::new());
        let mut encoder = Self { definitions, state: seed, little, big };
        encoder.message(name);
        [[&[0, 1, 0, 0], &*encoder.little].concat(), [&[0, 0, 0, 0], &*encoder.big].concat()]
    }

    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random() % limit
    }

    fn message(&mut self, name: &TypeName) {
        let definitions = self.definitions;
        let fields = &definitions.get(name).unwrap().fields;
        fields.iter().for_each(|field| self.field(field));
        if fields.is_empty() {
            self.number(0, 1);
        }
    }

    fn field(&mut self, field: &Field) {
        let len = match field.ty.array {
            Array::Single => 1,
            Array::Fixed(len) => len.into(),
            Array::Bounded(max) => self.below(u64::from(max.min(4)) + 1),
            Array::Unbounded => self.below(4),
        };
        if matches!(field.ty.array, Array::Bounded(_) | Array::Unbounded) {
            self.number(len, 4);
        }
        (0..len).for_each(|_| self.element(&field.ty.element));
    }

    fn element(&mut self, element: &Element) {
        let random = self.random();
        match element {
            Element::Message(name) => self.message(name),
            Element::Bool => self.number(random % 2, 1),
            Element::Byte | Element::Char | Element::UInt8 | Element::Int8 => {
                self.number(random, 1);
            }
            Element::Int16 | Element::UInt16 => self.number(random, 2),
            Element::Int32 | Element::UInt32 | Element::Float32 => self.number(random, 4),
            Element::Int64 | Element::UInt64 | Element::Float64 => self.number(random, 8),
            Element::String(bound) => {
                let text = self.text(bound.unwrap_or(30));
                self.number(text.len() as u64 + 1, 4);
                text.bytes().chain([0]).for_each(|byte| self.number(byte.into(), 1));
            }
            Element::WString(bound) => {
                let units: Vec<_> = self.text(bound.unwrap_or(30)).encode_utf16().collect();
                self.number(units.len() as u64, 4);
                units.into_iter().for_each(|unit| self.number(unit.into(), 4));
            }
        }
    }

    /// At most `max` bytes, with characters of one to four bytes.
    fn text(&mut self, max: u32) -> String {
        let mut text = String::new();
        loop {
            let next = ['a', '"', 'é', 'ロ', '😀'][self.below(5) as usize];
            if text.len() + next.len_utf8() > max as usize || self.below(8) == 0 {
                return text;
            }
            text.push(next);
        }
    }

    /// The lower `size` bytes of a number, aligned to its size.
    fn number(&mut self, value: u64, size: usize) {
        let bytes = value.to_le_bytes();
        for bytes_of in [&mut self.little, &mut self.big] {
            bytes_of.resize(bytes_of.len().next_multiple_of(size), 0);
        }
        self.little.extend(&bytes[..size]);
        self.big.extend(bytes[..size].iter().rev());
    }
}
