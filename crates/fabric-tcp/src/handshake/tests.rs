use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::accept::UNVERIFIED_MAX;
use super::connect::ConnectError;
use super::*;

const CALLER: Caller = Caller { purpose: Purpose::Messages, rank: 3, wanted: 1 };

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// Accepts until a caller is verified, or the test is over.
fn acceptor(secret: &Secret) -> (SocketAddr, Receiver<Caller>, JoinHandle<()>) {
    let mut acceptor = Acceptor::listen(loopback(), secret.clone()).unwrap();
    let address = acceptor.address().unwrap();
    let (sender, receiver) = channel();
    let until = Instant::now() + Duration::from_secs(20);
    let thread = std::thread::spawn(move || {
        while Instant::now() < until {
            if let Some((who, _stream)) = acceptor.step().unwrap().pop() {
                let _ = sender.send(who);
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    (address, receiver, thread)
}

#[test]
fn processes_with_the_same_secret_connect() {
    let secret = Secret::generate().unwrap();
    let (address, callers, thread) = acceptor(&secret);
    connect(address, CALLER, &secret).unwrap();
    assert_eq!(callers.recv().unwrap(), CALLER);
    thread.join().unwrap();
}

#[test]
fn strangers_of_every_kind_are_rejected_and_delay_no_other() {
    let secret = Secret::generate().unwrap();
    let (address, callers, thread) = acceptor(&secret);
    // One sends nothing, one closes at once, one sends HTTP, one sends a valid beginning and then rubbish.
    let silent = TcpStream::connect(address).unwrap();
    drop(TcpStream::connect(address).unwrap());
    let mut http = TcpStream::connect(address).unwrap();
    http.write_all(&[b"GET / HTTP/1.1\r\n".as_slice(), &[b'x'; 100]].concat()).unwrap();
    let mut liar = TcpStream::connect(address).unwrap();
    let hello = Hello { version: PROTOCOL_VERSION, caller: CALLER, nonce: [7; NONCE_BYTES] };
    liar.write_all(&hello.to_bytes()).unwrap();
    liar.write_all(&[9; PROOF_BYTES]).unwrap();
    let mut rest = Vec::new();
    // It gets an answer without information, and is not accepted.
    let _ = liar.read_to_end(&mut rest);
    assert_eq!(rest.len(), ANSWER_BYTES);
    let other = connect(address, CALLER, &Secret::generate().unwrap());
    assert_eq!(other.err(), Some(ConnectError::WrongSecret { address }));
    assert!(callers.try_recv().is_err(), "nobody is in yet");
    connect(address, CALLER, &secret).unwrap();
    assert_eq!(callers.recv().unwrap(), CALLER);
    drop((silent, http));
    thread.join().unwrap();
}

#[test]
fn overheard_words_are_of_no_use() {
    let secret = Secret::generate().unwrap();
    // A man in the middle records a caller's messages, and sends them again.
    let (address, callers, thread) = acceptor(&secret);
    let between = TcpListener::bind(loopback()).unwrap();
    let between_address = between.local_addr().unwrap();
    let caller = std::thread::spawn({
        let secret = secret.clone();
        move || connect(between_address, CALLER, &secret).is_ok()
    });
    let (mut from_caller, _) = between.accept().unwrap();
    let mut to_acceptor = TcpStream::connect(address).unwrap();
    let (mut hello, mut answer, mut own) = ([0; HELLO_BYTES], [0; ANSWER_BYTES], [0; PROOF_BYTES]);
    from_caller.read_exact(&mut hello).unwrap();
    to_acceptor.write_all(&hello).unwrap();
    to_acceptor.read_exact(&mut answer).unwrap();
    from_caller.write_all(&answer).unwrap();
    from_caller.read_exact(&mut own).unwrap();
    let mut again = TcpStream::connect(address).unwrap();
    again.write_all(&[hello.as_slice(), &own].concat()).unwrap();
    let mut rest = Vec::new();
    let _ = again.read_to_end(&mut rest);
    assert_eq!(rest.len(), ANSWER_BYTES, "no welcome for words that were said before");
    to_acceptor.write_all(&own).unwrap();
    assert_eq!(callers.recv().unwrap(), CALLER);
    let mut welcome = [0];
    to_acceptor.read_exact(&mut welcome).unwrap();
    from_caller.write_all(&welcome).unwrap();
    assert!(caller.join().unwrap());
    thread.join().unwrap();
}

#[test]
fn another_version_is_named_to_the_caller() {
    let listener = TcpListener::bind(loopback()).unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; HELLO_BYTES]).unwrap();
        let answer = Answer { version: 77, nonce: [0; NONCE_BYTES], proof: [0; PROOF_BYTES] };
        stream.write_all(&answer.to_bytes()).unwrap();
    });
    let error = connect(address, CALLER, &Secret::generate().unwrap()).unwrap_err();
    assert_eq!(error, ConnectError::OtherVersion { address, theirs: 77 });
    assert!(error.to_string().contains("version 77") && error.to_string().contains("one release"));
    thread.join().unwrap();
}

#[test]
fn a_caller_of_another_version_learns_the_own_version() {
    let secret = Secret::generate().unwrap();
    let (address, callers, thread) = acceptor(&secret);
    let mut old = TcpStream::connect(address).unwrap();
    let hello = Hello { version: 0, caller: CALLER, nonce: [7; NONCE_BYTES] };
    old.write_all(&hello.to_bytes()).unwrap();
    let mut answer = [0; ANSWER_BYTES];
    old.read_exact(&mut answer).unwrap();
    assert_eq!(Answer::from_bytes(&answer).unwrap().version, PROTOCOL_VERSION);
    assert!(callers.try_recv().is_err());
    connect(address, CALLER, &secret).unwrap();
    thread.join().unwrap();
}

#[test]
fn a_foreign_process_is_named_as_such() {
    let listener = TcpListener::bind(loopback()).unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; HELLO_BYTES]).unwrap();
        stream.write_all(&[b'x'; ANSWER_BYTES]).unwrap();
    });
    let secret = Secret::generate().unwrap();
    assert_eq!(connect(address, CALLER, &secret).err(), Some(ConnectError::NotOurs { address }));
    thread.join().unwrap();
    // Nobody listens there any more.
    let error = connect(address, CALLER, &secret).unwrap_err();
    assert_eq!(error, ConnectError::Refused { address });
}

/// Connects and sends a hello, as a process that does not know the secret can.
fn stranger(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let hello = Hello { version: PROTOCOL_VERSION, caller: CALLER, nonce: [7; NONCE_BYTES] };
    // Its place may be gone already.
    let _ = stream.write_all(&hello.to_bytes());
    stream
}

#[test]
fn a_caller_that_loses_its_place_calls_again() {
    let secret = Secret::generate().unwrap();
    let mut acceptor = Acceptor::listen(loopback(), secret.clone()).unwrap();
    let address = acceptor.address().unwrap();
    let mut call = Call::begin(address, CALLER, &secret, &[]).unwrap();
    while !call.is_connected() {
        assert_eq!(call.advance(), Ok(false));
    }
    // As many strangers as there are places, each of which is answered before the next comes.
    let mut strangers = Vec::new();
    for _ in 0..UNVERIFIED_MAX {
        let stream = stranger(address);
        stream.set_nonblocking(true).unwrap();
        while stream.peek(&mut [0]).is_err() {
            assert!(acceptor.step().unwrap().is_empty());
        }
        strangers.push(stream);
    }
    while !call.is_pausing() {
        assert_eq!(call.advance(), Ok(false), "a lost place is no error");
    }
    let mut verified = Vec::new();
    while !call.advance().unwrap() {
        verified.extend(acceptor.step().unwrap());
    }
    assert_eq!(verified.into_iter().map(|(caller, _)| caller).collect::<Vec<_>>(), [CALLER]);
}

#[test]
fn a_silent_stranger_loses_its_place_before_one_that_was_answered() {
    let secret = Secret::generate().unwrap();
    let mut acceptor = Acceptor::listen(loopback(), secret.clone()).unwrap();
    let address = acceptor.address().unwrap();
    let mut call = Call::begin(address, CALLER, &secret, &[]).unwrap();
    let mut strangers = Vec::new();
    let mut verified = Vec::new();
    // Many times as many as there are places.
    for _ in 0..10 * UNVERIFIED_MAX {
        strangers.push(TcpStream::connect(address).unwrap());
        verified.extend(acceptor.step().unwrap());
        let _ = call.advance().unwrap();
        assert!(!call.is_pausing());
    }
    assert_eq!(verified.len(), 1);
}

#[test]
fn processes_connect_during_a_flood_of_strangers() {
    let secret = Secret::generate().unwrap();
    let mut acceptor = Acceptor::listen(loopback(), secret.clone()).unwrap();
    let address = acceptor.address().unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flood = |speaks: bool| {
            let mut held = std::collections::VecDeque::new();
            while !over.load(Ordering::Relaxed) {
                let Ok(stream) = TcpStream::connect(address) else { continue };
                held.push_back(if speaks { stranger(address) } else { stream });
                if held.len() > 2 * UNVERIFIED_MAX {
                    held.pop_front();
                }
            }
        };
        let floods = [scope.spawn(move || flood(true)), scope.spawn(move || flood(false))];
        let callers = scope.spawn(|| {
            let connected: Vec<_> = (0..10).map(|_| connect(address, CALLER, &secret)).collect();
            over.store(true, Ordering::Relaxed);
            connected.into_iter().filter(Result::is_ok).count()
        });
        let mut verified = 0;
        while !over.load(Ordering::Relaxed) {
            verified += acceptor.step().unwrap().len();
        }
        assert_eq!(callers.join().unwrap(), 10);
        assert!(verified >= 10);
        floods.into_iter().for_each(|flood| flood.join().unwrap());
    });
}

#[test]
fn a_caller_that_finds_all_places_taken_calls_anew_without_the_systems_pauses() {
    let listener = TcpListener::bind(loopback()).unwrap();
    let address = listener.local_addr().unwrap();
    // The system keeps two callers, and answers no other.
    rustix::net::listen(&listener, 1).unwrap();
    let second = Duration::from_secs(1);
    let waiting: Vec<_> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&address, second).ok()).take(9).collect();
    assert!(waiting.len() < 9, "there is no room for nine");
    let mut call = Call::begin(address, CALLER, &Secret::generate().unwrap(), &[]).unwrap();
    let mut addresses = vec![call.own_address()];
    while addresses.len() < 4 {
        assert_eq!(call.advance(), Ok(false), "no answer is no error");
        if call.own_address() != addresses[addresses.len() - 1] {
            addresses.push(call.own_address());
        }
    }
    // Without a limit, nobody would learn that a host never answers.
    call.calls_no_more();
    std::thread::sleep(second);
    assert_eq!(call.advance(), Ok(false), "the system has not given up yet");
    assert_eq!(call.own_address(), addresses[addresses.len() - 1]);
    waiting.iter().for_each(|_| drop(listener.accept().unwrap()));
    while !call.is_connected() {
        assert_eq!(call.advance(), Ok(false));
    }
}

#[test]
fn a_process_that_knows_the_secret_and_is_not_welcome_is_told_so() {
    let secret = Secret::generate().unwrap();
    let mut acceptor = Acceptor::listen(loopback(), secret.clone()).unwrap();
    let address = acceptor.address().unwrap();
    let mut call = Call::begin(address, CALLER, &secret, &[]).unwrap();
    let refused = loop {
        assert!(acceptor.step_where(|_| false).unwrap().is_empty());
        if let Err(error) = call.advance() {
            break error;
        }
    };
    assert_eq!(refused, ConnectError::Refusal { address });
}

#[test]
fn no_mutation_of_a_handshake_is_accepted() {
    let secret = Secret::generate().unwrap();
    let mut acceptor = Acceptor::listen(loopback(), secret.clone()).unwrap();
    let address = acceptor.address().unwrap();
    let hello = Hello { version: PROTOCOL_VERSION, caller: CALLER, nonce: [7; NONCE_BYTES] };
    let whole = [&hello.to_bytes()[..], &[9; PROOF_BYTES]].concat();
    for seed in 0..200 {
        let mut random = random::SplitMix64::new(seed);
        let mut bytes = whole.clone();
        random.mutate(&mut bytes);
        let mut stream = TcpStream::connect(address).unwrap();
        let _ = stream.write_all(&bytes);
        assert!(acceptor.step().unwrap().is_empty(), "seed {seed}");
        // A caller reads answers that are as wrong.
        let answer = Answer { version: PROTOCOL_VERSION, nonce: [1; 32], proof: [2; PROOF_BYTES] };
        let mut answer = answer.to_bytes().to_vec();
        random.mutate(&mut answer);
        if let Some(answer) = answer.first_chunk().and_then(Answer::from_bytes) {
            let is_ours =
                is_proof(&answer.proof, &secret, ACCEPTED, &hello.to_bytes(), &answer.nonce);
            assert!(!is_ours, "seed {seed}");
        }
    }
    assert!(acceptor.step().unwrap().is_empty());
}
