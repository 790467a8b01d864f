//! The structs of all types: the same bytes, names, definitions and hashes as those of
//! `ringspin_messages`, in the idiomatic form and the RMW form.

mod all_types;
mod fields;
// Shared with the tests of `ringspin-messages`.
#[path = "../../../../messages/tests/messages/model/mod.rs"]
mod model;
