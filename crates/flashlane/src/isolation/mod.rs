//! Who may write where.

mod unified;

pub use unified::UnifiedConfig;

crate::policies! {
    /// Isolation of tenants in the flash.
    pub enum Isolation at "isolation" {
        "unified" => Unified(UnifiedConfig),
    }
}
