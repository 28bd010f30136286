//! The socket at which an emulation receives its ports.

use crate::ports::Port;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// The word with which the caller introduces the connection over which it ends the emulation.
const CONTROL: &str = "control";
/// How long a process may take to say which port it has.
const ANSWER: Duration = Duration::from_secs(5);

/// A Unix socket to which the processes in the namespaces send their TUN interfaces.
#[derive(Debug)]
pub struct Gate {
    listener: UnixListener,
    pub(crate) ports: Vec<Port>,
    pub(crate) control: Option<UnixStream>,
}

impl Gate {
    /// Listens at a path that nothing has.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn new(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, ports: Vec::new(), control: None })
    }

    /// Waits until one more connection has come, at most this long; `false` if none has. A message
    /// on it is the name of a port, with the descriptor of its TUN interface, or `control`.
    ///
    /// # Errors
    /// Those of the sockets, and a message of something else.
    pub fn accept(&mut self, within: Duration) -> io::Result<bool> {
        let begin = Instant::now();
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => return self.take(stream).map(|()| true),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if begin.elapsed() >= within {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn take(&mut self, stream: UnixStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(ANSWER))?;
        let mut bytes = [0; 256];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(&mut bytes)];
        let got = recvmsg(&stream, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
        let tun = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        let name = String::from_utf8_lossy(&bytes[..got.bytes]).trim().to_owned();
        match tun {
            Some(tun) => self.ports.push(Port::new(name, File::from(tun))),
            None if name == CONTROL => {
                stream.set_nonblocking(true)?;
                self.control = Some(stream);
            }
            None => {
                let message = format!("{name:?} came without a TUN interface");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
        Ok(())
    }
}
