//! The deterministic mode as a simulator: ties, delays, durations, inputs, and what finds bugs.

mod chains;
mod conservation;
mod cores;
mod delays;
mod departures;
mod durations;
mod evidence;
mod explore;
mod fresh_processes;
mod going_on;
mod inputs;
mod known_answer;
mod limits;
mod panics;
mod sessions;
mod shrinking;
mod ties;
mod verify;
