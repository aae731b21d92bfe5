//! `das verify`: each probe can fail, nobody's silence is a proof, and what is printed is right.

mod answers;
mod removed;
mod text;
