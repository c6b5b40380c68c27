//! Which plane a page is written to.

mod dynamic;
mod striped;

pub use dynamic::DynamicConfig;
pub use striped::StripedConfig;

crate::policies! {
    /// Plane allocation: 24 static orders (the first letter varies fastest: C channel, W chip, D die,
    /// P plane) and the dynamic scheme.
    pub enum Allocation at "ftl.allocation" {
        "cwdp" => Cwdp(StripedConfig),
        "cwpd" => Cwpd(StripedConfig),
        "cdwp" => Cdwp(StripedConfig),
        "cdpw" => Cdpw(StripedConfig),
        "cpwd" => Cpwd(StripedConfig),
        "cpdw" => Cpdw(StripedConfig),
        "wcdp" => Wcdp(StripedConfig),
        "wcpd" => Wcpd(StripedConfig),
        "wdcp" => Wdcp(StripedConfig),
        "wdpc" => Wdpc(StripedConfig),
        "wpcd" => Wpcd(StripedConfig),
        "wpdc" => Wpdc(StripedConfig),
        "dcwp" => Dcwp(StripedConfig),
        "dcpw" => Dcpw(StripedConfig),
        "dwcp" => Dwcp(StripedConfig),
        "dwpc" => Dwpc(StripedConfig),
        "dpcw" => Dpcw(StripedConfig),
        "dpwc" => Dpwc(StripedConfig),
        "pcwd" => Pcwd(StripedConfig),
        "pcdw" => Pcdw(StripedConfig),
        "pwcd" => Pwcd(StripedConfig),
        "pwdc" => Pwdc(StripedConfig),
        "pdcw" => Pdcw(StripedConfig),
        "pdwc" => Pdwc(StripedConfig),
        "dynamic" => Dynamic(DynamicConfig),
    }
}
