//! Devices that ship with the program: files that cite the tables they were copied from.

/// A shipped device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name that `--device` and `base` take.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// The file, as `flashlane preset show` prints it.
    pub text: &'static str,
}

/// Every shipped device, in the order of `flashlane preset list`.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "fast18",
        summary: "the drive of MQSim (FAST'18) Table 3: 480 GB, 8 channels x 4 chips x 2 dies",
        text: include_str!("../../presets/fast18.toml"),
    },
    Preset {
        name: "flin",
        summary: "the drive of FLIN (ISCA'18) Table 1: 480 GB, 8 channels x 4 chips x 1 die",
        text: include_str!("../../presets/flin.toml"),
    },
    Preset {
        name: "upi",
        summary: "the drive of UPI (HotStorage) Table 1: 150 GB, 3 channels x 4 chips x 1 die",
        text: include_str!("../../presets/upi.toml"),
    },
    Preset {
        name: "xpoint",
        summary: "3D XPoint as MQSim (FAST'18) Fig. 4b has it: 512 GiB, 8 channels x 4 chips x 1 die",
        text: include_str!("../../presets/xpoint.toml"),
    },
    Preset {
        name: "tiny",
        summary: "a small, fast drive for tests: 64 MiB, 2 channels x 2 chips x 1 die",
        text: include_str!("../../presets/tiny.toml"),
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
