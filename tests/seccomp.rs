//! `seccomp`: the engine's own filter of system calls, das's stricter one, or the owner's.

mod choice;
mod strict;
