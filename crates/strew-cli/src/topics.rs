//! The pages of `strew help TOPIC`: what the commands have in common.

/// A page.
struct Topic {
    name: &'static str,
    text: &'static str,
}

static TOPICS: [Topic; 7] = [
    Topic {
        name: "arrays",
        text: include_str!("topics/arrays.txt"),
    },
    Topic {
        name: "outputs",
        text: include_str!("topics/outputs.txt"),
    },
    Topic {
        name: "indices",
        text: include_str!("topics/indices.txt"),
    },
    Topic {
        name: "memory",
        text: include_str!("topics/memory.txt"),
    },
    Topic {
        name: "threads",
        text: include_str!("topics/threads.txt"),
    },
    Topic {
        name: "strategies",
        text: include_str!("topics/strategies.txt"),
    },
    Topic {
        name: "errors",
        text: include_str!("topics/errors.txt"),
    },
];

/// How arrays are written, for the help of each operator.
pub(crate) const ARRAYS: &str = include_str!("topics/arrays.txt");

/// The page of a topic.
pub(crate) fn page(name: &str) -> Option<&'static str> {
    let found = TOPICS.iter().find(|topic| topic.name == name);
    found.map(|topic| topic.text)
}

/// The names of all topics.
pub(crate) fn names<'n>() -> impl Iterator<Item = &'n str> {
    TOPICS.iter().map(|topic| topic.name)
}

/// The topics, each with its first line, for the help of the program.
pub(crate) fn list() -> String {
    let title = |topic: &Topic| topic.text.lines().next().unwrap_or_default().to_owned();
    let lines = TOPICS
        .iter()
        .map(|topic| format!("  {:<12} {}", topic.name, title(topic)));
    let lines: Vec<String> = lines.collect();
    format!("Topics, for strew help TOPIC:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew::Strategy;

    #[test]
    fn pages_fit_a_screen() {
        for Topic { name, text } in &TOPICS {
            assert!(text.lines().count() <= 40, "{name}");
            assert!(text.lines().all(|line| line.len() <= 100), "{name}");
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{name}");
        }
    }

    #[test]
    fn every_strategy_and_element_type_is_described() {
        for strategy in Strategy::ALL {
            let begins = format!("  {} ", strategy.name());
            let mut lines = page("strategies").unwrap().lines();
            assert!(lines.any(|line| line.starts_with(&begins)), "{strategy}");
        }
        for dtype in strew::DType::ALL {
            assert!(page("arrays").unwrap().contains(dtype.name()), "{dtype}");
        }
    }
}
