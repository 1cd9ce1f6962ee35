"""Evidence that was made elsewhere: files, frames and arrays become runs, which claims judge."""
