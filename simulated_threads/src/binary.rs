//! The identity of the program and of the kernel under which it runs.

use crate::random::mix;
use std::ffi::CStr;
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The path of the running program with its build id, or with a hash of its content if the linker
/// gave it none.
pub(crate) fn describe_program() -> String {
    const OWN: &str = "/proc/self/exe";
    let path = std::fs::read_link(OWN).unwrap_or_else(|_| OWN.into());
    let identity = match File::open(OWN).and_then(|file| build_id(&file)) {
        Ok(Some(id)) => format!("build id {id}"),
        Ok(None) | Err(_) => hash_of(Path::new(OWN)),
    };
    format!("{}, {identity}", path.display())
}

fn hash_of(path: &Path) -> String {
    let Ok(content) = std::fs::read(path) else { return "not readable".into() };
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    let length = content.len() as u64;
    let hash = content.chunks(8).fold(length, |hash, chunk| mix(hash ^ word(chunk)));
    format!("content {hash:016x}")
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
    // SAFETY: plain data, which the call fills with strings that end with zeros.
    let names = unsafe {
        let mut names: libc::utsname = std::mem::zeroed();
        libc::uname(&raw mut names);
        names
    };
    [&names.sysname, &names.release, &names.machine]
        // SAFETY: the array has a zero, as above.
        .map(|name| unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
        .join(" ")
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
