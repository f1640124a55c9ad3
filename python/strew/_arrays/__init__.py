"""What callers hold: arrays, columns and frames of each library, as arrays and back."""
