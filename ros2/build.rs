//! Lists the message, service and action types of the sourced ROS, as tables for src/types.rs.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "rcl")]
    tables::write();
}

#[cfg(feature = "rcl")]
mod tables {
    use r2r_common::RosMsg;
    use std::path::PathBuf;
    use std::{env, fs};

    /// Writes the file that src/types.rs includes.
    pub(crate) fn write() {
        r2r_common::print_cargo_watches();
        let all = r2r_common::get_wanted_messages();
        let name = |of: &RosMsg| format!("{}/{}/{}", of.module, of.prefix, of.name);
        let text = [
            table("NAMES", "&str", all.iter().map(|of| format!("\"{}\"", name(of)))),
            table(
                "MESSAGES",
                "&MessageType",
                all.iter()
                    .flat_map(messages)
                    .map(|path| format!("MessageType::of::<r2r::{path}>()")),
            ),
            table(
                "SERVICES",
                "&ServiceType",
                all.iter()
                    .flat_map(services)
                    .map(|path| format!("ServiceType::of::<r2r::{path}::Service>()")),
            ),
            table(
                "ACTIONS",
                "&ActionTypes",
                all.iter()
                    .filter(|of| of.prefix == "action")
                    .map(|of| format!("ActionTypes::of::<r2r::{}::Action>()", path(of))),
            ),
        ];
        let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        fs::write(folder.join("types.rs"), text.concat()).expect("the folder for generated files");
    }

    /// A static list of `kind`.
    fn table(name: &str, kind: &str, lines: impl Iterator<Item = String>) -> String {
        let lines: String = lines.map(|line| format!("    {line},\n")).collect();
        format!("pub(super) static {name}: &[{kind}] = &[\n{lines}];\n")
    }

    /// The path of a definition in r2r.
    fn path(of: &RosMsg) -> String {
        format!("{}::{}::{}", of.module, of.prefix, of.name)
    }

    /// The messages that a definition brings, by their paths in r2r.
    fn messages(of: &RosMsg) -> Vec<String> {
        let path = path(of);
        let own: &[&str] = match of.prefix.as_str() {
            "msg" => return vec![path],
            "action" => &["Goal", "Result", "Feedback", "FeedbackMessage"],
            _ => &[],
        };
        let own = own.iter().map(|name| format!("{path}::{name}"));
        let of_services = services(of).into_iter();
        let of_services =
            of_services.flat_map(|path| ["Request", "Response"].map(|m| format!("{path}::{m}")));
        own.chain(of_services).collect()
    }

    /// The services that a definition brings, by their paths in r2r.
    fn services(of: &RosMsg) -> Vec<String> {
        let path = path(of);
        match of.prefix.as_str() {
            "srv" => vec![path],
            "action" => ["SendGoal", "GetResult"].map(|s| format!("{path}::{s}")).into(),
            _ => Vec::new(),
        }
    }
}
