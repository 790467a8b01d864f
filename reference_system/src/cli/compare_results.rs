//! `reference-system compare-results`: results of several runs side by side.

use anyhow::Result;
use reference_system::table::{self, Beside};
use ringspin_bench::load;
use ringspin_report::comparison::Named;

use super::CompareResultsArguments;
use super::output::{self, Output};

pub(super) fn compare_results(arguments: &CompareResultsArguments) -> Result<()> {
    let named = |path: &std::path::PathBuf| {
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        Ok((stem.to_string_lossy().into_owned(), load(path)?))
    };
    let all = arguments.files.iter().map(named).collect::<Result<Vec<Named>>>()?;
    if let Some(path) = &arguments.page {
        Output::create(path, false)?.write_text(&ringspin_report::render(&all, None))?;
    }
    output::print(&table::render_results(&all, Beside::All))
}
