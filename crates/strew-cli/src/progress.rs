//! A progress bar on a terminal, for work that takes long enough to wonder.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::OnceCell;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};
use strew::Monitor;

/// Shorter work shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Draws how far a run has come.
struct Bar {
    since: Instant,
    patience: Duration,
    target: fn() -> ProgressDrawTarget,
    bar: OnceCell<ProgressBar>,
}

impl Monitor for Bar {
    fn progress(&self, done: u64, total: u64) -> bool {
        if self.since.elapsed() >= self.patience {
            let bar = self.bar.get_or_init(|| {
                let bar = ProgressBar::with_draw_target(Some(total), (self.target)())
                    .with_elapsed(self.since.elapsed())
                    .with_position(done);
                let form = "{bar:40} {percent:>3}% of {human_len} updates, {elapsed}";
                bar.set_style(
                    ProgressStyle::with_template(form)
                        .unwrap_or_else(|_| ProgressStyle::default_bar()),
                );
                bar
            });
            bar.set_length(total);
            bar.set_position(done);
        }
        true
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Does the work; if standard error is a terminal and it takes long, a bar shows how far it is.
pub(crate) fn with_bar<R>(work: impl FnOnce() -> R) -> R {
    let bar = Bar {
        since: Instant::now(),
        patience: PATIENCE,
        // Hidden by itself where standard error is no terminal.
        target: ProgressDrawTarget::stderr,
        bar: OnceCell::new(),
    };
    strew::watch(Rc::new(bar), work)
}

/// Bytes between two looks at the clock.
const PIECE: usize = 8 << 20;

/// Reads as many bytes as there is room for; a bar shows how far it is.
pub(crate) fn read_exact(from: &mut impl Read, to: &mut [u8]) -> io::Result<()> {
    let mut bar = Bytes::new(to.len() as u64);
    for piece in to.chunks_mut(PIECE) {
        from.read_exact(piece)?;
        bar.add(piece.len() as u64);
    }
    Ok(())
}

/// Writes all bytes; a bar shows how far it is.
pub(crate) fn write_all(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let mut bar = Bytes::new(bytes.len() as u64);
    for piece in bytes.chunks(PIECE) {
        to.write_all(piece)?;
        bar.add(piece.len() as u64);
    }
    Ok(())
}

/// How many bytes of a long read or write are done, with the rate and the time left.
pub(crate) struct Bytes {
    since: Instant,
    total: u64,
    done: u64,
    bar: Option<ProgressBar>,
}

impl Bytes {
    pub(crate) fn new(total: u64) -> Self {
        Self {
            since: Instant::now(),
            total,
            done: 0,
            bar: None,
        }
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.done += bytes;
        if self.since.elapsed() < PATIENCE {
            return;
        }
        let since = self.since.elapsed();
        let bar = self.bar.get_or_insert_with(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(self.total), target).with_elapsed(since);
            let form = "{bar:40} {binary_bytes} of {binary_total_bytes}, \
                        {binary_bytes_per_sec}, {eta} left";
            let style = ProgressStyle::with_template(form);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        bar.set_position(self.done);
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(patience: Duration) -> Rc<Bar> {
        Rc::new(Bar {
            since: Instant::now(),
            patience,
            target: ProgressDrawTarget::hidden,
            bar: OnceCell::new(),
        })
    }

    fn run(bar: &Rc<Bar>) {
        let index = vec![0i64; 1 << 16];
        let src = vec![1.0f32; 1 << 16];
        let sum = strew::torch_scatter::Reduce::Sum;
        strew::watch(bar.clone(), || {
            strew::torch_scatter::scatter(&src, &index, -1, None, sum)
        })
        .unwrap();
    }

    #[test]
    fn long_work_gets_a_bar_that_reaches_its_end() {
        let impatient = bar(Duration::ZERO);
        run(&impatient);
        let drawn = impatient.bar.get().expect("a bar");
        assert_eq!(Some(drawn.position()), drawn.length());
        assert!(drawn.position() >= 1 << 16);
    }

    #[test]
    fn all_bytes_go_through() {
        let bytes: Vec<u8> = (0..PIECE + 5).map(|n| n as u8).collect();
        let (mut written, mut read) = (Vec::new(), vec![0; bytes.len()]);
        write_all(&mut written, &bytes).unwrap();
        read_exact(&mut &written[..], &mut read).unwrap();
        assert!(written == bytes && read == bytes);
        assert!(read_exact(&mut &written[..7], &mut read).is_err());
    }

    #[test]
    fn short_work_gets_none() {
        let patient = bar(Duration::from_secs(3600));
        run(&patient);
        assert!(patient.bar.get().is_none());
    }
}
