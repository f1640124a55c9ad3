//! What the kernel's machine code is made of: families of functions, and how often each is compiled.

use std::collections::HashMap;

/// Bytes of the kernel's code, at most. Rust 1.95 makes 5.49 million.
const MOST: usize = 5_550_000;

/// Families that are printed.
const SHOWN: usize = 10;

/// One function of the sources, in all of its instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Family {
    instances: usize,
    bytes: usize,
}

/// Prints the largest families of the functions, given by symbol and size, and fails if all
/// together are too large.
pub(crate) fn check<'a>(functions: impl Iterator<Item = (&'a str, usize)>) -> Result<(), String> {
    let mut families: HashMap<String, Family> = HashMap::new();
    let mut total = 0;
    for (symbol, bytes) in functions {
        let family = families.entry(name(symbol)).or_default();
        family.instances += 1;
        family.bytes += bytes;
        total += bytes;
    }
    let mut families: Vec<_> = families.into_iter().collect();
    families.sort_by_key(|(name, family)| (std::cmp::Reverse(family.bytes), name.clone()));
    println!("bytes of the kernel's code: {total} of at most {MOST}; the largest families:");
    for (name, family) in families.iter().take(SHOWN) {
        let Family { instances, bytes } = family;
        println!("    {name}: {bytes}, compiled {instances} times");
    }
    match total <= MOST {
        true => Ok(()),
        false => Err(format!(
            "the kernel has {total} bytes of code, more than {MOST}: see the largest families"
        )),
    }
}

/// The path of the function that a symbol of the v0 scheme is made from, without its types.
fn name(symbol: &str) -> String {
    let Some((_, mut rest)) = symbol.split_once("12strew_kernel") else {
        return "other crates".to_owned();
    };
    let mut path = Vec::new();
    while let Some((identifier, more)) = identifier(rest) {
        rest = more;
        // A version of a loop for an instruction set is a function inside the loop's.
        if !identifier.starts_with("vectorize_") {
            path.push(identifier);
        }
    }
    path.join("::")
}

/// The identifier at the start of a symbol's rest, and what follows. An identifier has its length in front, and
/// an underscore after that if it begins with a digit or an underscore.
fn identifier(symbol: &str) -> Option<(&str, &str)> {
    let digits = symbol.find(|c: char| !c.is_ascii_digit())?;
    let len: usize = symbol[..digits].parse().ok()?;
    let rest = &symbol[digits..];
    rest.strip_prefix('_').unwrap_or(rest).split_at_checked(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: &str = "_RINvNvNtNtCsl_12strew_kernel4rows9row_pairs4each14vectorize_avx2NCINvB4_INtNtNtB21_3ops7combine3SumfEE";

    #[test]
    fn a_family_is_the_path_without_types() {
        assert_eq!(name(EACH), "rows::row_pairs::each");
        assert_eq!(name("_RNvNtCs12strew_kernel3ops4__2do"), "ops::_2do");
        assert_eq!(name("_RNvCs_4core3fmt"), "other crates");
        assert_eq!(name("_RNvCs12strew_kernel99short"), "");
    }

    #[test]
    fn too_much_code_is_an_error() {
        assert_eq!(check([(EACH, MOST)].into_iter()), Ok(()));
        let error = check([(EACH, MOST), ("_R", 1)].into_iter()).unwrap_err();
        let told = format!("{} bytes of code", MOST + 1);
        assert!(error.contains(&told), "{error}");
    }
}
