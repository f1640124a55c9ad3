"""What needs no arrays: errors, options, the names of dtypes, threads, the log and progress."""
