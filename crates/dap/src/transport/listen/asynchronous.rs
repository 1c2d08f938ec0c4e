//! Listening on a runtime, without a thread.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::sync::Notify;

#[cfg(unix)]
use super::UnixServer;
use super::{AcceptError, Reach, TcpServer, users};
use crate::transport::{Connection, Options, either};

/// Accepts connections as a [`TcpServer`] or, on Unix, a `UnixServer` does, which it is made from, but without blocking:
/// [`AsyncServer::serve`](crate::async_server::AsyncServer::serve) serves them.
#[derive(Debug)]
pub struct AsyncListener {
    socket: Socket,
    stopped: AtomicBool,
    stop: Notify,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener, Reach),
    /// The server removes the socket's file when it is dropped.
    #[cfg(unix)]
    Unix(UnixListener, UnixServer),
}

impl AsyncListener {
    /// Listens where `server` has listened.
    ///
    /// # Errors
    /// The runtime cannot wait for the socket.
    ///
    /// # Panics
    /// There is no runtime, or it has no I/O enabled.
    pub fn tcp(server: TcpServer) -> io::Result<Self> {
        server.listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(server.listener)?;
        Ok(Self::new(Socket::Tcp(listener, server.reach)))
    }

    /// Listens where `server` has listened.
    ///
    /// # Errors
    /// The runtime cannot wait for the socket.
    ///
    /// # Panics
    /// There is no runtime, or it has no I/O enabled.
    #[cfg(unix)]
    pub fn unix(server: UnixServer) -> io::Result<Self> {
        let listener = server.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listener)?;
        Ok(Self::new(Socket::Unix(listener, server)))
    }

    fn new(socket: Socket) -> Self {
        let (stopped, stop) = (AtomicBool::new(false), Notify::new());
        Self {
            socket,
            stopped,
            stop,
        }
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// The system call failed, or the socket is a Unix socket.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match &self.socket {
            Socket::Tcp(listener, _) => listener.local_addr(),
            #[cfg(unix)]
            Socket::Unix(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Waits for the next connection. No connection is lost if the future is dropped.
    ///
    /// # Errors
    /// Accepting failed, the peer was refused, or listening was stopped.
    pub async fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        // Created before looking, so that a stop right after the look is not missed.
        let stop = self.stop.notified();
        if self.stopped.load(Ordering::Acquire) {
            return Err(AcceptError::Stopped);
        }
        let stopped = async {
            stop.await;
            Err(AcceptError::Stopped)
        };
        either(stopped, self.accept_next(options)).await
    }

    async fn accept_next(&self, options: Options) -> Result<Connection, AcceptError> {
        let options = options.of_adapter();
        match &self.socket {
            Socket::Tcp(listener, reach) => {
                let (stream, peer) = listener.accept().await?;
                if reach.checks(peer) {
                    users::check_tcp(peer, stream.local_addr()?)?;
                }
                // Messages are small and the peer waits for each, so Nagle's algorithm would only delay them.
                stream.set_nodelay(true).ok();
                let (input, output) = stream.into_split();
                Ok(options.asynchronous(input, output))
            }
            #[cfg(unix)]
            Socket::Unix(listener, server) => {
                let (stream, _) = listener.accept().await?;
                let stream = stream.into_std()?;
                server.check(users::unix_owner(&stream))?;
                let (input, output) = tokio::net::UnixStream::from_std(stream)?.into_split();
                Ok(options.asynchronous(input, output))
            }
        }
    }

    /// Ends listening, whichever task waits in [`accept`](Self::accept). Connections that were accepted stay open.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.stop.notify_waiters();
    }
}
