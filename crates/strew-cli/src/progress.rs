//! A progress bar on a terminal, for work that takes long enough to wonder.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::OnceCell;
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

/// How many bytes of a long read were taken, with the rate and the time left.
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
    fn short_work_gets_none() {
        let patient = bar(Duration::from_secs(3600));
        run(&patient);
        assert!(patient.bar.get().is_none());
    }
}
