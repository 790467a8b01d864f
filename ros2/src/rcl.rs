//! The functions of rcl that ringspin uses, made safe: every handle frees itself, keeps alive what
//! it needs, and turns what rcl reports into errors that name the entity. All `unsafe` is here.
#![allow(unsafe_code)]
