//! Messages of any type on their way.
//!
//! All topics and services of an application carry [`Carried`], so that typed, untyped and raw ends
//! meet on one topic, and the application compiles little of the executor for each of its types.

use crate::lock;
use ringspin::{Digest, DigestHasher, Message};
use ringspin_messages::cdr::{self, CdrError};
use ringspin_messages::std_msgs::msg::Empty;
use ringspin_messages::{
    CdrMapping, CdrService, CdrType, GeneratedMessage, GeneratedService, RosType,
};
use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

/// A message as a topic or service carries it.
#[derive(Clone)]
pub struct Carried(Content);

#[derive(Clone)]
enum Content {
    Typed(Arc<dyn Payload>),
    /// The bytes that came, with CDR's header.
    Bytes(Vec<u8>),
}

/// A message of some type.
pub trait Payload: Any + Send + Sync {
    /// Replaces the content of `bytes` by the message: CDR, with its header.
    ///
    /// # Errors
    /// For a message that its definition does not allow.
    fn write(&self, bytes: &mut Vec<u8>) -> Result<(), CdrError>;

    /// Adds the digest of the message: for one ROS type it is the same in each Rust type.
    fn add_to(&self, hasher: &mut DigestHasher);

    /// The hash of the ROS type.
    fn type_hash(&self) -> &'static str;
}

impl<T: GeneratedMessage> Payload for T {
    fn write(&self, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(self, bytes)
    }

    fn add_to(&self, hasher: &mut DigestHasher) {
        self.digest(hasher);
    }

    fn type_hash(&self) -> &'static str {
        T::TYPE_HASH
    }
}

impl Carried {
    /// The message type `T` as a topic carries it.
    pub const fn table<T: GeneratedMessage>() -> &'static CdrType {
        CdrType::mapped::<As<T>>()
    }

    /// The service type `S` as a service carries it.
    pub fn service_table<S: GeneratedService>() -> &'static CdrService {
        CdrService::mapped::<S, As<S::Request>, As<S::Response>>()
    }

    /// The message type `name` as a topic carries it, for a type without a struct: `ros_type` is
    /// called once, and types stay as long as the program.
    ///
    /// # Errors
    /// The error of `ros_type`.
    pub fn named_table<E>(
        name: &str,
        ros_type: impl FnOnce() -> Result<RosType, E>,
    ) -> Result<&'static CdrType, E> {
        static TABLES: Mutex<BTreeMap<&str, &CdrType>> = Mutex::new(BTreeMap::new());
        let mut tables = lock(&TABLES);
        if let Some(table) = tables.get(name) {
            return Ok(table);
        }
        // Messages of any type are written by themselves, and their bytes stay as they are.
        let table: &_ = Box::leak(Box::new(Self::table::<Empty>().with_ros_type(ros_type()?)));
        tables.insert(table.name(), table);
        Ok(table)
    }

    /// A message that fits its definition.
    pub fn new<T: Payload>(message: T) -> Self {
        Self(Content::Typed(Arc::new(message)))
    }

    /// A message of the application, which may not fit its definition.
    ///
    /// # Errors
    /// For one that ROS 2 could not send; the text names the field.
    pub fn checked<T: GeneratedMessage>(message: T) -> Result<Self, CdrError> {
        cdr::check(&message)?;
        Ok(Self::new(message))
    }

    /// A message as bytes: CDR, with its header of four bytes.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Self(Content::Bytes(bytes))
    }

    /// The message. Another Rust type of the same ROS type is converted by way of its bytes.
    ///
    /// # Errors
    /// For bytes that are no message of the type, and a message of another one.
    pub fn get<T: GeneratedMessage>(&self) -> Result<T, CdrError> {
        match &self.0 {
            Content::Typed(message) => {
                let any: &dyn Any = &**message;
                any.downcast_ref::<T>().map_or_else(|| self.convert(), |it| Ok(it.clone()))
            }
            Content::Bytes(bytes) => cdr::from_bytes(bytes),
        }
    }

    /// The message as type `T`, which is another Rust type.
    #[cold]
    fn convert<T: GeneratedMessage>(&self) -> Result<T, CdrError> {
        cdr::from_bytes(&self.bytes_of(T::TYPE_HASH)?)
    }

    /// The message, if it is a `T`.
    pub fn downcast_ref<T: Payload>(&self) -> Option<&T> {
        let Content::Typed(message) = &self.0 else { return None };
        let any: &dyn Any = &**message;
        any.downcast_ref()
    }

    /// The message, which is copied only while others have it.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get).
    pub fn take_from<T: GeneratedMessage>(message: Message<Self>) -> Result<T, CdrError> {
        let carried: &Self = &message;
        let Content::Typed(shared) = &carried.0 else { return carried.get() };
        let shared: Arc<dyn Any + Send + Sync> = shared.clone();
        let Ok(typed) = shared.downcast() else { return carried.get() };
        drop(message); // before: its slot refers to it
        Ok(Arc::unwrap_or_clone(typed))
    }

    /// The bytes of a message of the ROS type with this hash.
    ///
    /// # Errors
    /// For a message of another type, and one that its definition does not allow.
    pub fn bytes_of(&self, type_hash: &str) -> Result<Cow<'_, [u8]>, CdrError> {
        match &self.0 {
            Content::Typed(message) if message.type_hash() != type_hash => Err(CdrError::OtherType),
            _ => self.bytes(),
        }
    }

    /// The message as bytes: CDR, with its header of four bytes.
    ///
    /// # Errors
    /// For a message that its definition does not allow.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, CdrError> {
        match &self.0 {
            Content::Typed(message) => {
                let mut bytes = Vec::new();
                message.write(&mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
            Content::Bytes(bytes) => Ok(Cow::Borrowed(bytes)),
        }
    }
}

/// A message of type `M` over ROS 2.
struct As<M>(PhantomData<M>);

impl<M: GeneratedMessage> CdrMapping for As<M> {
    type Rust = Carried;
    const ROS_TYPE: RosType = RosType::of::<M>();

    fn write(message: &Carried, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        match &message.0 {
            Content::Typed(message) => message.write(bytes),
            Content::Bytes(content) => {
                bytes.clone_from(content);
                Ok(())
            }
        }
    }

    fn read(bytes: &[u8]) -> Result<Carried, CdrError> {
        Ok(Carried::of_bytes(bytes.to_vec()))
    }
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carried")
    }
}

impl Digest for Carried {
    fn digest(&self, hasher: &mut DigestHasher) {
        match &self.0 {
            Content::Typed(message) => message.add_to(hasher),
            Content::Bytes(bytes) => bytes.digest(hasher),
        }
    }
}
