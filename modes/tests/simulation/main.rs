//! The deterministic mode as a simulator: ties, delays, durations, inputs, and what finds bugs.

mod conservation;
mod cores;
mod delays;
mod departures;
mod durations;
mod evidence;
mod explore;
mod going_on;
mod inputs;
mod known_answer;
mod limits;
mod panics;
mod sessions;
mod ties;
mod verify;
