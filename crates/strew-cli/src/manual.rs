//! `strew man`: manual pages, made from the command tree.

use crate::cli;
use crate::failure::{Failure, Result};
use crate::flags;
use crate::write::{Guard, Writable, write_bytes};
use clap::{ArgMatches, Command};
use clap_mangen::Man;
use std::io::Write;
use std::path::PathBuf;

/// A page and its file's name.
struct Page {
    name: String,
    text: Vec<u8>,
}

/// `strew man [FOLDER]`
pub(crate) fn pages(matches: &ArgMatches, out: &mut impl Write) -> Result<()> {
    let mut tree = cli::command();
    tree.build();
    let Some(folder) = matches.get_one::<PathBuf>(cli::FOLDER) else {
        let page = page_of(&tree)?;
        out.write_all(&page.text)?;
        return Ok(());
    };
    if !folder.is_dir() {
        return Err(Failure::file(folder, "it is not a folder"));
    }
    let mut pages = Vec::new();
    collect(&tree, &mut pages)?;
    let guard = Guard::new(matches.get_flag(flags::FORCE));
    // All names are checked before the first page is written.
    let checked = pages.iter().map(|page| {
        let path = folder.join(&page.name);
        Writable::new(&path.to_string_lossy(), &guard)
    });
    let places = checked.collect::<Result<Vec<_>>>()?;
    for (place, page) in places.iter().zip(&pages) {
        write_bytes(place, &page.text)?;
    }
    Ok(())
}

/// The pages of a command and of all commands below it.
fn collect(command: &Command, pages: &mut Vec<Page>) -> Result<()> {
    pages.push(page_of(command)?);
    command
        .get_subcommands()
        .try_for_each(|below| collect(below, pages))
}

fn page_of(command: &Command) -> Result<Page> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(Page {
        name: format!("{name}.1"),
        text,
    })
}
