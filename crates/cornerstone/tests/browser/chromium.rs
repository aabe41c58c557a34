//! A headless Chromium, driven through the DevTools protocol over a pair of pipes: no driver, no port, no network.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Time limit of an answer, long enough for a machine under load.
const TIMEOUT: Duration = Duration::from_secs(600);
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
    "--remote-debugging-pipe",
];

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    session: Option<String>,
    last_id: Cell<u64>,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser. Returns `None`, and prints a line, if no Chromium is installed.
    pub(crate) fn start(test: &str) -> Option<Browser> {
        let Some(program) = NAMES.into_iter().find(|name| is_installed(name)) else {
            // Written directly, because the test runner captures printed output.
            let _ = writeln!(std::io::stderr(), "skipped: {test}: no Chromium is installed");
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder for the browser");
        // Chromium reads descriptor 3 and writes to 4; its other output is discarded.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, program])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let commands = child.stdin.take().expect("it is piped");
        let (sender, answers) = channel();
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            commands,
            answers,
            session: None,
            last_id: Cell::new(0),
            events: Vec::new(),
            _profile: profile,
        };
        browser.attach();
        Some(browser)
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = self.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        self.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        self.size(1280, 900);
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self.answers.recv_timeout(TIMEOUT).unwrap_or_else(|error| {
                panic!("the browser does not answer {method}: {error}");
            });
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, page: &Path) {
        self.events.clear();
        self.call("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        self.wait_for("document.readyState === 'complete' && location.protocol === 'file:'");
    }

    /// Returns the value of an expression; promises are awaited.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}),
        );
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Returns the number that is the value of an expression.
    pub(crate) fn number(&mut self, expression: &str) -> f64 {
        let value = self.evaluate(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}, no number"))
    }

    /// Returns the text that is the value of an expression.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.evaluate(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}, no text")).to_string()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begin = Instant::now();
        while self.evaluate(expression) != json!(true) {
            assert!(begin.elapsed() < TIMEOUT, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Sets the size of the window in CSS pixels.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
    }

    /// Sets the colour scheme that the system prefers: `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.call("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    /// Moves the mouse to a point of the window.
    pub(crate) fn point_at(&mut self, (x, y): (f64, f64)) {
        // The first event enters, the second moves: some handlers need both.
        for x in [x - 1.0, x] {
            self.mouse("mouseMoved", x, y);
        }
    }

    /// Clicks at a point of the window.
    pub(crate) fn click_at(&mut self, (x, y): (f64, f64)) {
        self.point_at((x, y));
        for kind in ["mousePressed", "mouseReleased"] {
            self.mouse(kind, x, y);
        }
    }

    fn mouse(&mut self, kind: &str, x: f64, y: f64) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        self.call(
            "Input.dispatchMouseEvent",
            json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1}),
        );
    }

    /// Presses a key, such as `ArrowRight`.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key, "code": key}));
        }
    }

    /// Returns all errors, warnings, refused content, exceptions and dialogs since the page was opened.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.call("Runtime.evaluate", json!({"expression": "0"}));
        let is_complaint = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded" | "Page.javascriptDialogOpening") => {
                true
            }
            Some("Runtime.consoleAPICalled") => ["error", "warning", "assert"]
                .contains(&event["params"]["type"].as_str().unwrap_or("")),
            _ => false,
        };
        self.events.iter().filter(is_complaint).map(|event| event["params"].to_string()).collect()
    }

    /// Returns the requests since the page was opened, except for the page itself and data in it.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requested =
            self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        requested
            .filter(|event| event["params"]["type"] != "Document")
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .filter(|url| !url.starts_with("data:"))
            .map(String::from)
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A browser that is closed ends its children. If it were killed, they would remain.
        self.session = None;
        let message = json!({"id": 0, "method": "Browser.close"}).to_string() + "\0";
        let _ = self.commands.write_all(message.as_bytes());
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(10) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_installed(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}
