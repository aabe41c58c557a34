//! The started processes, on this host or by an agent.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Child, Command, Stdio};

use super::{StartOptions, Starting};
use crate::hosts_file::Host;
use crate::secret::Secret;

/// Returns a word for an agent like ssh, which has the shell of the other host read it: in single quotes if it has any
/// character with a meaning there. The other words of the command are numbers, addresses and names of this program.
pub fn for_shell(word: &OsStr) -> Cow<'_, OsStr> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:,@=+%".contains(byte);
    if !word.is_empty() && word.as_bytes().iter().all(is_plain) {
        return Cow::Borrowed(word);
    }
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        // The quotes are closed around a quote of the word.
        quoted.extend_from_slice(if *byte == b'\'' {
            b"'\\''"
        } else {
            std::slice::from_ref(byte)
        });
    }
    quoted.push(b'\'');
    Cow::Owned(OsString::from_vec(quoted))
}

/// Starts the process of `ranks` on `host`, and sends it the secret through its standard input.
pub(super) fn start(
    options: &StartOptions,
    host: &Host,
    ranks: &[usize],
    call: SocketAddr,
    secret: &Secret,
) -> io::Result<Child> {
    let mut command = if host.is_here() {
        Command::new(&options.program)
    } else {
        let mut command = Command::new(&options.agent);
        command.arg(&host.name).arg(for_shell(options.program.as_os_str()));
        command
    };
    command.args(&options.arguments).arg(call.to_string());
    let numbers: Vec<String> = ranks.iter().map(usize::to_string).collect();
    command.arg(numbers.join(","));
    // A rank's standard output would mix with the results; any program's is the result.
    let mut output = Stdio::null();
    let mut input = format!("{}\n", secret.to_line());
    let mut passes_input_on = false;
    match &options.starting {
        Starting::EachRank => {
            let processor = options.processors.get(ranks[0]).copied().flatten();
            command.arg(processor.map_or_else(|| "-".into(), |place| place.to_string()));
        }
        Starting::EachHost { task, any_program } => {
            input += &format!("{task}\n");
            if *any_program {
                output = Stdio::inherit();
                passes_input_on = ranks.contains(&0);
            }
        }
    }
    let mut child = command.stdin(Stdio::piped()).stdout(output).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // An error means that it has ended, which the supervision detects anyway.
        let _ = stdin.write_all(input.as_bytes());
        if passes_input_on {
            // It ends with this process at the latest.
            std::thread::spawn(move || io::copy(&mut io::stdin().lock(), &mut stdin));
        }
    }
    Ok(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_of_the_other_host_reads_one_word() {
        assert_eq!(&*for_shell(OsStr::new("/opt/a-b_1.0/cornerstone")), "/opt/a-b_1.0/cornerstone");
        for path in
            ["/home/a b/cornerstone", "/x/$(touch y)/c", "it's", "", "a;b", "*", "/\u{e9}\n"]
        {
            // The shell of this host, as that of another.
            let line = format!("printf %s {}", for_shell(OsStr::new(path)).display());
            let read = Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(read.stdout).unwrap(), path);
        }
    }
}
