//! Images that das makes itself, on a real engine.
