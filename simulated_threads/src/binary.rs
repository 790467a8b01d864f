//! The identity of the program and of the kernel under which it runs.

use crate::os;
use ringspin_modes::random::mix;
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The path of the running program with its build id, or with a hash of its content if the linker
/// gave it none.
pub(crate) fn describe_program() -> String {
    const OWN: &str = "/proc/self/exe";
    let linked = || std::fs::read_link(OWN).unwrap_or_else(|_| OWN.into());
    let path = mapped_program().unwrap_or_else(linked);
    let identity = match File::open(&path).and_then(|file| build_id(&file)) {
        Ok(Some(id)) => format!("build id {id}"),
        Ok(None) | Err(_) => hash_of(&path),
    };
    format!("{}, {identity}", path.display())
}

/// The addresses of the file that is mapped at this one.
pub(crate) fn range_of(address: u64) -> Option<Range<u64>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let all = maps.lines().filter_map(|line| Some((range(line)?, line.split_once('/')?.1)));
    let all: Vec<_> = all.collect();
    let (_, path) = all.iter().find(|(range, _)| range.contains(&address))?;
    let mut of_file = all.iter().filter(|(_, other)| other == path).map(|(range, _)| range);
    let first = of_file.next()?;
    Some(first.start..of_file.next_back().unwrap_or(first).end)
}

/// The addresses in a line of `/proc/self/maps`.
fn range(line: &str) -> Option<Range<u64>> {
    let (begin, end) = line.split_once(' ')?.0.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(number(begin)?..number(end)?)
}

/// The file that has the begin of the program: `/proc/self/exe` is the loader if the program was
/// started by it.
fn mapped_program() -> Option<PathBuf> {
    let entry = os::entry_point();
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| range(line).is_some_and(|range| range.contains(&entry)))?;
    line.find('/').map(|begin| PathBuf::from(&line[begin..]))
}

fn hash_of(path: &Path) -> String {
    match File::open(path).and_then(|file| content_hash(&file)) {
        Ok(hash) => format!("content {hash:016x}"),
        Err(_) => "not readable".into(),
    }
}

/// A hash of the length and the content of a file.
pub(crate) fn content_hash(file: &File) -> io::Result<u64> {
    let (mut block, mut offset) = ([0; 4096], 0);
    let mut hash = file.metadata()?.len();
    loop {
        let count = file.read_at(&mut block, offset)?;
        if count == 0 {
            return Ok(hash);
        }
        hash = block[..count].chunks(8).fold(hash, |hash, chunk| mix(hash ^ number(chunk)));
        offset += count as u64;
    }
}

/// The build id in the notes of an ELF file for 64-bit machines, which the linker computes from its
/// content.
fn build_id(file: &File) -> io::Result<Option<String>> {
    const PT_NOTE: u64 = 4;
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0)?;
    let (offset, size, count) =
        (number(&header[32..40]), number(&header[54..56]), number(&header[56..58]));
    for n in 0..count {
        let mut segment = [0; 56];
        file.read_exact_at(&mut segment, offset + n * size)?;
        if number(&segment[..4]) == PT_NOTE {
            let mut notes = vec![0; number(&segment[32..40]).min(1 << 16) as usize];
            file.read_exact_at(&mut notes, number(&segment[8..16]))?;
            if let Some(id) = id_in(&notes) {
                return Ok(Some(id));
            }
        }
    }
    Ok(None)
}

/// The build id among these notes: each has the lengths of its name and content, a type, and both
/// of them padded to four bytes.
fn id_in(mut notes: &[u8]) -> Option<String> {
    const BUILD_ID: u64 = 3;
    while notes.len() > 12 {
        let [name, content] = [0, 4].map(|at| number(&notes[at..at + 4]) as usize);
        let begin = 12 + name.next_multiple_of(4);
        let end = begin.checked_add(content)?;
        if number(&notes[8..12]) == BUILD_ID && notes.get(12..12 + name)? == b"GNU\0" {
            return Some(notes.get(begin..end)?.iter().fold(String::new(), |mut id, byte| {
                let _ = write!(id, "{byte:02x}");
                id
            }));
        }
        notes = notes.get(end.next_multiple_of(4)..)?;
    }
    None
}

/// A number of up to eight bytes, the lowest first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Name, release and machine of the kernel.
pub(crate) fn describe_kernel() -> String {
    let read = |name| std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
    let [name, release] = ["ostype", "osrelease"].map(|name| read(name).unwrap_or_default());
    format!("{} {} {}", name.trim(), release.trim(), std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_id_is_found_behind_another_note() {
        let mut notes = b"\x04\0\0\0\x02\0\0\0\x01\0\0\0GNU\0ab\0\0".to_vec();
        assert_eq!(id_in(&notes), None);
        notes.extend(b"\x04\0\0\0\x03\0\0\0\x03\0\0\0GNU\0\x01\xff\x10\0");
        assert_eq!(id_in(&notes).as_deref(), Some("01ff10"));
        notes.truncate(notes.len() - 3);
        assert_eq!(id_in(&notes), None);
    }

    #[test]
    fn hash_covers_each_byte_of_the_content() {
        let path = std::env::temp_dir().join(format!("ringspin-{}", std::process::id()));
        let hash = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            hash_of(&path)
        };
        let hashes =
            [hash(b"123456789"), hash(b"123456788"), hash(b"12345678"), hash(b"12345678\0")];
        std::fs::remove_file(&path).unwrap();
        for (n, one) in hashes.iter().enumerate() {
            assert!(hashes[..n].iter().all(|other| other != one), "{hashes:?}");
        }
    }
}
