//! A client of NBD, for the tests of the server and for those of the command.

use std::io::{Read, Write};

/// A socket.
pub(crate) trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A client that uses an export.
pub(crate) struct Client<S> {
    pub(crate) stream: S,
    structured: bool,
    pub(crate) bytes: u64,
    cookie: u64,
}

fn number<const N: usize>(stream: &mut impl Read) -> u64 {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).expect("the server answers");
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Sends an option.
pub(crate) fn option(stream: &mut impl Write, option: u32, data: &[u8]) {
    let length = (data.len() as u32).to_be_bytes();
    let bytes = [&b"IHAVEOPT"[..], &option.to_be_bytes(), &length, data].concat();
    stream.write_all(&bytes).expect("the server reads");
}

/// The kind and the data of the next answer to an option.
pub(crate) fn answer(stream: &mut impl Read, to: u32) -> (u32, Vec<u8>) {
    assert_eq!(number::<8>(stream), 0x0003_e889_0455_65a9);
    assert_eq!(number::<4>(stream), u64::from(to));
    let kind = number::<4>(stream) as u32;
    let mut data = vec![0; number::<4>(stream) as usize];
    stream.read_exact(&mut data).expect("the server answers");
    (kind, data)
}

/// Greets the server.
pub(crate) fn greet(stream: &mut impl Stream) {
    let mut words = [0; 18];
    stream.read_exact(&mut words).expect("the server greets");
    assert_eq!(&words, b"NBDMAGICIHAVEOPT\0\x03");
    stream.write_all(&3_u32.to_be_bytes()).expect("the server reads");
}

/// A request as bytes. Its kind has flags.
pub(crate) fn request(
    (kind, flags): (u16, u16),
    cookie: u64,
    (offset, length): (u64, u32),
    data: &[u8],
) -> Vec<u8> {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(data);
    bytes
}

impl<S: Stream> Client<S> {
    pub(crate) fn connect(mut stream: S, export: &str, structured: bool) -> Self {
        greet(&mut stream);
        if structured {
            option(&mut stream, 8, &[]);
            assert_eq!(answer(&mut stream, 8).0, 1);
        }
        let length = (export.len() as u32).to_be_bytes();
        option(&mut stream, 7, &[&length, export.as_bytes(), &[0, 1, 0, 3]].concat());
        let (kind, fact) = answer(&mut stream, 7);
        assert_eq!((kind, &fact[..2]), (3, &[0, 0][..]));
        let bytes = fact[2..10].iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let (kind, sizes) = answer(&mut stream, 7);
        assert_eq!((kind, &sizes[..6]), (3, &[0, 3, 0, 0, 2, 0][..]), "blocks of 512 bytes");
        assert_eq!(answer(&mut stream, 7), (1, Vec::new()));
        Self { stream, structured, bytes, cookie: 0 }
    }

    /// Sends a request, and returns its cookie.
    pub(crate) fn send(&mut self, kind: (u16, u16), offset: u64, length: u32, data: &[u8]) -> u64 {
        self.cookie += 1;
        let bytes = request(kind, self.cookie, (offset, length), data);
        self.stream.write_all(&bytes).expect("the server reads");
        self.cookie
    }

    /// The next reply: its cookie, its error, and its data, which is as long as `expect` says.
    pub(crate) fn reply(&mut self, expect: impl Fn(u64) -> usize) -> (u64, u32, Vec<u8>) {
        let magic = number::<4>(&mut self.stream);
        if magic == 0x6744_6698 {
            let error = number::<4>(&mut self.stream) as u32;
            let cookie = number::<8>(&mut self.stream);
            let length = if error == 0 { expect(cookie) } else { 0 };
            assert!(!self.structured || length == 0, "reads have structured replies");
            return (cookie, error, self.bytes_of(length));
        }
        assert_eq!((magic, self.structured), (0x668e_33ef, true));
        let (flags, kind) = (number::<2>(&mut self.stream), number::<2>(&mut self.stream));
        let cookie = number::<8>(&mut self.stream);
        let length = number::<4>(&mut self.stream) as usize;
        let data = self.bytes_of(length);
        assert_eq!(flags, 1, "one chunk");
        match kind {
            1 => (cookie, 0, data[8..].to_vec()),
            0x8001 => (cookie, data[3].into(), Vec::new()),
            kind => panic!("a chunk of kind {kind}"),
        }
    }

    fn bytes_of(&mut self, length: usize) -> Vec<u8> {
        let mut data = vec![0; length];
        self.stream.read_exact(&mut data).expect("the server answers");
        data
    }

    /// A request alone: its error and data.
    pub(crate) fn run(
        &mut self,
        kind: (u16, u16),
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> (u32, Vec<u8>) {
        let cookie = self.send(kind, offset, length, data);
        let expected = if kind.0 == 0 { length as usize } else { 0 };
        let (found, error, data) = self.reply(|_| expected);
        assert_eq!(found, cookie);
        (error, data)
    }
}
