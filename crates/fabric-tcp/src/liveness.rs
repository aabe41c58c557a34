//! When a connection whose other end is gone without a word counts as broken: a host that lost its power or its cable.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt;

/// An idle connection is asked after so long whether the other end is there, and then again and again.
const IDLE: Duration = Duration::from_secs(3);
const INTERVAL: Duration = Duration::from_secs(1);
/// Bytes or questions that were not acknowledged for so long have found nobody. The system's own patience is a quarter of
/// an hour for bytes and hours for silence. A cable that is back earlier loses nothing. A process that is busy or stopped
/// is there: its system acknowledges.
const PATIENCE: Duration = Duration::from_secs(8);

/// Has the system break a connection whose other end is gone.
pub(crate) fn notice_loss(stream: &TcpStream) -> io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, IDLE)?;
    sockopt::set_tcp_keepintvl(stream, INTERVAL)?;
    sockopt::set_tcp_user_timeout(stream, PATIENCE.as_millis() as u32)?;
    Ok(())
}

/// An idle connection of a link is asked so often, and so many times.
const LANE_IDLE: Duration = Duration::from_secs(1);
const LANE_QUESTIONS: u32 = 3;

/// The same for a connection of a link, which finds by itself that nothing is read: the system must not break one whose
/// other end is busy with something else.
pub(crate) fn notice_silence(stream: &TcpStream) -> io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, LANE_IDLE)?;
    sockopt::set_tcp_keepintvl(stream, LANE_IDLE)?;
    sockopt::set_tcp_keepcnt(stream, LANE_QUESTIONS)?;
    sockopt::set_tcp_user_timeout(stream, 0)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_is_asked_while_it_is_idle_and_given_up_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        notice_loss(&stream).unwrap();
        assert!(sockopt::socket_keepalive(&stream).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&stream).unwrap(), IDLE);
        assert_eq!(sockopt::tcp_user_timeout(&stream).unwrap(), 8000);
    }
}
