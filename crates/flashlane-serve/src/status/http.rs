//! HTTP/1.1, as far as a live page needs it: one question a connection.

use std::net::IpAddr;
use std::sync::Arc;

use flashlane::Error;
use flashlane_nvme::{Done, Finished};

use super::Denied;
use super::hosts::{is_our_origin, is_ours};
use crate::house::House;
use crate::session::{Ended, Session, Wire};

/// The longest request. Unit: bytes.
const REQUEST_MAX: usize = 8 * 1024;

/// Headers of a request.
const HEADERS_MAX: usize = 64;

/// The longest body of a change. Unit: bytes.
const BODY_MAX: usize = 1024;

const PAGE: &str = include_str!("page.html");

/// What every answer says: browsers neither keep it, nor guess its type, nor let other sites use
/// it, and the page loads nothing from elsewhere.
const ALWAYS: &str = "Connection: close\r\n\
    Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; \
    script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'\r\n";

/// The conversation with a browser, or with Prometheus.
pub(crate) struct HttpSession {
    /// The address that the server is bound to.
    bound: IpAddr,
}

/// An answer.
struct Answer {
    status: &'static str,
    kind: &'static str,
    body: Arc<str>,
}

/// What a client wants.
enum Wish {
    /// To see what is under a path.
    Look(String),
    /// To change limits, with a token and a body.
    Change(String, Vec<u8>),
}

/// A question that may be answered.
struct Question {
    wish: Wish,
    /// Only the head of the answer is wanted.
    head_only: bool,
}

impl HttpSession {
    pub(crate) fn new(bound: IpAddr) -> Self {
        Self { bound }
    }
}

impl Answer {
    fn refused(status: &'static str, why: &str) -> Self {
        let body = format!("{why}\n").into();
        Self { status, kind: "text/plain; charset=utf-8", body }
    }

    /// Adds the answer to the output.
    fn write(&self, head_only: bool, output: &mut Vec<u8>) {
        let Self { status, kind, body } = self;
        let allow = if status.starts_with("405") { "Allow: GET, HEAD, POST\r\n" } else { "" };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
             {allow}{ALWAYS}\r\n"
        );
        output.extend(head.as_bytes());
        if !head_only {
            output.extend(body.as_bytes());
        }
    }
}

/// The values of the headers of a name.
fn named<'a>(headers: &[httparse::Header<'a>], name: &str) -> Vec<&'a str> {
    let it = headers.iter().filter(|it| it.name.eq_ignore_ascii_case(name));
    it.map(|it| std::str::from_utf8(it.value).unwrap_or_default()).collect()
}

/// The question in the input; `None` if it is not all there.
fn question(input: &[u8], bound: IpAddr) -> Result<Option<Question>, Answer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let parsed = request.parse(input);
    if input.len() > REQUEST_MAX {
        return Err(Answer::refused("431 Request Header Fields Too Large", "allowed: 8 KiB"));
    }
    let head = match parsed {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(Answer::refused("400 Bad Request", &error.to_string())),
    };
    if !matches!(named(request.headers, "host")[..], [host] if is_ours(host, bound)) {
        let why = "found another name in `Host`, allowed: the address of this server, localhost";
        return Err(Answer::refused("403 Forbidden", why));
    }
    if !named(request.headers, "origin").into_iter().all(|it| is_our_origin(it, bound)) {
        return Err(Answer::refused("403 Forbidden", "pages of other sites get no figures"));
    }
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let wish = match (request.method, path) {
        (Some("GET" | "HEAD"), _) => Wish::Look(path.to_owned()),
        (Some("POST"), "/limits") => match change(request.headers, &input[head..])? {
            Some(wish) => wish,
            None => return Ok(None),
        },
        _ => {
            let why = "allowed: GET, HEAD, and POST for /limits";
            return Err(Answer::refused("405 Method Not Allowed", why));
        }
    };
    Ok(Some(Question { wish, head_only: request.method == Some("HEAD") }))
}

/// The change in a request; `None` if its body is not all there.
fn change(headers: &[httparse::Header<'_>], rest: &[u8]) -> Result<Option<Wish>, Answer> {
    let refuse = |why| Answer::refused("400 Bad Request", why);
    let length = match named(headers, "content-length")[..] {
        [length] => length.parse::<usize>().ok(),
        _ => None,
    };
    let length = length.filter(|&it| it <= BODY_MAX);
    let length = length.ok_or_else(|| refuse("Content-Length: allowed: one, up to 1024"))?;
    if named(headers, "content-type") != ["application/json"] {
        return Err(refuse("Content-Type: allowed: application/json"));
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let token = match named(headers, "authorization")[..] {
        [it] => it.strip_prefix("Bearer ").unwrap_or_default(),
        _ => "",
    };
    Ok(Some(Wish::Change(token.to_owned(), body.to_vec())))
}

/// The answer to a question.
fn answer(wish: &Wish, house: &mut House) -> Result<Answer, Error> {
    let House { status, subsystem, lateness, now, .. } = house;
    let ok = |kind, body| Answer { status: "200 OK", kind, body };
    let Some(status) = status else { return Ok(Answer::refused("404 Not Found", "no page")) };
    let path = match wish {
        Wish::Look(path) => path,
        Wish::Change(token, body) => {
            return Ok(match status.change(subsystem.media(), *now, (token, body)) {
                Ok(()) => ok("application/json", "{}".into()),
                Err(Denied::Token) => {
                    let why =
                        "Authorization: allowed: Bearer, and the token that the server printed";
                    Answer::refused("401 Unauthorized", why)
                }
                Err(Denied::Body(why)) => Answer::refused("400 Bad Request", &why),
            });
        }
    };
    Ok(match path.as_str() {
        "/" => ok("text/html; charset=utf-8", PAGE.into()),
        "/figures.json" => {
            ok("application/json", status.figures(subsystem.media(), lateness, *now)?)
        }
        "/metrics" => {
            ok("text/plain; version=0.0.4; charset=utf-8", status.metrics(subsystem.media())?)
        }
        _ => Answer::refused("404 Not Found", "allowed: /, /figures.json, /metrics"),
    })
}

impl Session for HttpSession {
    fn receive(&mut self, wire: &mut Wire, house: &mut House) -> Result<(), Ended> {
        let (answer, head_only) = match question(&wire.input, self.bound) {
            Ok(None) => return Ok(()),
            Ok(Some(Question { wish, head_only })) => {
                let failed =
                    |error: Error| Answer::refused("500 Internal Server Error", &error.to_string());
                (answer(&wish, house).unwrap_or_else(failed), head_only)
            }
            Err(refused) => (refused, false),
        };
        wire.input.clear();
        answer.write(head_only, &mut wire.output);
        Err(Ended("the question is answered"))
    }

    fn done(&mut self, _: Done, _: &mut Wire, _: &mut House) {}

    fn finished(&mut self, _: Finished, _: &mut Wire) {}

    fn closed(&mut self, _: &mut House) {}

    /// Never: a client that does not ask, or does not read the answer, is soon disconnected.
    fn is_established(&self) -> bool {
        false
    }

    fn is_mid_command(&self) -> bool {
        false
    }

    fn held(&self) -> usize {
        0
    }
}
