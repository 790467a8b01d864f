//! The forms that callbacks of subscriptions can have.
//!
//! A callback takes the message as a `T`, a `Box<T>` or a [`ReadOnlyLoanedMessage`], with or
//! without a [`MessageInfo`]; one of a worker takes the payload before it. All become an
//! [`AnySubscriptionCallback`]. A type parameter `Args` tells the forms apart.

use super::message_info::MessageInfo;
use crate::tasks::Tasks;
use ringspin::arguments::LogLevel;
use ringspin_adapter::Carried;
use ringspin_adapter::log::{Line, log};
use ringspin_messages::cdr::CdrError;
use rosidl_runtime_rs::Message;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::Deref;

/// A message for a callback.
pub(crate) struct Delivery<'a> {
    pub(crate) message: &'a ringspin::Message<Carried>,
    /// The number of messages that the subscription has taken before.
    pub(super) number: u64,
    /// The futures of the node.
    pub(crate) tasks: &'a Tasks,
    pub(super) topic: &'a str,
}

impl Delivery<'_> {
    pub(crate) fn info(&self) -> MessageInfo {
        MessageInfo::new(self.message.id(), self.message.times(), self.number)
    }
}

/// A callback in any form, for messages of type `T`.
pub struct AnySubscriptionCallback<T: Message, Payload> {
    pub(super) callback: Callback<Payload>,
    message: PhantomData<fn(T)>,
}

/// A callback in any form.
pub(crate) struct Callback<Payload> {
    run: Run<Payload>,
    /// Whether it takes a [`MessageInfo`].
    pub(super) reads_info: bool,
}

type Run<Payload> =
    Box<dyn FnMut(&mut Payload, &Delivery<'_>) -> Result<(), CdrError> + Send + 'static>;

impl<T: Message, Payload> AnySubscriptionCallback<T, Payload> {
    fn new(
        reads_info: bool,
        run: impl FnMut(&mut Payload, &Delivery<'_>) -> Result<(), CdrError> + Send + 'static,
    ) -> Self {
        Self { callback: Callback::new(reads_info, run), message: PhantomData }
    }
}

impl<Payload> Callback<Payload> {
    pub(crate) fn new(
        reads_info: bool,
        run: impl FnMut(&mut Payload, &Delivery<'_>) -> Result<(), CdrError> + Send + 'static,
    ) -> Self {
        Self { run: Box::new(run), reads_info }
    }

    /// Calls it. A message that is not of its type is dropped, with an error in the log.
    pub(super) fn call(&mut self, payload: &mut Payload, delivery: &Delivery<'_>) {
        if let Err(error) = (self.run)(payload, delivery) {
            let text = format!("{}: dropped a message: {error}", delivery.topic);
            let (level, file, line) = (LogLevel::Error, file!(), line!());
            log(&Line { level, logger: crate::app::LIBRARY, text: &text, file, line });
        }
    }
}

impl<T: Message, Payload> fmt::Debug for AnySubscriptionCallback<T, Payload> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnySubscriptionCallback").finish_non_exhaustive()
    }
}

/// A message that is read where it is.
pub struct ReadOnlyLoanedMessage<T: Message>(T::RmwMsg);

impl<T: Message> Deref for ReadOnlyLoanedMessage<T> {
    type Target = T::RmwMsg;

    fn deref(&self) -> &T::RmwMsg {
        &self.0
    }
}

impl<T: Message> fmt::Debug for ReadOnlyLoanedMessage<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A form in which a callback takes a message of type `T`.
trait Form<T>: Sized {
    /// # Errors
    /// For a message that is not of type `T`.
    fn of(message: &Carried) -> Result<Self, CdrError>;
}

impl<T: Message> Form<T> for T {
    fn of(message: &Carried) -> Result<Self, CdrError> {
        message.get()
    }
}

impl<T: Message> Form<T> for Box<T> {
    fn of(message: &Carried) -> Result<Self, CdrError> {
        message.get().map(Box::new)
    }
}

impl<T: Message> Form<T> for ReadOnlyLoanedMessage<T> {
    fn of(message: &Carried) -> Result<Self, CdrError> {
        message.get().map(Self)
    }
}

/// A callback of a node: `Fn(Message)` or `Fn(Message, MessageInfo)`, where the message is a `T`, a
/// `Box<T>` or a [`ReadOnlyLoanedMessage<T>`].
pub trait IntoNodeSubscriptionCallback<T: Message, Args>: Send + 'static {
    /// The callback, without its form.
    fn into_node_subscription_callback(self) -> AnySubscriptionCallback<T, ()>;
}

/// A callback of a node that returns a future: `FnMut(Message) -> impl Future` or
/// `FnMut(Message, MessageInfo) -> impl Future`, where the message is a `T`, a `Box<T>` or a
/// [`ReadOnlyLoanedMessage<T>`]. The futures of several messages run side by side.
pub trait IntoAsyncSubscriptionCallback<T: Message, Args>: Send + 'static {
    /// The callback, without its form.
    fn into_async_subscription_callback(self) -> AnySubscriptionCallback<T, ()>;
}

/// A callback of a worker: `FnMut(Message)`, `FnMut(Message, MessageInfo)`,
/// `FnMut(&mut Payload, Message)` or `FnMut(&mut Payload, Message, MessageInfo)`, where the message
/// is a `T`, a `Box<T>` or a [`ReadOnlyLoanedMessage<T>`].
pub trait IntoWorkerSubscriptionCallback<T: Message, Payload: 'static, Args>:
    Send + 'static
{
    /// The callback, without its form.
    fn into_worker_subscription_callback(self) -> AnySubscriptionCallback<T, Payload>;
}

/// Implements the traits for callbacks that take the message in one form.
macro_rules! take {
    ($form:ty) => {
        impl<T: Message, F> IntoNodeSubscriptionCallback<T, ($form,)> for F
        where
            F: Fn($form) + Send + Sync + 'static,
        {
            fn into_node_subscription_callback(self) -> AnySubscriptionCallback<T, ()> {
                AnySubscriptionCallback::new(false, move |_, delivery| {
                    self(<$form as Form<T>>::of(delivery.message)?);
                    Ok(())
                })
            }
        }

        impl<T: Message, F> IntoNodeSubscriptionCallback<T, ($form, MessageInfo)> for F
        where
            F: Fn($form, MessageInfo) + Send + Sync + 'static,
        {
            fn into_node_subscription_callback(self) -> AnySubscriptionCallback<T, ()> {
                AnySubscriptionCallback::new(true, move |_, delivery| {
                    let info = delivery.info();
                    self(<$form as Form<T>>::of(delivery.message)?, info);
                    Ok(())
                })
            }
        }

        impl<T: Message, F, Fut> IntoAsyncSubscriptionCallback<T, ($form,)> for F
        where
            F: FnMut($form) -> Fut + Send + 'static,
            Fut: Future<Output = ()> + Send + 'static,
        {
            fn into_async_subscription_callback(mut self) -> AnySubscriptionCallback<T, ()> {
                AnySubscriptionCallback::new(false, move |_, delivery| {
                    delivery.tasks.add(self(<$form as Form<T>>::of(delivery.message)?));
                    Ok(())
                })
            }
        }

        impl<T: Message, F, Fut> IntoAsyncSubscriptionCallback<T, ($form, MessageInfo)> for F
        where
            F: FnMut($form, MessageInfo) -> Fut + Send + 'static,
            Fut: Future<Output = ()> + Send + 'static,
        {
            fn into_async_subscription_callback(mut self) -> AnySubscriptionCallback<T, ()> {
                AnySubscriptionCallback::new(true, move |_, delivery| {
                    let info = delivery.info();
                    delivery.tasks.add(self(<$form as Form<T>>::of(delivery.message)?, info));
                    Ok(())
                })
            }
        }

        impl<T: Message, P: 'static, F> IntoWorkerSubscriptionCallback<T, P, ($form,)> for F
        where
            F: FnMut($form) + Send + 'static,
        {
            fn into_worker_subscription_callback(mut self) -> AnySubscriptionCallback<T, P> {
                AnySubscriptionCallback::new(false, move |_, delivery| {
                    self(<$form as Form<T>>::of(delivery.message)?);
                    Ok(())
                })
            }
        }

        impl<T: Message, P: 'static, F> IntoWorkerSubscriptionCallback<T, P, ($form, MessageInfo)>
            for F
        where
            F: FnMut($form, MessageInfo) + Send + 'static,
        {
            fn into_worker_subscription_callback(mut self) -> AnySubscriptionCallback<T, P> {
                AnySubscriptionCallback::new(true, move |_, delivery| {
                    let info = delivery.info();
                    self(<$form as Form<T>>::of(delivery.message)?, info);
                    Ok(())
                })
            }
        }

        impl<T: Message, P: 'static, F> IntoWorkerSubscriptionCallback<T, P, (P, $form)> for F
        where
            F: FnMut(&mut P, $form) + Send + 'static,
        {
            fn into_worker_subscription_callback(mut self) -> AnySubscriptionCallback<T, P> {
                AnySubscriptionCallback::new(false, move |payload, delivery| {
                    self(payload, <$form as Form<T>>::of(delivery.message)?);
                    Ok(())
                })
            }
        }

        impl<T: Message, P: 'static, F>
            IntoWorkerSubscriptionCallback<T, P, (P, $form, MessageInfo)> for F
        where
            F: FnMut(&mut P, $form, MessageInfo) + Send + 'static,
        {
            fn into_worker_subscription_callback(mut self) -> AnySubscriptionCallback<T, P> {
                AnySubscriptionCallback::new(true, move |payload, delivery| {
                    let info = delivery.info();
                    self(payload, <$form as Form<T>>::of(delivery.message)?, info);
                    Ok(())
                })
            }
        }
    };
}

take!(T);
take!(Box<T>);
take!(ReadOnlyLoanedMessage<T>);
