//! How much memory the system would still give.

use std::fs;
use std::path::Path;

/// The memory that the kernel and the control group would still give, in bytes. Systems other than
/// Linux do not say.
pub(crate) fn left() -> Option<u64> {
    left_by(Path::new("/"))
}

/// What the files of Linux under this folder say is left.
fn left_by(root: &Path) -> Option<u64> {
    let meminfo = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = meminfo.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let system = kib << 10;
    let group = |name: &str| -> Option<u64> {
        let text = fs::read_to_string(root.join("sys/fs/cgroup").join(name)).ok()?;
        text.trim().parse().ok()
    };
    let left = group("memory.max")
        .zip(group("memory.current"))
        .map(|(most, used)| most.saturating_sub(used));
    Some(left.map_or(system, |l| l.min(system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_read_where_the_system_says_it() {
        let root = std::env::temp_dir().join(format!("strew-left-{}", std::process::id()));
        let group = root.join("sys/fs/cgroup");
        fs::create_dir_all(root.join("proc")).unwrap();
        fs::create_dir_all(&group).unwrap();
        // A system that does not say, as those other than Linux: there is no limit.
        assert_eq!(left_by(&root), None);
        fs::write(
            root.join("proc/meminfo"),
            "MemTotal: 9 kB\nMemAvailable:  3 kB\n",
        )
        .unwrap();
        assert_eq!(left_by(&root), Some(3 << 10));
        fs::write(group.join("memory.max"), "5000\n").unwrap();
        fs::write(group.join("memory.current"), "4000\n").unwrap();
        assert_eq!(left_by(&root), Some(1000));
        fs::write(group.join("memory.max"), "max\n").unwrap();
        assert_eq!(left_by(&root), Some(3 << 10));
        fs::remove_dir_all(root).unwrap();
    }
}
