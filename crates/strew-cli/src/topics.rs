//! The pages of `strew help TOPIC`: what the commands have in common.

/// A page.
struct Topic {
    name: &'static str,
    text: &'static str,
}

static TOPICS: [Topic; 9] = [
    Topic {
        name: "jobs",
        text: JOBS,
    },
    Topic {
        name: "arrays",
        text: include_str!("topics/arrays.txt"),
    },
    Topic {
        name: "tables",
        text: include_str!("topics/tables.txt"),
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

/// The commands by what people call what they do: a line of names, and one with the command.
const JOBS: &str = include_str!("topics/jobs.txt");

/// How arrays are written, for the help of each operator.
pub(crate) const ARRAYS: &str = include_str!("topics/arrays.txt");

/// The page of a topic.
pub(crate) fn page(name: &str) -> Option<&'static str> {
    let found = TOPICS.iter().find(|topic| topic.name == name);
    found.map(|topic| topic.text)
}

/// The command of a job, from the page of jobs.
///
/// The word is one that people use, with spaces, hyphens or underscores: "one-hot". In front of it
/// may stand the name of a framework.
pub(crate) fn job(word: &str) -> Option<&'static str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ','], " ");
    let word = plain(word.rsplit('.').next()?.trim());
    if word.is_empty() {
        return None;
    }
    let mut lines = JOBS.lines().skip(1);
    let named = |line: &&str| format!("{} ", plain(line)).contains(&format!(" {word} "));
    lines.find(|line| !line.starts_with("    ") && line.starts_with("  ") && named(line))?;
    lines.next().map(str::trim)
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
    fn jobs_are_found_by_their_names() {
        let histogram = "strew run numpy.bincount --x bins.npy --weights v.npy";
        for word in ["histogram", "numpy.histogram", "Weighted-Histogram"] {
            assert_eq!(job(word), Some(histogram), "{word}");
        }
        assert!(job("one_hot").unwrap().contains("torch.scatter "));
        assert!(job("kv cache").unwrap().contains("tensor_scatter"));
        for word in ["", ".", " ", "hist", "strew", "than memory", "npy"] {
            assert_eq!(job(word), None, "{word}");
        }
    }

    #[test]
    fn every_line_of_a_job_is_followed_by_its_command() {
        let lines: Vec<&str> = JOBS.lines().filter(|line| line.starts_with("  ")).collect();
        for pair in lines.chunks(2) {
            assert!(pair[1].starts_with("    strew "), "{pair:?}");
            let words: Vec<&str> = pair[1].split_whitespace().collect();
            assert!(words[1] == "aggregate" || strew::find(words[2]).is_some());
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
