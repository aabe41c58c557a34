//! Tests the choice of the provider, and the errors if there is none.

use contract::Error;
use fabric_ofi::check as check_provider;

use crate::harness::{Test, check};

pub(crate) fn tests() -> Vec<Test> {
    let without = "providers/a-run-without-the-library-says-which-package-has-it";
    if let Err(error @ Error::System { .. }) = check_provider(None) {
        let words = error.to_string();
        return vec![Test::new(without, move || {
            check(words.contains("libfabric1"), || format!("it said {words:?}"))
        })];
    }
    println!("skipped: {without}: libfabric is there");
    vec![
        Test::new("providers/one-that-is-not-there-is-named-with-those-that-are", || {
            refusal("carrier-pigeon", &["find the provider 'carrier-pigeon'", "there are: ", "tcp"])
        }),
        Test::new(
            "providers/one-that-reorders-messages-is-refused-with-what-to-use-instead",
            || {
                let words =
                    ["'shm'", "keep messages in order", "--fabric local", "--fabric cluster"];
                refusal("shm", &words)
            },
        ),
        Test::new("providers/a-name-that-is-no-word-is-refused", || {
            refusal("tcp\0verbs", &["a zero byte"])
        }),
    ]
}

fn refusal(name: &str, all: &[&str]) -> Result<(), String> {
    let said = match check_provider(Some(name)) {
        Ok(()) => return Err(format!("'{name}' was taken")),
        Err(error) => error.to_string(),
    };
    all.iter().try_for_each(|words| {
        check(said.contains(words), || format!("{words:?} is not in {said:?}"))
    })
}
