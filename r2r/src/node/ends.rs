//! The ends of topics and services that a node creates.

use super::Node;
use crate::client::{self, Client, ClientUntyped};
use crate::error::{Error, Result};
use crate::link::Link;
use crate::message::{WrappedServiceTypeSupport, WrappedTypesupport};
use crate::native::NativeMsg;
use crate::publisher::{self, Publisher, PublisherUntyped};
use crate::qos::QosProfile;
use crate::service::ServiceRequest;
use crate::stream::{Incoming, or_report};
use crate::untyped::{Untyped, UntypedService, raw_table};
use futures::Stream;
use futures::channel::mpsc;
use ringspin::{Message, QoS, Responder, Subscription};
use ringspin_adapter::{Carried, Type};
use ringspin_messages::{CdrService, CdrType};
use std::sync::Arc;

/// Requests that may wait at a server, and calls of a client that may be unanswered.
const CALLS_MAX: usize = 1000;

impl Node {
    /// Subscribes to a topic; the stream ends with the node, and the subscription with the stream.
    /// Messages that are not taken in time are kept as `qos_profile` says: the newest ones.
    ///
    /// # Errors
    /// [`Error::RCL_RET_TOPIC_NAME_INVALID`]; another one for a topic of another type, or with
    /// publishers that offer less than `qos_profile` requests.
    pub fn subscribe<T>(
        &mut self,
        topic: &str,
        qos_profile: QosProfile,
    ) -> Result<impl Stream<Item = T> + Unpin + use<T>>
    where
        T: WrappedTypesupport + 'static,
    {
        let name = topic.to_owned();
        let read = move |message| or_report(Carried::take_from(message), &name);
        self.stream(topic, Carried::table::<T>(), &qos_profile, read)
    }

    /// Subscribes like [`subscribe`](Self::subscribe).
    ///
    /// # Errors
    /// [`Error::RCL_RET_TOPIC_NAME_INVALID`]; another one for a topic of another type, or with
    /// publishers that offer less than `qos_profile` requests.
    pub fn subscribe_native<T>(
        &mut self,
        topic: &str,
        qos_profile: QosProfile,
    ) -> Result<impl Stream<Item = NativeMsg<T>> + Unpin + use<T>>
    where
        T: WrappedTypesupport + 'static,
    {
        let name = topic.to_owned();
        let read = move |message| {
            let message = or_report(Carried::take_from(message), &name)?;
            Some(NativeMsg { message, is_loaned: false })
        };
        self.stream(topic, Carried::table::<T>(), &qos_profile, read)
    }

    /// Subscribes to a topic whose type is known by name; messages come as JSON.
    ///
    /// # Errors
    /// [`Error::InvalidMessageType`] for an unknown type, [`Error::RCL_RET_TOPIC_NAME_INVALID`];
    /// another one for a topic of another type, or with publishers that offer less than
    /// `qos_profile` requests.
    pub fn subscribe_untyped(
        &mut self,
        topic: &str,
        topic_type: &str,
        qos_profile: QosProfile,
    ) -> Result<impl Stream<Item = Result<serde_json::Value>> + Unpin + use<>> {
        let untyped = Untyped::named(topic_type)?;
        let read = move |message: Message<Carried>| Some((untyped.to_json)(&message));
        self.stream(topic, untyped.table, &qos_profile, read)
    }

    /// Subscribes to a topic whose type is known by name; messages come as bytes: CDR, with its
    /// header of four bytes. Over ROS 2 the type can be any that is installed.
    ///
    /// # Errors
    /// [`Error::InvalidMessageType`] for an unknown type, [`Error::RCL_RET_TOPIC_NAME_INVALID`];
    /// another one for a topic of another type, or with publishers that offer less than
    /// `qos_profile` requests.
    pub fn subscribe_raw(
        &mut self,
        topic: &str,
        topic_type: &str,
        qos_profile: QosProfile,
    ) -> Result<impl Stream<Item = Vec<u8>> + Unpin + use<>> {
        let table = raw_table(topic_type, self.shared.context.is_over_ros2())?;
        let name = topic.to_owned();
        let read = move |message: Message<Carried>| {
            or_report(message.bytes().map(|bytes| bytes.into_owned()), &name)
        };
        self.stream(topic, table, &qos_profile, read)
    }

    fn stream<F>(
        &self,
        topic: &str,
        table: &'static CdrType,
        qos: &QosProfile,
        read: F,
    ) -> Result<Incoming<F>> {
        let shared = &self.shared;
        shared.set_type(topic, Type::Topic(table))?;
        let messages = shared.node.create_detached_stream(topic, QoS::from(qos));
        let messages = messages.map_err(Error::other)?;
        Ok(Incoming::new(messages, Link::new(&shared.activity), read))
    }

    /// Subscribes with a function that is called by the executor.
    pub(crate) fn listen<T: WrappedTypesupport>(
        &self,
        topic: &str,
        qos: QosProfile,
        hear: impl Fn(T) + Send + 'static,
    ) -> Result<Subscription> {
        let name = topic.to_owned();
        self.hear(topic, Carried::table::<T>(), qos, move |message| {
            if let Some(message) = or_report(message.get(), &name) {
                hear(message);
            }
        })
    }

    /// Subscribes like [`listen`](Self::listen) to messages of any type.
    pub(super) fn hear(
        &self,
        topic: &str,
        table: &'static CdrType,
        qos: QosProfile,
        hear: impl Fn(&Carried) + Send + 'static,
    ) -> Result<Subscription> {
        self.shared.set_type(topic, Type::Topic(table))?;
        let activity = self.shared.activity.clone();
        let callback =
            move |_: &mut (), message: &Message<Carried>, _: &mut ringspin::Context<'_>| {
                hear(message);
                activity.happened();
            };
        let created = self.shared.node.create_subscription(topic, QoS::from(&qos), callback);
        created.map_err(Error::other)
    }

    /// Creates a publisher.
    ///
    /// # Errors
    /// [`Error::RCL_RET_TOPIC_NAME_INVALID`]; another one for a topic of another type, or with
    /// subscriptions that request more than `qos_profile` offers.
    pub fn create_publisher<T>(
        &mut self,
        topic: &str,
        qos_profile: QosProfile,
    ) -> Result<Publisher<T>>
    where
        T: WrappedTypesupport,
    {
        Ok(Publisher::new(self.publisher(topic, Carried::table::<T>(), &qos_profile)?))
    }

    /// Creates a publisher of a type that is known by name. Over ROS 2 it can be any that is
    /// installed; of one that this program was not built with, only bytes can be published.
    ///
    /// # Errors
    /// [`Error::InvalidMessageType`], and those of [`create_publisher`](Self::create_publisher).
    pub fn create_publisher_untyped(
        &mut self,
        topic: &str,
        topic_type: &str,
        qos_profile: QosProfile,
    ) -> Result<PublisherUntyped> {
        let table = raw_table(topic_type, self.shared.context.is_over_ros2())?;
        Ok(PublisherUntyped::new(self.publisher(topic, table, &qos_profile)?, table.name()))
    }

    pub(super) fn publisher(
        &self,
        topic: &str,
        table: &'static CdrType,
        qos: &QosProfile,
    ) -> Result<Arc<publisher::Inner>> {
        let shared = &self.shared;
        let name = shared.set_type(topic, Type::Topic(table))?;
        let publisher = shared.node.create_publisher::<Carried>(topic, QoS::from(qos));
        let publisher = publisher.map_err(Error::other)?;
        let publisher = match shared.context.is_deterministic {
            true => publisher.digested(),
            false => publisher,
        };
        Ok(Arc::new(publisher::Inner::new(publisher, name, shared.clone())))
    }

    /// Ends a publisher, and its clones: publishing fails.
    pub fn destroy_publisher<T: WrappedTypesupport>(&mut self, p: Publisher<T>) {
        p.inner.destroy();
    }

    /// Ends a publisher, and its clones: publishing fails.
    pub fn destroy_publisher_untyped(&mut self, p: PublisherUntyped) {
        p.inner.destroy();
    }

    /// Creates a server of a service; the stream of its requests ends with the node.
    ///
    /// # Errors
    /// [`Error::RCL_RET_SERVICE_NAME_INVALID`]; another one for a service that has a server in this
    /// process, or another type.
    pub fn create_service<T>(
        &mut self,
        service_name: &str,
        _qos_profile: QosProfile,
    ) -> Result<impl Stream<Item = ServiceRequest<T>> + Unpin + use<T>>
    where
        T: WrappedServiceTypeSupport,
    {
        self.serve(service_name)
    }

    pub(crate) fn serve<T>(
        &self,
        service: &str,
    ) -> Result<mpsc::UnboundedReceiver<ServiceRequest<T>>>
    where
        T: WrappedServiceTypeSupport,
    {
        let (sender, requests) = mpsc::unbounded();
        self.respond::<T>(service, move |request, responder| {
            // Without a stream, the responder ends the call.
            let _ = sender.unbounded_send(ServiceRequest::new(request, responder));
        })?;
        Ok(requests)
    }

    /// Serves a service with a function that is called by the executor.
    pub(super) fn respond<T: WrappedServiceTypeSupport>(
        &self,
        service: &str,
        respond: impl Fn(T::Request, Responder<Carried>) + Send + 'static,
    ) -> Result<()> {
        let shared = &self.shared;
        let name = shared.set_type(service, Type::Service(T::table()))?;
        let activity = shared.activity.clone();
        let callback = move |_: &mut (),
                             request: &Carried,
                             responder: Responder<Carried>,
                             _: &mut ringspin::Context<'_>| {
            if let Some(request) = or_report(request.get(), &name) {
                respond(request, responder);
                activity.happened();
            }
        };
        let qos = QoS::keep_all(CALLS_MAX);
        let created = shared.node.create_deferred_service(service, qos, callback);
        created.map_err(Error::other).map(drop)
    }

    /// Creates a client of a service.
    ///
    /// # Errors
    /// [`Error::RCL_RET_SERVICE_NAME_INVALID`]; another one for a service of another type.
    pub fn create_client<T>(
        &mut self,
        service_name: &str,
        _qos_profile: QosProfile,
    ) -> Result<Client<T>>
    where
        T: WrappedServiceTypeSupport,
    {
        Ok(Client::new(self.client(service_name, T::table())?))
    }

    /// Creates a client of a service whose type is known by name.
    ///
    /// # Errors
    /// [`Error::InvalidMessageType`] for an unknown type, [`Error::RCL_RET_SERVICE_NAME_INVALID`];
    /// another one for a service of another type.
    pub fn create_client_untyped(
        &mut self,
        service_name: &str,
        service_type: &str,
        _qos_profile: QosProfile,
    ) -> Result<ClientUntyped> {
        let untyped = UntypedService::named(service_type)?;
        Ok(ClientUntyped::new(self.client(service_name, untyped.table)?, untyped))
    }

    pub(crate) fn client(
        &self,
        service: &str,
        table: &'static CdrService,
    ) -> Result<client::Inner> {
        let shared = &self.shared;
        shared.set_type(service, Type::Service(table))?;
        let client = shared.node.create_client(service, QoS::keep_all(CALLS_MAX));
        Ok(client::Inner::new(client.map_err(Error::other)?, shared.clone()))
    }
}
