//! The live page: what it shows, and which clients it refuses.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use flashlane_nvme::Tenancy;
use flashlane_serve::{Address, Door, Pace, ServeConfig, Server};
use serde_json::Value;

use crate::nbd_client::Client;
use crate::run::{Running, completed, config, replay};

const READ: (u16, u16) = (0, 0);
const WRITE: (u16, u16) = (1, 0);

fn with_page(pace: Pace) -> ServeConfig {
    let mut config = config(pace, Tenancy::Namespace);
    config.doors.push((Door::Status, "127.0.0.1:0".parse().expect("an address")));
    config
}

fn client(server: &Running, export: &str) -> Client<TcpStream> {
    server.nbd(export, true)
}

/// Sends bytes, and returns the head and the body of the answer.
fn exchange(server: &Running, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(server.port(Door::Status)).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the server answers and closes");
    let text = String::from_utf8(bytes).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

/// Asks for a path as a browser does.
fn get(server: &Running, path: &str) -> (String, String) {
    let host = server.port(Door::Status);
    exchange(server, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n"))
}

fn figures(server: &Running) -> Value {
    let (head, body) = get(server, "/figures.json");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    body.parse().expect("JSON")
}

/// Figures that are not those from before.
fn new_figures(server: &Running) -> Value {
    std::thread::sleep(Duration::from_millis(300));
    figures(server)
}

#[test]
fn the_page_is_served_and_needs_nothing_else() {
    let server = Running::start(with_page(Pace::Virtual));
    let (head, page) = get(&server, "/?x=1");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    for header in [
        "Content-Type: text/html; charset=utf-8",
        "X-Content-Type-Options: nosniff",
        "Cache-Control: no-store",
        "Content-Security-Policy: default-src 'none'; ",
        "frame-ancestors 'none'",
    ] {
        assert!(head.contains(header), "{header} is not in {head}");
    }
    assert!(!head.to_lowercase().contains("access-control"), "no other site may read it: {head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", page.len())));
    assert!(page.contains("fetch(\"figures.json\""));
    let links = page.matches("://").count();
    assert_eq!(links, page.matches("http://www.w3.org/2000/svg").count(), "only the name of SVG");
    for tag in ["<script src", "<link rel=\"stylesheet", "@import", "innerHTML"] {
        assert!(!page.contains(tag), "{tag}");
    }
    let host = server.port(Door::Status);
    let (head, body) = exchange(&server, &format!("HEAD / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(head.contains(&format!("Content-Length: {}\r\n", page.len())) && body.is_empty());
    assert!(get(&server, "/other").0.starts_with("HTTP/1.1 404 "));
    assert_eq!(server.stop().connections, 0, "looking is not using");
}

#[test]
fn figures_follow_the_load() {
    let server = Running::start(with_page(Pace::Virtual));
    let idle = figures(&server);
    assert_eq!(idle["schema"], "flashlane.status/1");
    assert_eq!(idle["tenants"][0]["requests"], 0);
    let (mut first, mut second) = (client(&server, "first"), client(&server, "second"));
    for number in 0..100 {
        first.send(WRITE, number * 4096, 4096, &[1; 4096]);
        if number % 10 == 0 {
            second.send(READ, number * 4096, 4096, &[]);
        }
    }
    (0..100).for_each(|_| assert_eq!(first.reply(|_| 0).1, 0));
    (0..10).for_each(|_| assert_eq!(second.reply(|_| 4096).1, 0));
    let busy = new_figures(&server);
    let [one, two] = [&busy["tenants"][0], &busy["tenants"][1]];
    assert_eq!(
        (&one["name"], &one["requests"], &two["requests"]),
        (&"first".into(), &100.into(), &10.into())
    );
    assert_eq!(one["operations"][0]["op"], "write");
    assert_eq!(two["operations"][0]["op"], "read");
    let number = |value: &Value| value.as_f64().expect("a number");
    let simulated_s = number(&busy["window_simulated_s"]);
    assert!(simulated_s > 0.0);
    assert!((number(&one["iops"]) * simulated_s - 100.0).abs() < 1e-6);
    assert!((number(&one["mb_per_s"]) / number(&one["iops"]) - 0.004096).abs() < 1e-9);
    assert!(number(&one["p99_us"]) >= number(&one["p50_us"]) && number(&one["p50_us"]) > 0.0);
    assert!(number(&one["recent"]["requests"]) <= 100.0);
    assert!(number(&one["slowdown_estimate"]) >= 1.0);
    let shares =
        one["waits"].as_array().expect("blame is on").iter().map(|it| number(&it["share"]));
    let waits: f64 = shares.sum();
    assert!(waits > 0.0 && waits <= 1.0 + 1e-9, "{waits}");
    let channels = busy["channels"].as_array().expect("channels");
    assert!(channels.iter().any(|it| number(it) > 0.0));
    let chips = busy["chips"].as_array().expect("chips");
    assert!(chips.len() >= channels.len() && chips.iter().all(|it| number(&it["busy"]) <= 1.0));
    drop((first, second));
    let kept = server.kept.clone();
    server.stop();
    assert_eq!(replay(&kept, Tenancy::Namespace), 110, "looking changes no completion");
}

#[test]
fn every_line_of_the_metrics_is_one() {
    let server = Running::start(with_page(Pace::Real));
    let mut client = client(&server, "second");
    for number in 0..20 {
        client.run(WRITE, number * 4096, 4096, &[1; 4096]);
    }
    let (head, text) = get(&server, "/metrics");
    assert!(head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    let mut typed = BTreeSet::new();
    let mut samples = Vec::new();
    for line in text.lines() {
        if let Some(told) = line.strip_prefix("# ") {
            let words: Vec<&str> = told.splitn(3, ' ').collect();
            assert!(["HELP", "TYPE"].contains(&words[0]) && words.len() == 3, "{line}");
            if words[0] == "TYPE" {
                assert!(["counter", "gauge", "histogram"].contains(&words[2]), "{line}");
                assert!(typed.insert(words[1].to_owned()), "one type: {line}");
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a name and a value");
        let value: f64 = value.parse().unwrap_or_else(|error| panic!("{error}: {line}"));
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        assert!(name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_'), "{line}");
        assert!(labels.ends_with('}') && labels.matches('"').count() % 2 == 0, "{line}");
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|it| name.strip_suffix(it));
        assert!(typed.contains(family.unwrap_or(name)) || typed.contains(name), "{line}");
        samples.push((series, value));
    }
    let value = |series: &str| samples.iter().find(|it| it.0 == series).map(|it| it.1);
    let labels = "tenant=\"second\",op=\"write\"";
    assert_eq!(value(&format!("flashlane_requests_total{{{labels}}}")), Some(20.0));
    assert_eq!(value(&format!("flashlane_bytes_total{{{labels}}}")), Some(20.0 * 4096.0));
    assert_eq!(value(&format!("flashlane_response_seconds_count{{{labels}}}")), Some(20.0));
    assert_eq!(value("flashlane_lateness_seconds_count"), Some(20.0));
    assert!(value("flashlane_write_amplification").is_some());
    assert!(value("flashlane_simulated_seconds").is_some_and(|it| it > 0.0));
    assert!(value("flashlane_channel_busy_ratio{channel=\"0\"}").is_some());
}

#[test]
fn names_of_other_sites_and_changes_are_refused() {
    let server = Running::start(with_page(Pace::Virtual));
    let port = server.port(Door::Status).port();
    let ours = format!("Host: 127.0.0.1:{port}\r\n");
    let site = "Origin: http://a.example\r\n";
    for (method, path, headers, status) in [
        ("GET", "/", format!("Host: localhost:{port}\r\n"), "200"),
        ("GET", "/", format!("{ours}Origin: http://localhost:{port}\r\n"), "200"),
        ("GET", "/", format!("Host: a.example:{port}\r\n"), "403"),
        ("GET", "/figures.json", "Host: 127.0.0.1.a.example\r\n".to_owned(), "403"),
        ("GET", "/metrics", String::new(), "403"),
        ("GET", "/figures.json", format!("{ours}{ours}"), "403"),
        ("GET", "/figures.json", format!("{ours}{site}"), "403"),
        ("GET", "/figures.json", format!("{ours}Origin: null\r\n"), "403"),
        ("PUT", "/limits", ours.clone(), "405"),
        ("POST", "/", format!("{ours}Content-Length: 2\r\n\r\n{{}}"), "405"),
        ("DELETE", "/figures.json", ours.clone(), "405"),
        ("OPTIONS", "/figures.json", ours.clone(), "405"),
        ("G(T", "/", ours.clone(), "400"),
    ] {
        let request = format!("{method} {path} HTTP/1.1\r\n{headers}\r\n");
        let (head, body) = exchange(&server, &request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{request}{head}");
        assert!(status == "200" || !body.contains("tenants"), "{body}");
        assert!(!head.to_lowercase().contains("access-control"), "{head}");
        assert_eq!(head.contains("Allow: GET, HEAD, POST"), status == "405", "{head}");
    }
    let long = format!("GET / HTTP/1.1\r\n{ours}Cookie: {}", "x".repeat(8 * 1024));
    assert!(exchange(&server, &long).0.starts_with("HTTP/1.1 431 "));
}

/// Asks for a change, and returns the status.
fn post(server: &Running, headers: &str, body: &str) -> String {
    let (host, length) = (server.port(Door::Status), body.len());
    let request = format!(
        "POST /limits HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    exchange(server, &request).0[9..12].to_owned()
}

#[test]
fn limits_are_changed_by_who_knows_the_token() {
    let server = Running::start(with_page(Pace::Virtual));
    let token = server.token.clone().expect("a token");
    let json = "Content-Type: application/json\r\n";
    let right = format!("{json}Authorization: Bearer {token}\r\n");
    let good = "{\"tenant\": \"first\", \"iops\": 1000, \"mb_per_s\": null}";
    for (headers, body, status) in [
        (json.to_owned(), good, "401"),
        (format!("{json}Authorization: Bearer {}\r\n", "0".repeat(32)), good, "401"),
        (format!("{json}Authorization: {token}\r\n"), good, "401"),
        (format!("{right}Origin: http://a.example\r\n"), good, "403"),
        (format!("Authorization: Bearer {token}\r\n"), good, "400"),
        (right.clone(), "{\"tenant\": \"third\", \"iops\": 1}", "400"),
        (right.clone(), "{\"tenant\": \"first\", \"iops\": 0}", "400"),
        (right.clone(), "{\"tenant\": \"first\", \"mb_per_s\": -1}", "400"),
        (right.clone(), "{\"tenant\": \"first\", \"speed\": 1}", "400"),
        (right.clone(), "{", "400"),
    ] {
        assert_eq!(post(&server, &headers, body), status, "{headers}{body}");
        assert!(figures(&server)["tenants"][0]["limit"]["iops"].is_null());
    }
    let mut first = client(&server, "first");
    let write = |client: &mut Client<TcpStream>| {
        (0..20).for_each(|it| assert_eq!(client.run(WRITE, it * 4096, 4096, &[1; 4096]).0, 0));
        let times = completed(&server.kept);
        (times[times.len() - 1].0 - times[times.len() - 20].0) / 1_000_000_000
    };
    assert!(write(&mut first) < 17, "without a limit");
    assert_eq!(post(&server, &right, good), "200");
    assert_eq!(figures(&server)["tenants"][0]["limit"]["iops"], 1000);
    // A millisecond each, and the burst lets the second one pass with the first.
    let limited_ms = write(&mut first);
    assert!((17..=20).contains(&limited_ms), "{limited_ms}");
    let lift = "{\"tenant\": \"first\"}";
    assert_eq!(post(&server, &right, lift), "200");
    assert!(write(&mut first) < 17, "the limit is lifted");
    drop(first);
    let kept = server.kept.clone();
    server.stop();
    assert_eq!(replay(&kept, Tenancy::Namespace), 60, "the times of entering say it all");
}

/// Lets this process have as many open sockets as it may have.
fn allow_many_sockets() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        setrlimit(Resource::Nofile, limit).expect("up to the maximum it is allowed");
    }
}

#[test]
fn silent_pages_stop_no_client() {
    let mut config = with_page(Pace::Virtual);
    config.limits.connections = 2;
    config.limits.handshake = Duration::from_secs(2);
    let server = Running::start(config);
    allow_many_sockets();
    let address: SocketAddr = server.port(Door::Status);
    // Some say nothing, others half a word.
    let silent: Vec<TcpStream> = (0..1000)
        .map(|number| {
            let mut stream = TcpStream::connect(address).expect("the server listens");
            if number % 2 == 0 {
                let _ = stream.write_all(b"GET / HT");
            }
            stream
        })
        .collect();
    let started = Instant::now();
    let (mut first, mut second) = (client(&server, "first"), client(&server, "second"));
    for number in 0..50 {
        assert_eq!(first.run(WRITE, number * 4096, 4096, &[1; 4096]).0, 0);
        assert_eq!(second.run(READ, number * 4096, 4096, &[]).0, 0);
    }
    assert_eq!(figures(&server)["tenants"][1]["requests"], 50, "the newest page is served");
    assert!(started.elapsed() < Duration::from_secs(60));
    for mut stream in silent {
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        let end = stream.read(&mut [0]);
        assert!(!end.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "closed");
    }
    drop((first, second));
    assert_eq!(server.stop().connections, 2);
}

#[test]
fn other_machines_are_not_let_in_without_a_network() {
    let refused = |address: &str| {
        let mut config = config(Pace::Virtual, Tenancy::Queue);
        config.doors.push((Door::Status, address.parse::<Address>().expect("an address")));
        let Err(error) = Server::bind(config) else { panic!("{address} is bound") };
        error.to_string()
    };
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let error = refused(address);
        assert!(error.contains("--allow") && error.contains(address), "{error}");
    }
    let error = refused("unix:page");
    assert!(error.contains("--status") && error.contains("ADDRESS:PORT"), "{error}");
}
