//! A connection to the server: over TCP, or over this process's own standard input and output.

use crate::codec::{decode, encode, read_line};
use crate::messages::{FromClient, FromServer};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

pub const DEFAULT_ADDRESS: &str = "tcp://127.0.0.1:7878";
pub const STDIO: &str = "stdio:";

const CONNECT_TIME: Duration = Duration::from_secs(10);

pub enum NotConnected {
    Address(String),
    Refused(io::Error),
}

pub enum NoMessage {
    /// The connection has ended, for any reason.
    Ended,
    /// The line is not a message.
    Wrong(String),
}

/// It is closed when it is dropped.
pub struct Connection {
    reader: Box<dyn BufRead>,
    writer: Box<dyn Write>,
}

impl Connection {
    /// Connects to `tcp://HOST:PORT` or `stdio:`.
    pub fn open(address: &str) -> Result<Self, NotConnected> {
        if address == STDIO {
            return Ok(Self { reader: Box::new(io::stdin().lock()), writer: Box::new(io::stdout().lock()) });
        }
        let place = place_of(address).ok_or_else(|| {
            NotConnected::Address(format!("not an address:  {address}; it is tcp://HOST:PORT or {STDIO}"))
        })?;
        Self::over_tcp(place).map_err(NotConnected::Refused)
    }

    fn over_tcp(place: &str) -> io::Result<Self> {
        let mut problem = io::Error::new(ErrorKind::NotFound, "no such host");
        for address in place.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIME) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    let reader = BufReader::new(stream.try_clone()?);
                    return Ok(Self { reader: Box::new(reader), writer: Box::new(stream) });
                }
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    /// Sends a message in one write: two for one line would wait for each other on the network.
    pub fn send(&mut self, message: &FromClient) -> io::Result<()> {
        self.writer.write_all(&encode(message))?;
        self.writer.flush()
    }

    pub fn receive(&mut self) -> Result<FromServer, NoMessage> {
        match read_line(&mut self.reader) {
            Ok(Some(line)) => decode(&line).map_err(NoMessage::Wrong),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(NoMessage::Wrong(error.to_string())),
            Ok(None) | Err(_) => Err(NoMessage::Ended),
        }
    }
}

/// `host:port`
fn place_of(address: &str) -> Option<&str> {
    let place = address.strip_prefix("tcp://")?;
    let (host, port) = place.rsplit_once(':')?;
    (!host.is_empty() && port.parse::<u16>().is_ok_and(|number| number > 0)).then_some(place)
}
