//! Ranks that connect to the process that started them, as on several hosts; here all hosts are this one.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use fabric_tcp::{Secret, StartOptions, UserSignal, start};
use launcher::LaunchError;

use crate::harness::{Test, check};
use crate::job::REMOTE;
use crate::started::{self, gather};

type Outcome = Result<(), String>;

fn options(hosts: &str, ranks: usize, case: &str) -> StartOptions {
    let processors = (0..ranks).map(|rank| (rank > 0).then(|| rank - 1)).collect();
    StartOptions { processors, ..started::options(hosts, ranks, REMOTE, case.into()) }
}

/// Starts ranks on "hosts" that are all this one, and collects their reports.
pub(crate) fn start_and_gather(
    ranks: usize,
    case: &str,
) -> (Result<(), LaunchError>, Vec<Vec<u8>>) {
    gather(&options(&format!("localhost:1\n127.0.0.1:{ranks}"), ranks, case))
}

pub(crate) fn tests() -> Vec<Test> {
    let mut tests = vec![
        Test::new("several-hosts/more-ranks-than-slots-are-refused", too_many),
        Test::new("several-hosts/an-agent-that-is-not-there-is-named", no_agent),
        Test::new("several-hosts/an-agent-is-called-with-host-and-program", agent),
        Test::new("several-hosts/a-program-that-does-not-call-is-noticed", never_calls),
        Test::new("several-hosts/a-port-in-use-is-named", port_in_use),
        Test::new("several-hosts/strangers-at-the-door-change-nothing", strangers),
        Test::new("several-hosts/a-signal-ends-the-run", interrupted),
        Test::new("several-hosts/nobody-joins-with-another-secret", wrong_secret),
    ];
    for name in ["order/one-pair", "collectives/allgather", "random/programs-of-everything"] {
        tests.push(Test::new(format!("several-hosts/{name}"), move || {
            let case = conformance::find(name).ok_or("no such case")?;
            [1, 2, 5].into_iter().try_for_each(|ranks| {
                let (ended, _) = start_and_gather(ranks, &format!("conformance {name}"));
                case.judge(ranks, ended.map_err(|error| error.to_string()))
            })
        }));
    }
    tests
}

const GOOD: &str = "conformance order/one-pair";

fn fails_with(ended: &Result<(), LaunchError>, words: &[&str]) -> Outcome {
    let text = match ended {
        Ok(()) => return Err("it ended well".into()),
        Err(error) => error.to_string(),
    };
    words.iter().try_for_each(|word| {
        check(text.contains(word), || format!("'{word}' is missing in '{text}'"))
    })
}

fn too_many() -> Outcome {
    fails_with(&gather(&options("localhost:2\n127.0.0.1", 4, GOOD)).0, &["take 3 ranks, not 4"])?;
    fails_with(&gather(&options("localhost", 0, GOOD)).0, &["not 0"])
}

fn no_agent() -> Outcome {
    let listen = Some("127.0.0.1:0".parse().expect("an address"));
    let (ended, _) = gather(&StartOptions { listen, ..options("localhost\nsomewhere", 2, GOOD) });
    fails_with(&ended, &["starting rank 1 on somewhere", "No such file"])
}

/// The agent is a script that records its arguments and runs the command here.
fn agent() -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (script, notes) = (folder.path().join("agent"), folder.path().join("notes"));
    let text = format!("#!/bin/sh\necho \"$1\" >> '{}'\nshift\nexec \"$@\"\n", notes.display());
    std::fs::write(&script, text).map_err(|error| error.to_string())?;
    let runnable = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&script, runnable).map_err(|error| error.to_string())?;
    let listen = Some("127.0.0.1:0".parse().expect("an address"));
    let options =
        StartOptions { agent: script, listen, ..options("alpha\nlocalhost\nbeta:2", 4, GOOD) };
    gather(&options).0.map_err(|error| error.to_string())?;
    let mut called: Vec<String> =
        std::fs::read_to_string(notes).unwrap_or_default().lines().map(String::from).collect();
    called.sort();
    check(called == ["alpha", "beta", "beta"], || format!("{called:?}"))
}

fn never_calls() -> Outcome {
    let options = StartOptions { program: "/bin/false".into(), ..options("localhost:2", 2, GOOD) };
    let begin = Instant::now();
    let (ended, _) = gather(&options);
    check(begin.elapsed() < Duration::from_secs(600), || "it took too long".into())?;
    fails_with(&ended, &["localhost did not start", "status 1"])
}

fn port_in_use() -> Outcome {
    let holder = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let listen = holder.local_addr().map_err(|error| error.to_string())?;
    let (ended, _) =
        gather(&StartOptions { listen: Some(listen), ..options("localhost", 1, GOOD) });
    fails_with(&ended, &["listening at 127.0.0.1:", "in use"])
}

fn free_port() -> std::io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

fn strangers() -> Outcome {
    let listen = free_port().map_err(|error| error.to_string())?;
    let stranger = std::thread::spawn(move || {
        let mut met = Vec::new();
        for _ in 0..400 {
            if let Ok(mut stream) = TcpStream::connect(listen) {
                use std::io::Write;
                let _ = stream.write_all(&[met.len() as u8; 200]);
                met.push(stream);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        met.len()
    });
    let options = options("localhost:3", 3, GOOD);
    let (ended, _) = gather(&StartOptions { listen: Some(listen), ..options });
    stranger.join().map_err(|_| "the stranger panicked")?;
    ended.map_err(|error| error.to_string())
}

fn interrupted() -> Outcome {
    let begin = Instant::now();
    let options = options("localhost:2", 2, "deaths barrier-sleeps");
    let mut requested = 0;
    let mut signal = || {
        requested += 1;
        (requested > 3).then_some(UserSignal::End(2))
    };
    let ended = start(&options, &mut signal, &mut |_| ControlFlow::Continue(()));
    check(ended == Err(LaunchError::Interrupted { signal: 2 }), || format!("{ended:?}"))?;
    check(begin.elapsed() < Duration::from_secs(600), || "it took too long".into())
}

/// A rank of another run that connects by mistake gets an error, and the run continues without it.
fn wrong_secret() -> Outcome {
    let listen = free_port().map_err(|error| error.to_string())?;
    let caller = std::thread::spawn(move || {
        let secret = Secret::generate().expect("the system has random numbers");
        let until = Instant::now() + Duration::from_secs(600);
        while Instant::now() < until {
            match fabric_tcp::remote::join(listen, 0, &secret) {
                Ok(_) => return "it got in".to_string(),
                Err(error) if error.to_string().contains("cannot be reached") => {}
                Err(error) => return error.to_string(),
            }
        }
        "nobody answered".to_string()
    });
    let options = options("localhost:2", 2, "deaths barrier-sleeps");
    let mut signal = || caller.is_finished().then_some(UserSignal::End(15));
    let options = StartOptions { listen: Some(listen), ..options };
    let ended = start(&options, &mut signal, &mut |_| ControlFlow::Continue(()));
    check(ended == Err(LaunchError::Interrupted { signal: 15 }), || format!("{ended:?}"))?;
    let words = caller.join().map_err(|_| "the caller panicked")?;
    check(words.contains("does not know this run's secret"), || words)
}
