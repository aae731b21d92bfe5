//! The limits of the policy, and what is said of a program that meets one.
