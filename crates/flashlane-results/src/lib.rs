//! Files that a run leaves beside `summary.json`, for other programs: Parquet, fio's JSON, Perfetto
//! traces. They are made from the records of [`flashlane::observe`].

pub mod arrivals;
mod background;
mod chunk;
mod columns;
mod encode;
pub mod fio;
pub mod perfetto;
pub mod requests;
pub mod series;

pub use arrivals::{ArrivalFile, ArrivalRow, Arrivals};
pub use requests::RequestFile;
