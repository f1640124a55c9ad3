//! `strew run --help`: the operators of each framework, on one screen.

use std::fmt::Write as _;
use strew::OPERATORS;

/// Lines are no longer.
const LINE: usize = 99;
/// Where the operators begin in a line.
const INDENT: usize = 18;

/// The operators of each framework, with what names have in common written once.
pub(crate) fn table() -> String {
    let mut table = String::new();
    for dialect in OPERATORS {
        let Some(first) = dialect.first() else {
            continue;
        };
        let framework = first.name.split('.').next().unwrap_or_default();
        let names = dialect.iter().filter_map(|operator| {
            let (_, function) = operator.name.split_once('.')?;
            Some(function)
        });
        let names: Vec<&str> = names.collect();
        let _ = write!(table, "  {framework:width$}", width = INDENT - 2);
        let mut column = INDENT;
        for (n, item) in brief(&names).into_iter().enumerate() {
            if n > 0 && column + 1 + item.len() > LINE {
                let _ = write!(table, "\n{:INDENT$}", "");
                column = INDENT;
            } else if n > 0 {
                table.push(' ');
                column += 1;
            }
            column += item.len();
            table.push_str(&item);
        }
        table.push('\n');
    }
    table
}

/// Names as a shell would expand them: `scatter_{add,max}` are two, and so are `put[_]`.
fn brief(names: &[&str]) -> Vec<String> {
    let in_place = |name: &str| names.contains(&name.strip_suffix('_').unwrap_or("?"));
    let shown = names.iter().copied().filter(|name| !in_place(name));
    let mut groups: Vec<(Shared<'_>, Vec<String>)> = Vec::new();
    for name in shown {
        let (shared, own) = apart(name);
        let marked = match names
            .iter()
            .any(|other| other.strip_suffix('_') == Some(name))
        {
            true => format!("{own}[_]"),
            false => own.to_owned(),
        };
        let mut known = groups.iter_mut().filter(|(known, _)| !known.is_nothing());
        match known.find(|(known, _)| *known == shared) {
            Some((_, items)) => items.push(marked),
            None => groups.push((shared, vec![marked])),
        }
    }
    let written = groups.iter();
    written
        .flat_map(|(shared, items)| shared.with(items))
        .collect()
}

/// What names have in common: their beginning and their end.
#[derive(PartialEq)]
struct Shared<'n> {
    before: &'n str,
    behind: &'n str,
}

impl Shared<'_> {
    fn is_nothing(&self) -> bool {
        self.before.is_empty() && self.behind.is_empty()
    }

    /// These items with what they share, in pieces that each fit a line.
    fn with(&self, items: &[String]) -> Vec<String> {
        let Self { before, behind } = self;
        let room = LINE - INDENT - before.len() - behind.len() - "{}".len();
        let (mut lists, mut used) = (Vec::<Vec<&str>>::new(), 0);
        for item in items {
            match lists.last_mut() {
                Some(list) if used + 1 + item.len() <= room => {
                    list.push(item);
                    used += 1 + item.len();
                }
                _ => {
                    lists.push(vec![item]);
                    used = item.len();
                }
            }
        }
        let written = lists.iter().map(|list| match &list[..] {
            [only] => format!("{before}{only}{behind}"),
            several => format!("{before}{{{}}}{behind}", several.join(",")),
        });
        written.collect()
    }
}

/// What a name may share with others, and what it has of its own.
fn apart(name: &str) -> (Shared<'_>, &str) {
    if let Some(own) = name.strip_suffix(".at") {
        let (before, behind) = ("", ".at");
        return (Shared { before, behind }, own);
    }
    let at = name.rfind(['_', '.']).map_or(0, |at| at + 1);
    let (before, own) = name.split_at(at);
    (Shared { before, behind: "" }, own)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that a brief form stands for.
    fn expand(item: &str) -> Vec<String> {
        let (before, list, behind) = match item.split_once('{') {
            Some((before, rest)) => {
                let (list, behind) = rest.split_once('}').unwrap();
                (before, list, behind)
            }
            None => ("", item, ""),
        };
        let names = list.split(',').flat_map(|own| {
            let plain = own.strip_suffix("[_]");
            let name = format!("{before}{}{behind}", plain.unwrap_or(own));
            [plain.map(|_| format!("{name}_")), Some(name)]
        });
        names.flatten().collect()
    }

    #[test]
    fn the_table_names_every_operator_once_on_one_screen() {
        let table = table();
        let mut framework = "";
        let mut found = Vec::new();
        for line in table.lines() {
            assert!(line.len() <= LINE, "{line}");
            let (start, items) = line.split_at(INDENT);
            framework = match start.trim() {
                "" => framework,
                name => name,
            };
            let names = items.split(' ').flat_map(expand);
            found.extend(names.map(|name| format!("{framework}.{name}")));
        }
        let operators = OPERATORS.iter().flat_map(|dialect| dialect.iter());
        let mut wanted: Vec<&str> = operators.map(|operator| operator.name).collect();
        wanted.sort_unstable();
        found.sort();
        assert_eq!(found, wanted);
        assert!(table.lines().count() <= 32, "{table}");
    }
}
