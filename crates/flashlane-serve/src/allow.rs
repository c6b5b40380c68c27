//! Which addresses may connect.

use std::net::IpAddr;
use std::str::FromStr;

/// A network: an address and the number of its leading bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || {
            format!(
                "found `{text}`, allowed: an address with a prefix length, like 10.0.0.0/8 or fd00::/8"
            )
        };
        let (address, bits) = text.split_once('/').ok_or_else(refuse)?;
        let address: IpAddr = address.parse().map_err(|_| refuse())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.parse().ok().filter(|&bits| bits <= most).ok_or_else(refuse)?;
        Ok(Self { address, bits })
    }
}

/// An address as a number whose first bit is the highest of 128.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl Network {
    /// True if the address is in the network.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let differing = number(self.address) ^ number(address);
        self.address.is_ipv4() == address.is_ipv4()
            && differing.leading_zeros() >= u32::from(self.bits)
    }
}

/// True if the address may connect: this machine, or a network that the user allows.
pub(crate) fn is_allowed(address: IpAddr, networks: &[Network]) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || networks.iter().any(|network| network.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_their_addresses() {
        let network: Network = "10.1.0.0/16".parse().expect("a network");
        for (address, inside) in [("10.1.2.3", true), ("10.2.0.0", false), ("::a01:1", false)] {
            let address: IpAddr = address.parse().expect("an address");
            assert_eq!(network.contains(address), inside, "{address}");
        }
        let all: Network = "::/0".parse().expect("a network");
        assert!(all.contains("fe80::1".parse().expect("an address")));
        for text in ["10.0.0.0", "10.0.0.0/33", "x/8", "::/129", "10.0.0.0/"] {
            let error = text.parse::<Network>().expect_err(text);
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn only_this_machine_is_allowed_without_networks() {
        for (address, allowed) in [("127.0.0.1", true), ("::1", true), ("192.0.2.1", false)] {
            assert_eq!(is_allowed(address.parse().expect("an address"), &[]), allowed);
        }
        assert!(is_allowed("::ffff:127.0.0.1".parse().expect("an address"), &[]));
    }
}
