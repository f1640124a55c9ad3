//! Work on several threads, with the results in the order of the items.
//!
//! Item `n` goes to worker `n % workers`, and result `n` comes from it. At most [`AHEAD`] items of
//! each worker are on their way, so memory holds that many.

use crate::error::{Error, Result};
use crate::guard::guarded;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Items of a worker that are not given back yet.
const AHEAD: usize = 2;

/// A thread of its own, which ends when it is dropped.
struct Worker<T, U> {
    items: SyncSender<T>,
    results: Receiver<Result<U>>,
}

/// What `work` makes of each item, in the items' order. A panic in it is an error of `format`.
pub(crate) fn in_order<T: Send + 'static, U: Send + 'static>(
    format: &'static str,
    threads: usize,
    mut items: impl Iterator<Item = Result<T>>,
    work: impl Fn(T) -> Result<U> + Send + Sync + 'static,
) -> impl Iterator<Item = Result<U>> {
    let work = Arc::new(work);
    // Without a second thread, or if the system gives none, this one does all.
    let count = match threads > 1 && strew::room_for_threads(threads) {
        true => threads,
        false => 0,
    };
    let spawn = |_| {
        let (items, inbox) = sync_channel::<T>(AHEAD);
        let (outbox, results) = sync_channel(AHEAD);
        let work = work.clone();
        let run = move || {
            while let Ok(item) = inbox.recv() {
                if outbox.send(guarded(format, || work(item))).is_err() {
                    return;
                }
            }
        };
        let spawned = thread::Builder::new().name("strew-io".into()).spawn(run);
        spawned.ok().map(|_| Worker { items, results })
    };
    let workers: Vec<Worker<T, U>> = (0..count).map_while(spawn).collect();
    let (mut sent, mut received) = (0, 0);
    // What ended the items. The results of those before it come first.
    let mut failed = None;
    std::iter::from_fn(move || {
        let count = workers.len();
        if count == 0 {
            return Some(
                items
                    .next()?
                    .and_then(|item| guarded(format, || work(item))),
            );
        }
        while failed.is_none() && sent - received < AHEAD * count {
            match items.next() {
                None => break,
                Some(Err(error)) => failed = Some(error),
                Some(Ok(item)) => match workers[sent % count].items.send(item) {
                    Ok(()) => sent += 1,
                    Err(_) => failed = Some(Error::broken(format, "its reader failed")),
                },
            }
        }
        if sent == received {
            return failed.take().map(Err);
        }
        let result = workers[received % count].results.recv();
        received += 1;
        Some(result.unwrap_or_else(|_| Err(Error::broken(format, "its reader failed"))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubled(threads: usize, items: Vec<Result<usize>>) -> Vec<Result<usize>> {
        let work = |n: usize| match n {
            7777 => panic!("at {n}"),
            n => Ok(2 * n),
        };
        in_order("CSV", threads, items.into_iter(), work).collect()
    }

    #[test]
    fn results_are_in_order_and_errors_in_their_place() {
        for threads in [1, 2, 5] {
            let made = doubled(threads, (0..1000).map(Ok).collect());
            assert!(made.into_iter().eq((0..1000).map(|n| Ok(2 * n))));
            let wrong = Error::new("cut");
            let made = doubled(threads, vec![Ok(1), Ok(2), Err(wrong.clone())]);
            assert_eq!(made, [Ok(2), Ok(4), Err(wrong)]);
            let made = doubled(threads, vec![Ok(1), Ok(7777), Ok(3)]);
            assert!(made[1].is_err() && made[2] == Ok(6), "{made:?}");
        }
    }
}
