//! Liveness of connections: when one whose other end vanished counts as broken, as after a loss of power or of the
//! cable.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt;

/// Idle time after which the other end of a connection is probed, and interval of the probes.
const IDLE: Duration = Duration::from_secs(3);
const INTERVAL: Duration = Duration::from_secs(1);
/// Time after which unacknowledged bytes or probes break the connection. The system's own limits are a quarter of an
/// hour for bytes and hours for silence. If a cable returns earlier nothing is lost. A process that is busy or stopped
/// still exists: its system acknowledges.
const TIMEOUT: Duration = Duration::from_secs(8);

/// Makes the system break a connection whose other end is gone.
pub(crate) fn notice_loss(stream: &TcpStream) -> io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, IDLE)?;
    sockopt::set_tcp_keepintvl(stream, INTERVAL)?;
    sockopt::set_tcp_user_timeout(stream, TIMEOUT.as_millis() as u32)?;
    Ok(())
}

/// Interval and number of the probes of an idle connection of a link.
const LANE_IDLE: Duration = Duration::from_secs(1);
const LANE_QUESTIONS: u32 = 3;

/// As [`notice_loss`], for a connection of a link, which detects by itself that nothing is read: the system must not
/// break one whose other end is busy.
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
    fn an_idle_connection_is_probed_and_closed_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        notice_loss(&stream).unwrap();
        assert!(sockopt::socket_keepalive(&stream).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&stream).unwrap(), IDLE);
        assert_eq!(sockopt::tcp_user_timeout(&stream).unwrap(), 8000);
    }
}
