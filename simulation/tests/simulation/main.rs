//! The deterministic mode as a simulator: ties, delays, durations, inputs, and what finds bugs.

mod assertions;
mod chains;
mod composition;
mod conservation;
mod contention;
mod cores;
mod delays;
mod departures;
mod digest_inputs;
mod durations;
mod explore;
mod fresh_processes;
mod inputs;
mod known_answer;
mod limits;
mod panics;
mod planted;
mod preemption;
mod sessions;
mod shrinking;
mod ties;
mod verify;
