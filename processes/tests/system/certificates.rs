//! Certificates of runs, and their comparison.

use super::{run, system};

#[test]
fn a_certificate_tells_an_equal_run_from_another_one_and_names_the_difference() {
    let (folder, path) = system(
        "processes:
  - { name: a, command: python3 script.py, env: { MAP: garage } }
  - { name: b, command: sleep 2 }
",
    );
    let file = |name: &str| folder.path().join(name);
    let write = |word: &str| {
        let script = format!(
            "import socket, time
for n in range(5): print(n); time.sleep(0.1)
print('{word}', len(open('map.txt').read()))
try: socket.create_connection(('192.0.2.7', 80))
except OSError: pass
time.sleep(0.1)
"
        );
        std::fs::write(file("script.py"), script).unwrap();
    };
    write("one");
    std::fs::write(file("map.txt"), "walls").unwrap();
    let certificate = file("certificate.json").display().to_string();
    let (code, out, error) = run(&["run", "--certificate", &certificate, &path]);
    assert_eq!(code, 0, "{out}{error}");
    let text = std::fs::read_to_string(&certificate).unwrap();
    let has = ["\"MAP\": \"garage\"", "\"script.py\": \"xxh3 ", "\"libc.so.6\": ", "\"sleep\": "];
    let opened = ["\"map.txt\": \"xxh3 ", ".pyc\": \"xxh3 "];
    assert!(has.iter().chain(&opened).all(|part| text.contains(part)), "{text}");
    assert_eq!(text.matches("script.py\"").count(), 1, "{text}");
    assert!(text.contains("\"uncontrolled\": [\n    \"a: "), "{text}");

    let verify = ["verify", "--quiet", "--runs", "2", "--against", &certificate, &path];
    let (code, _, error) = run(&verify);
    assert_eq!(code, 0, "{error}");
    assert!(!error.contains("but"), "{error}");

    let other = text.replace("\"libc.so.6\": \"", "\"libc.so.6\": \"0");
    std::fs::write(&certificate, other).unwrap();
    let (code, _, error) = run(&verify);
    assert_eq!(code, 0, "{error}");
    let library = "the result is equal, but processes.a.libraries.libc.so.6: \"0";
    assert!(error.contains(library), "{error}");

    std::fs::write(file("map.txt"), "doors").unwrap();
    let (code, _, error) = run(&verify);
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("processes.a.files.map.txt: \"xxh3 "), "{error}");

    write("two");
    let (code, _, error) = run(&verify);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("\n  digest: "), "{error}");
    assert!(error.contains(" are equal up to line "), "{error}");
    assert!(error.contains(" at 0.4"), "{error}");
    assert!(error.contains("\n  processes.a.files.script.py: "), "{error}");

    std::fs::write(&certificate, "{}").unwrap();
    let (code, _, error) = run(&verify);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains(&certificate) && error.contains("--certificate"), "{error}");
}
