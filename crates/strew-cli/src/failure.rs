//! What went wrong, as one line for people or one JSON object for machines.

use std::fmt;
use std::path::Path;

/// The result of anything the command line does.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why the command could not do what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    operator: Option<String>,
    argument: Option<String>,
    file: Option<String>,
    class: Option<&'static str>,
    message: String,
    /// Whoever read the output has had enough; nothing is wrong.
    pipe_closed: bool,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Something is wrong with a file.
    pub(crate) fn file(path: &Path, message: impl fmt::Display) -> Self {
        Self::new(message.to_string()).in_file(path.display().to_string())
    }

    /// Names the file, unless one is named already.
    pub(crate) fn in_file(mut self, file: String) -> Self {
        self.file.get_or_insert(file);
        self
    }

    /// Names the operator's argument.
    pub(crate) fn for_argument(mut self, argument: &str) -> Self {
        self.argument = Some(argument.to_owned());
        self
    }

    /// Names the operator.
    pub(crate) fn for_operator(mut self, operator: &str) -> Self {
        self.operator.get_or_insert_with(|| operator.to_owned());
        self
    }

    /// What an operator reports. `files` says which file each argument was read from, if any.
    pub(crate) fn from_operator(error: &strew::Error, files: &[(&str, Option<&str>)]) -> Self {
        let argument = error.problem().argument();
        let named = files.iter().find(|(name, _)| Some(*name) == argument);
        Self {
            operator: Some(error.operator().to_owned()),
            argument: named.and(argument).map(str::to_owned),
            file: named.and_then(|(_, file)| file.map(str::to_owned)),
            class: Some(class_name(error.class())),
            message: error.problem().to_string(),
            pipe_closed: false,
        }
    }

    /// The failure of the operator of this name, whatever part of it reports it.
    pub(crate) fn renamed(mut self, operator: &str) -> Self {
        self.operator = Some(operator.to_owned());
        self
    }

    /// The same failure in other words.
    pub(crate) fn saying(mut self, message: String) -> Self {
        self.message = message;
        self
    }

    /// Adds to a number out of bounds the value of --mode that leaves such numbers out.
    pub(crate) fn with_mode(mut self, error: &strew::Error) -> Self {
        if matches!(error.problem(), strew::Problem::IndexOutOfBounds { .. }) {
            self.message += "; --mode drop leaves out what has such a number";
        }
        self
    }

    /// The same, if the operator that was called has this mode.
    pub(crate) fn with_mode_of(self, operator: &strew::Operator, error: &strew::Error) -> Self {
        let mut arguments = operator.arguments.iter();
        match arguments.any(|a| a.name == "mode" && a.words.contains(&"drop")) {
            true => self.with_mode(error),
            false => self,
        }
    }

    /// What is wrong, without the names of operator, argument and file.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.pipe_closed
    }

    /// The one line that says it, for people or as JSON.
    pub(crate) fn line(&self, json: bool) -> String {
        match json {
            true => self.to_json().to_string(),
            false => format!("strew: {self}"),
        }
    }

    /// The failure as a JSON object.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "error": {
            "operator": self.operator,
            "argument": self.argument,
            "file": self.file,
            "class": self.class,
            "message": one_line(&self.message),
        }})
    }
}

impl From<std::io::Error> for Failure {
    /// For what is written to standard output; files are named by [`Failure::file`].
    fn from(error: std::io::Error) -> Self {
        Self {
            pipe_closed: error.kind() == std::io::ErrorKind::BrokenPipe,
            ..Self::new(format!("cannot write to standard output: {error}"))
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operator) = &self.operator {
            write!(f, "{}: ", one_line(operator))?;
        }
        // An operator's own message already begins with the argument.
        let reported = self.class.is_some();
        if let (Some(argument), false) = (&self.argument, reported) {
            write!(f, "--{argument}: ")?;
        }
        if let (Some(file), false) = (&self.file, reported) {
            write!(f, "{}: ", one_line(file))?;
        }
        f.write_str(&one_line(&self.message))?;
        if let (Some(argument), Some(file), true) = (&self.argument, &self.file, reported) {
            write!(f, " ({argument} is {})", one_line(file))?;
        }
        Ok(())
    }
}

/// Names and messages may hold line breaks and escape sequences; a terminal shall not see them.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

fn class_name(class: strew::Class) -> &'static str {
    use strew::Class;
    match class {
        Class::Value => "ValueError",
        Class::Type => "TypeError",
        Class::Index => "IndexError",
        Class::Runtime => "RuntimeError",
        Class::NotImplemented => "NotImplementedError",
        Class::TypeAndRuntime => "TypeError, RuntimeError",
        Class::Memory => "MemoryError",
        Class::Interrupt => "KeyboardInterrupt",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line_whatever_the_names_hold() {
        let failure = Failure::file(Path::new("a\nb\u{1b}[2J.npy"), "bad\r\nthing")
            .for_argument("src")
            .for_operator("torch.scatter_reduce");
        assert_eq!(
            failure.to_string(),
            r"torch.scatter_reduce: --src: a\nb\u{1b}[2J.npy: bad\r\nthing"
        );
    }

    #[test]
    fn the_file_of_the_argument_at_fault_is_named() {
        let error = strew::torch_scatter::scatter(
            [1.0f32],
            [7i64],
            -1,
            Some(3),
            strew::torch_scatter::Reduce::Sum,
        )
        .unwrap_err();
        let files = [("src", None), ("index", Some("i.npy"))];
        let failure = Failure::from_operator(&error, &files);
        assert_eq!(
            failure.to_string(),
            "torch_scatter.scatter: index[0] = 7: index 7 is out of bounds for dimension 0 with size 3 \
             (index is i.npy)"
        );
        assert_eq!(failure.to_json()["error"]["class"], "RuntimeError");
        assert_eq!(failure.to_json()["error"]["argument"], "index");
        assert_eq!(failure.to_json()["error"]["file"], "i.npy");
    }
}
