//! Devices that ship with the program. Their files cite the tables that they were copied from.

/// A shipped device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name that `--device` and `base` take.
    pub name: &'static str,
    /// Description in a line.
    pub summary: &'static str,
    /// The file, as `flashlane preset show` prints it.
    pub text: &'static str,
}

/// Every shipped device, in the order of `flashlane preset list`.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "fast18",
        summary: "the drive of MQSim (FAST'18) Table 3: 480 GB, 8 channels x 4 chips x 2 dies",
        text: include_str!(concat!(env!("OUT_DIR"), "/fast18.toml")),
    },
    Preset {
        name: "flin",
        summary: "the drive of FLIN (ISCA'18) Table 1: 480 GB, 8 channels x 4 chips x 1 die",
        text: include_str!(concat!(env!("OUT_DIR"), "/flin.toml")),
    },
    Preset {
        name: "upi",
        summary: "the drive of UPI (HotStorage) Table 1: 150 GB, 3 channels x 4 chips x 1 die",
        text: include_str!(concat!(env!("OUT_DIR"), "/upi.toml")),
    },
    Preset {
        name: "xpoint",
        summary: "3D XPoint as MQSim (FAST'18) Fig. 4b has it: 512 GiB, 8 channels x 4 chips x 1 die",
        text: include_str!(concat!(env!("OUT_DIR"), "/xpoint.toml")),
    },
    Preset {
        name: "970-pro",
        summary: "Samsung 970 PRO 512 GB, fitted: MLC, 8 channels x 2 dies",
        text: include_str!(concat!(env!("OUT_DIR"), "/970-pro.toml")),
    },
    Preset {
        name: "980-pro",
        summary: "Samsung 980 PRO 1 TB, fitted: TLC with SLC cache, PCIe 4.0, 8 channels",
        text: include_str!(concat!(env!("OUT_DIR"), "/980-pro.toml")),
    },
    Preset {
        name: "980-pro-filled",
        summary: "Samsung 980 PRO 1 TB that was filled, fitted to measurements: TLC, 8 channels",
        text: include_str!(concat!(env!("OUT_DIR"), "/980-pro-filled.toml")),
    },
    Preset {
        name: "p3700",
        summary: "Intel P3700 800 GB, reads fitted: MLC, 18 channels",
        text: include_str!(concat!(env!("OUT_DIR"), "/p3700.toml")),
    },
    Preset {
        name: "p4510",
        summary: "Intel P4510 2 TB, fitted to unverified figures: TLC, 8 channels",
        text: include_str!(concat!(env!("OUT_DIR"), "/p4510.toml")),
    },
    Preset {
        name: "p4800x",
        summary: "Intel Optane P4800X 375 GB, fitted: 3D XPoint, 7 channels x 4 dies",
        text: include_str!(concat!(env!("OUT_DIR"), "/p4800x.toml")),
    },
    Preset {
        name: "micron-9100",
        summary: "Micron 9100 2.4 TB, reads fitted: MLC, 16 channels",
        text: include_str!(concat!(env!("OUT_DIR"), "/micron-9100.toml")),
    },
    Preset {
        name: "micron-7450-max",
        summary: "Micron 7450 MAX 800 GB, fitted to measurements: TLC, PCIe 4.0",
        text: include_str!(concat!(env!("OUT_DIR"), "/micron-7450-max.toml")),
    },
    Preset {
        name: "solidigm-p5520",
        summary: "Solidigm P5520 1.92 TB, fitted to measurements: TLC, PCIe 4.0",
        text: include_str!(concat!(env!("OUT_DIR"), "/solidigm-p5520.toml")),
    },
    Preset {
        name: "samsung-pm9a3",
        summary: "Samsung PM9A3 960 GB, fitted to measurements: TLC, PCIe 4.0",
        text: include_str!(concat!(env!("OUT_DIR"), "/samsung-pm9a3.toml")),
    },
    Preset {
        name: "kioxia-cm7-r",
        summary: "Kioxia CM7-R 3.84 TB, fitted to measurements: TLC, PCIe 5.0",
        text: include_str!(concat!(env!("OUT_DIR"), "/kioxia-cm7-r.toml")),
    },
    Preset {
        name: "msi-m480-play",
        summary: "MSI Spatium M480 Play 2 TB, fills fitted: TLC with an SLC cache, PCIe 4.0",
        text: include_str!(concat!(env!("OUT_DIR"), "/msi-m480-play.toml")),
    },
    Preset {
        name: "adata-atom-50",
        summary: "ADATA XPG Atom 50 1 TB, fills fitted: TLC with an SLC cache, PCIe 4.0",
        text: include_str!(concat!(env!("OUT_DIR"), "/adata-atom-50.toml")),
    },
    Preset {
        name: "team-mp44s",
        summary: "Team MP44S 1 TB, fills fitted: QLC with an SLC cache, PCIe 4.0",
        text: include_str!(concat!(env!("OUT_DIR"), "/team-mp44s.toml")),
    },
    Preset {
        name: "hp-fx700",
        summary: "HP FX700 2 TB, fills fitted: QLC with an SLC cache, PCIe 4.0",
        text: include_str!(concat!(env!("OUT_DIR"), "/hp-fx700.toml")),
    },
    Preset {
        name: "zn540",
        summary: "WD ZN540 1 TB, reads fitted: TLC, 8 channels x 4 dies",
        text: include_str!(concat!(env!("OUT_DIR"), "/zn540.toml")),
    },
    Preset {
        name: "zn540-zones",
        summary: "WD ZN540 1 TB with its zones, fitted to measurements: TLC, 8 channels x 4 dies",
        text: include_str!(concat!(env!("OUT_DIR"), "/zn540-zones.toml")),
    },
    Preset {
        name: "tiny",
        summary: "a small, fast drive for tests: 64 MiB, 2 channels x 2 chips x 1 die",
        text: include_str!(concat!(env!("OUT_DIR"), "/tiny.toml")),
    },
];

impl Preset {
    /// The preset of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        PRESETS.iter().map(|preset| preset.name).collect()
    }
}
