//! By which names a live page may be asked for.
//!
//! A page of another site cannot read the figures, for no answer allows it to. But a site may have
//! its name point to this machine (DNS rebinding), and then counts as the same site. Its name gives
//! it away: this machine is only asked for by its address, or as `localhost`.

use std::net::IpAddr;

/// True if `host`, as in the header of this name, is the address that the server is bound to.
/// A server that is bound to all addresses is asked for by any address.
pub(super) fn is_ours(host: &str, bound: IpAddr) -> bool {
    let Some(name) = without_port(host) else { return false };
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let address = match name.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(inside) => inside.parse().ok().map(IpAddr::V6),
        None => name.parse().ok().map(IpAddr::V4),
    };
    address.is_some_and(|it| it == bound || it.is_loopback() || bound.is_unspecified())
}

/// True if a page that names this origin is our own.
pub(super) fn is_our_origin(origin: &str, bound: IpAddr) -> bool {
    origin.strip_prefix("http://").is_some_and(|host| is_ours(host, bound))
}

/// The name in a host with or without a port.
fn without_port(host: &str) -> Option<&str> {
    let inside = host.rfind(']').unwrap_or_default();
    let Some(colon) = host[inside..].find(':') else { return Some(host) };
    let (name, port) = host.split_at(inside + colon);
    port[1..].parse::<u16>().ok().map(|_| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_sites_are_not_ours() {
        let bound = |text: &str| text.parse::<IpAddr>().expect("an address");
        let (here, outside, all) = (bound("127.0.0.1"), bound("192.0.2.1"), bound("::"));
        for host in ["127.0.0.1:9000", "127.0.0.1", "localhost:9000", "LOCALHOST", "[::1]:9000"] {
            assert!(is_ours(host, here), "{host}");
            assert!(is_our_origin(&format!("http://{host}"), here), "{host}");
            assert!(!is_our_origin(&format!("https://{host}"), here), "{host}");
        }
        let others = ["", ":", "a.example", "a.example:9000", "127.0.0.1.a.example", "192.0.2.1"];
        let odd = ["localhost:x", "127.0.0.1:", "localhost:9:9", "[::1", "::1", "user@127.0.0.1"];
        for host in others.into_iter().chain(odd) {
            assert!(!is_ours(host, here), "{host}");
        }
        assert!(is_ours("192.0.2.1:9000", outside) && !is_ours("192.0.2.2:9000", outside));
        assert!(is_ours("192.0.2.2:9000", all) && !is_ours("a.example:9000", all));
        assert!(!is_our_origin("null", here));
    }
}
