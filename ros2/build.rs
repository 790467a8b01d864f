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
        let list = |lines: Vec<String>| lines.concat();
        let text = format!(
            "pub(super) static NAMES: &[&str] = &[\n{}];\n\
             pub(super) static MESSAGES: &[&MessageType] = &[\n{}];\n\
             pub(super) static SERVICES: &[&ServiceType] = &[\n{}];\n",
            list(
                all.iter()
                    .map(|RosMsg { module, prefix, name }| {
                        format!("    \"{module}/{prefix}/{name}\",\n")
                    })
                    .collect()
            ),
            list(
                all.iter()
                    .flat_map(messages)
                    .map(|path| { format!("    MessageType::of::<r2r::{path}>(),\n") })
                    .collect()
            ),
            list(
                all.iter()
                    .flat_map(services)
                    .map(|path| { format!("    ServiceType::of::<r2r::{path}::Service>(),\n") })
                    .collect()
            ),
        );
        let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        fs::write(folder.join("types.rs"), text).expect("the folder for generated files");
    }

    /// The messages that a definition brings, by their paths in r2r.
    fn messages(of: &RosMsg) -> Vec<String> {
        let path = format!("{}::{}::{}", of.module, of.prefix, of.name);
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
        let path = format!("{}::{}::{}", of.module, of.prefix, of.name);
        match of.prefix.as_str() {
            "srv" => vec![path],
            "action" => ["SendGoal", "GetResult"].map(|s| format!("{path}::{s}")).into(),
            _ => Vec::new(),
        }
    }
}
