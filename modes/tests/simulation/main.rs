//! The deterministic mode as a simulator: ties, delays, durations, inputs, and what finds bugs.

mod conservation;
mod delays;
mod durations;
mod explore;
mod inputs;
mod sessions;
mod ties;
mod verify;
