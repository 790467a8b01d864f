//! Launch files as systems: each node and executable is a process.
//!
//! XML and YAML are one tree of elements with attributes. Elements, attributes and substitutions
//! that are not understood are errors that name them: a system without a part of its launch file
//! would be another system. A file in Python is executed by ROS's own `launch`, where it is
//! installed, by `read_launch.py`.

use crate::system::{CommandLine, ProcessSpec, System};
use ringspin_executor::{Error, ErrorKind, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// An element with its attributes and children.
#[derive(Debug, Default)]
struct Element {
    tag: String,
    attributes: BTreeMap<String, String>,
    children: Vec<Element>,
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::Parse, text)
}

impl System {
    /// Reads a system from a file, in the folder of which its processes run: a system, or a launch
    /// file, which gets `arguments` (`name:=value`). The processes of a launch file in Python run
    /// in the current folder, as those of `ros2 launch`.
    ///
    /// # Errors
    /// A file that cannot be read, or is no system: with line and column. Arguments for a system,
    /// and others than `name:=value`.
    pub fn load(path: &Path, arguments: &[String]) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let text = format!("failed to read the system `{}`: {error}", path.display());
            Error::new(ErrorKind::Io, text).at_path(path)
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let read = match (is_launch_file(path), arguments) {
            (true, _) => read(path, &text, arguments),
            (false, []) => Self::from_yaml(&text).and_then(|system| system.with_profile(folder)),
            (false, [first, ..]) => {
                Err(invalid(format!("`{first}` is for launch files: a system has no arguments")))
            }
        };
        let read = read.and_then(|system| system.check().map(|()| system));
        let mut system = read.map_err(|error| {
            let text = format!("failed to read the system `{}`: {error}", path.display());
            Error::new(error.kind(), text).at_path(path)
        })?;
        for process in &mut system.processes {
            process.folder = Some(folder.join(process.folder.take().unwrap_or_default()));
        }
        Ok(system)
    }
}

/// Whether a file of this name is a launch file, by the names that `ros2 launch` completes.
fn is_launch_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains("launch.") || [".launch", ".xml", ".py"].iter().any(|end| name.ends_with(end))
}

/// Reads a launch file.
///
/// # Errors
/// The first part that is not understood.
fn read(path: &Path, text: &str, arguments: &[String]) -> Result<System> {
    let pair = |argument: &String| {
        let pair = argument.split_once(":=").map(|(name, value)| (name.into(), value.into()));
        pair.ok_or_else(|| invalid(format!("`{argument}` is no argument: write `name:=value`")))
    };
    let given = arguments.iter().map(pair).collect::<Result<BTreeMap<String, String>>>()?;
    let extension = path.extension().unwrap_or_default();
    let root = match extension.to_str().unwrap_or_default() {
        "py" => return from_python(path, arguments),
        "yaml" | "yml" => from_yaml(text)?,
        _ => from_xml(text)?,
    };
    let mut launch = Launch { given, ..Launch::default() };
    root.children.iter().try_for_each(|element| launch.add(element))?;
    match launch.given.keys().find(|name| !launch.variables.contains_key(*name)) {
        Some(name) => Err(invalid(format!("it has no argument `{name}`"))),
        None => Ok(launch.system),
    }
}

/// Executes a launch file in Python.
fn from_python(path: &Path, arguments: &[String]) -> Result<System> {
    let failed = |error: std::io::Error| invalid(format!("failed to run `python3`: {error}"));
    // Launch writes parameters and logs to files.
    let files = Arc::new(tempfile::tempdir().map_err(failed)?);
    let mut python = Command::new("python3");
    python.args(["-c", include_str!("read_launch.py")]).arg(path).args(arguments);
    python.env("TMPDIR", files.path()).env("ROS_LOG_DIR", files.path());
    let output = python.stdin(Stdio::null()).output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let problem = said.lines().last().unwrap_or("`python3` said nothing");
        return Err(invalid(problem.into()));
    }
    eprint!("{said}");
    let system = System::from_yaml(&String::from_utf8_lossy(&output.stdout))?;
    Ok(System { files: Some(files), ..system })
}

fn from_xml(text: &str) -> Result<Element> {
    fn element(node: roxmltree::Node<'_, '_>) -> Element {
        let attributes = node.attributes();
        let attributes = attributes.map(|a| (a.name().to_owned(), a.value().to_owned()));
        Element {
            tag: node.tag_name().name().into(),
            attributes: attributes.collect(),
            children: node.children().filter(|child| child.is_element()).map(element).collect(),
        }
    }
    let document = roxmltree::Document::parse(text).map_err(|error| invalid(error.to_string()))?;
    match element(document.root_element()) {
        root if root.tag == "launch" => Ok(root),
        root => Err(invalid(format!("it begins with <{}> and not with <launch>", root.tag))),
    }
}

/// A value in YAML.
#[derive(Deserialize)]
#[serde(untagged)]
enum Yaml {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Yaml>),
    Map(BTreeMap<String, Yaml>),
}

fn from_yaml(text: &str) -> Result<Element> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Document {
        launch: Vec<BTreeMap<String, Yaml>>,
    }
    let document: Document = serde_saphyr::from_str(text).map_err(|error| {
        invalid(error.to_string().lines().next().unwrap_or_default().to_owned())
    })?;
    let mut root = Element::default();
    for (tag, value) in document.launch.into_iter().flatten() {
        element(&mut root, &tag, value);
    }
    Ok(root)
}

/// Adds what `tag` has in YAML: an attribute, or elements.
fn element(to: &mut Element, tag: &str, value: Yaml) {
    let text = match value {
        Yaml::Bool(value) => value.to_string(),
        Yaml::Integer(value) => value.to_string(),
        Yaml::Float(value) => format!("{value:?}"),
        Yaml::Text(value) => value,
        Yaml::List(values) => {
            return values.into_iter().for_each(|value| element(to, tag, value));
        }
        Yaml::Map(values) => {
            let mut child = Element { tag: tag.into(), ..Element::default() };
            values.into_iter().for_each(|(name, value)| element(&mut child, &name, value));
            return to.children.push(child);
        }
    };
    to.attributes.insert(tag.into(), text);
}

#[derive(Default)]
struct Launch {
    system: System,
    /// The arguments of the command.
    given: BTreeMap<String, String>,
    /// The arguments and variables of the file.
    variables: BTreeMap<String, String>,
}

impl Launch {
    fn add(&mut self, of: &Element) -> Result<()> {
        match &of.tag[..] {
            "arg" | "let" => {
                let of = self.attributes(of, &["name", "default", "value", "description"])?;
                let name = required(&of, "arg", "name")?;
                let given = self.given.get(name);
                let value = given.or(of.get("default")).or(of.get("value")).ok_or_else(|| {
                    invalid(format!("the argument `{name}` has no default; give it as {name}:=.."))
                })?;
                self.variables.insert(name.to_owned(), value.clone());
                Ok(())
            }
            "node" => self.add_node(of),
            "executable" => {
                let known = ["cmd", "name", "cwd", "output"];
                let attributes = self.attributes(of, &known)?;
                let command = CommandLine::Text(required(&attributes, "executable", "cmd")?.into());
                let program = attributes.get("name").map_or("executable", |name| name);
                let folder = attributes.get("cwd").map(PathBuf::from);
                let process = ProcessSpec { command, folder, ..self.children(of)?.0 };
                self.system.add(program, process);
                Ok(())
            }
            "group" if of.attributes.is_empty() => {
                of.children.iter().try_for_each(|child| self.add(child))
            }
            tag => Err(invalid(format!("<{tag}> is not understood; write a system in its place"))),
        }
    }

    fn add_node(&mut self, of: &Element) -> Result<()> {
        let known = ["pkg", "exec", "name", "namespace", "args", "ros_args", "output", "respawn"];
        let attributes = self.attributes(of, &known)?;
        let (package, program) =
            (required(&attributes, "node", "pkg")?, required(&attributes, "node", "exec")?);
        let path = prefix(package)?.join("lib").join(package).join(program);
        let split = |name| {
            let text = attributes.get(name).map_or("", |text: &String| text);
            shlex::split(text).ok_or_else(|| invalid(format!("`{name}` of {program}: {text:?}")))
        };
        let mut words = vec![path.display().to_string()];
        words.extend(split("args")?);
        words.push("--ros-args".into());
        words.extend(split("ros_args")?);
        for (name, remapped) in [("name", "__node"), ("namespace", "__ns")] {
            let value = attributes.get(name);
            words.extend(
                value
                    .into_iter()
                    .flat_map(|value| ["-r".to_owned(), format!("{remapped}:={value}")]),
            );
        }
        let (mut process, ros_arguments) = self.children(of)?;
        words.extend(ros_arguments);
        process.command = CommandLine::Words(words);
        if attributes.get("respawn").is_some_and(|value| value == "true") {
            process.restart = crate::system::Restart::Always;
        }
        self.system.add(attributes.get("name").map_or(program, |name| name), process);
        Ok(())
    }

    /// The environment of a node, and its ROS arguments by parameters and remappings.
    fn children(&self, of: &Element) -> Result<(ProcessSpec, Vec<String>)> {
        let (mut process, mut arguments) = (ProcessSpec::default(), Vec::new());
        for child in &of.children {
            match &child.tag[..] {
                "param" => {
                    let param = self.attributes(child, &["name", "value", "from"])?;
                    match param.get("from") {
                        Some(file) => arguments.extend(["--params-file".into(), file.clone()]),
                        None => {
                            let name = required(&param, "param", "name")?;
                            let value = required(&param, "param", "value")?;
                            arguments.extend(["-p".into(), format!("{name}:={value}")]);
                        }
                    }
                }
                "remap" => {
                    let remap = self.attributes(child, &["from", "to"])?;
                    let (from, to) =
                        (required(&remap, "remap", "from")?, required(&remap, "remap", "to")?);
                    arguments.extend(["-r".into(), format!("{from}:={to}")]);
                }
                "env" => {
                    let env = self.attributes(child, &["name", "value"])?;
                    let (name, value) =
                        (required(&env, "env", "name")?, required(&env, "env", "value")?);
                    process.env.insert(name.into(), value.into());
                }
                tag => return Err(invalid(format!("<{tag}> in <{}> is not understood", of.tag))),
            }
        }
        Ok((process, arguments))
    }

    /// The attributes with substitutions; others than the `known` are errors.
    fn attributes(&self, of: &Element, known: &[&str]) -> Result<BTreeMap<String, String>> {
        let each = of.attributes.iter().map(|(name, value)| match known.contains(&&name[..]) {
            true => Ok((name.clone(), self.substitute(value)?)),
            false => Err(invalid(format!("`{name}` of <{}> is not understood", of.tag))),
        });
        each.collect()
    }

    /// Replaces `$(var x)`, `$(env X)` and `$(find-pkg-share x)`.
    fn substitute(&self, text: &str) -> Result<String> {
        let Some((before, rest)) = text.split_once("$(") else { return Ok(text.into()) };
        let Some((inner, after)) = rest.split_once(')') else {
            return Err(invalid(format!("`{text}` has no end of `$(`")));
        };
        let words: Vec<_> = inner.split_whitespace().collect();
        let value = match words[..] {
            ["var", name] => self.variables.get(name).cloned().ok_or_else(|| {
                invalid(format!("`$(var {name})`: there is no argument of this name before it"))
            })?,
            ["env", name] => std::env::var(name)
                .map_err(|_| invalid(format!("`$(env {name})`: the variable is not set")))?,
            ["env", name, default] => std::env::var(name).unwrap_or(default.into()),
            ["find-pkg-prefix", package] => prefix(package)?.display().to_string(),
            ["find-pkg-share", package] => {
                prefix(package)?.join("share").join(package).display().to_string()
            }
            _ => return Err(invalid(format!("the substitution `$({inner})` is not understood"))),
        };
        Ok(format!("{before}{value}{}", self.substitute(after)?))
    }
}

fn required<'a>(of: &'a BTreeMap<String, String>, tag: &str, name: &str) -> Result<&'a str> {
    of.get(name).map(String::as_str).ok_or_else(|| invalid(format!("<{tag}> lacks `{name}`")))
}

/// The folder in which a package is installed.
fn prefix(package: &str) -> Result<PathBuf> {
    let all = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let has = |prefix: &PathBuf| prefix.join("share").join(package).is_dir();
    std::env::split_paths(&all).find(has).ok_or_else(|| {
        let text = format!("the package `{package}` is in no folder of AMENT_PREFIX_PATH");
        Error::new(ErrorKind::NotFound, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_and_yaml_are_one_system() {
        let xml = r#"<launch>
            <arg name="rate" default="2.0"/>
            <group>
              <executable cmd="sleep $(var rate)" name="nap"><env name="A" value="b"/></executable>
            </group>
            <executable cmd="sleep 1" name="nap"/>
        </launch>"#;
        let yaml = "launch:
- arg: { name: rate, default: 2.0 }
- executable: { cmd: sleep $(var rate), name: nap, env: [{ name: A, value: b }] }
- executable: { cmd: sleep 1, name: nap }
";
        let [xml, yaml] = [("a.launch.xml", xml), ("a.launch.yaml", yaml)].map(|(path, text)| {
            let system = read(Path::new(path), text, &[]).unwrap();
            let all = system.processes.into_iter();
            all.map(|of| (of.name.clone(), of.words().unwrap(), of.env)).collect::<Vec<_>>()
        });
        assert_eq!(xml, yaml);
        assert_eq!((&xml[0].0[..], &xml[1].0[..]), ("nap", "nap_2"));
        assert_eq!(xml[0].1, ["sleep", "2.0"]);
        assert_eq!(xml[0].2["A"], "b");
    }

    #[test]
    fn nodes_have_ros_arguments() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("share/demo")).unwrap();
        let text = r#"<launch><node pkg="demo" exec="talker" name="t" namespace="/n" args="a 'b c'">
            <param name="rate" value="2.0"/><param from="p.yaml"/><remap from="x" to="/y"/>
        </node></launch>"#;
        let error = read(Path::new("a.xml"), text, &[]).unwrap_err().to_string();
        assert!(error.contains("`demo`"), "{error}");
        let launch = Launch::default();
        let root = from_xml(text).unwrap();
        let (_, arguments) = launch.children(&root.children[0]).unwrap();
        assert_eq!(arguments.join(" "), "-p rate:=2.0 --params-file p.yaml -r x:=/y");
    }

    #[test]
    fn parts_that_are_not_understood_are_named() {
        let given = |text: &str, arguments: &[&str]| {
            let arguments: Vec<_> = arguments.iter().map(|&word| word.to_owned()).collect();
            read(Path::new("a.xml"), text, &arguments)
        };
        let error = |text: &str| given(text, &[]).unwrap_err().to_string();
        for (text, named) in [
            ("<launch><include file='x'/></launch>", "<include>"),
            ("<launch><executable cmd='x' shell='true'/></launch>", "`shell`"),
            ("<launch><executable cmd='$(eval 1)'/></launch>", "$(eval 1)"),
            ("<launch><executable cmd='$(var a)'/></launch>", "$(var a)"),
            ("<launch><arg name='a'/></launch>", "`a` has no default"),
            ("<launch><executable/></launch>", "lacks `cmd`"),
            ("<robot/>", "<robot>"),
            ("<launch>", "never closed"),
        ] {
            assert!(error(text).contains(named), "{text}: {}", error(text));
        }
        let text = "<launch><arg name='a'/><executable cmd='x $(var a)'/></launch>";
        let system = given(text, &["a:=b:=c"]).unwrap();
        assert_eq!(system.processes[0].words().unwrap(), ["x", "b:=c"]);
        for (argument, named) in [("b:=1", "no argument `b`"), ("a", "`name:=value`")] {
            let error = given(text, &["a:=1", argument]).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
