//! The native part of the Python package `flashlane`. The public part is in `python/flashlane`.

mod config;
mod detached;
mod drive;
mod error;
mod files;
mod lists;
mod overrides;
mod papers;
mod policies;
mod rows;
mod simulate;
mod simulate_call;
mod sweep;
mod table;
mod traces;
mod values;
mod words;

use pyo3::prelude::*;

/// Native part of flashlane.
#[pymodule]
fn _flashlane(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("RUN_KEYS", flashlane_study::sweep::RUN_KEYS)?;
    module.add_class::<config::Device>()?;
    module.add_class::<config::Workload>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<drive::Drive>()?;
    module.add_class::<drive::Snapshot>()?;
    module.add_class::<drive::Completion>()?;
    module.add_class::<policies::Work>()?;
    module.add_class::<policies::State>()?;
    module.add_class::<policies::Plane>()?;
    module.add_class::<policies::Random>()?;
    module.add_function(wrap_pyfunction!(policies::register_policy, module)?)?;
    module.add_function(wrap_pyfunction!(lists::policies, module)?)?;
    module.add_function(wrap_pyfunction!(policies::conformance, module)?)?;
    module.add_function(wrap_pyfunction!(values::plain, module)?)?;
    module.add_function(wrap_pyfunction!(lists::schema, module)?)?;
    module.add_function(wrap_pyfunction!(config::check_flow, module)?)?;
    module.add_function(wrap_pyfunction!(config::capacity, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::report, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::share_baseline, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep_table, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep_page, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::search_page, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep_grid, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::grid_points, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::without_wall_times, module)?)?;
    module.add_function(wrap_pyfunction!(traces::read_trace, module)?)?;
    module.add_function(wrap_pyfunction!(traces::clone_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(traces::clone_names, module)?)?;
    module.add_function(wrap_pyfunction!(traces::generate, module)?)?;
    module.add_function(wrap_pyfunction!(files::write_whole, module)?)?;
    module.add_function(wrap_pyfunction!(files::refuse_others, module)?)?;
    module.add_class::<files::HeldFolder>()?;
    module.add_function(wrap_pyfunction!(files::visible_line, module)?)?;
    module.add_function(wrap_pyfunction!(papers::papers, module)?)?;
    module.add_function(wrap_pyfunction!(papers::reproduce, module)?)
}
