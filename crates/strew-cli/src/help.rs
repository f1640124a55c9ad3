//! `strew help`.

use crate::cli;
use crate::failure::{Failure, Result};
use crate::ops;
use crate::suggest;
use crate::topics;
use std::io::Write;

/// `strew help [TOPIC]`: a topic, a command or an operator.
pub(crate) fn help(word: Option<&str>, out: &mut impl Write) -> Result<()> {
    let mut tree = cli::command();
    let Some(word) = word else {
        write!(out, "{}", tree.render_long_help())?;
        return Ok(());
    };
    if let Some(page) = topics::page(word) {
        out.write_all(page.as_bytes())?;
        return Ok(());
    }
    // Gives the commands their full names, and the flags that are for all of them.
    tree.build();
    if let Some(command) = tree.find_subcommand_mut(word) {
        write!(out, "{}", command.render_long_help())?;
        return Ok(());
    }
    if strew::find(word).is_some() {
        return ops::ops(&[word.to_owned()], false, out);
    }
    let commands = tree.get_subcommands().map(clap::Command::get_name);
    let names: Vec<&str> = topics::names().chain(commands).collect();
    let mut near = suggest::among(word, names.into_iter());
    if near.is_empty() || word.contains('.') {
        near = suggest::operators(word);
    }
    let hint = suggest::job_or(word, &near, "strew help lists the topics");
    Err(Failure::new(format!(
        "there is no topic, command or operator '{word}': {hint}"
    )))
}
