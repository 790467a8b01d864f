//! The services for the parameters of a node.

use super::Node;
use crate::error::Result;
use crate::lock;
use crate::log::report;
use crate::message::WrappedServiceTypeSupport;
use crate::parameter::{Handler, ParameterValue, RosParams};
use crate::rcl_interfaces::srv::{
    DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters,
    SetParametersAtomically,
};
use futures::channel::mpsc;
use futures::future::{BoxFuture, join_all};
use futures::{FutureExt, Stream, StreamExt};
use std::future::Future;
use std::sync::{Arc, Mutex};

impl Node {
    /// Offers the services of ROS 2 for the node's parameters. The future answers them: a task has
    /// to poll it. The stream gives the name and value of each parameter that others change.
    ///
    /// If parameter `use_sim_time` is true, the node's time is that of `/clock` from now on.
    ///
    /// # Errors
    /// If the node offers them already.
    pub fn make_parameter_handler(
        &mut self,
    ) -> Result<(
        impl Future<Output = ()> + Send + use<>,
        impl Stream<Item = (String, ParameterValue)> + use<>,
    )> {
        self.handle_parameters(None)
    }

    /// Like [`make_parameter_handler`](Self::make_parameter_handler), for the parameters that are
    /// fields of a struct: others are refused, and values of other types.
    ///
    /// # Errors
    /// Also for a value of the command line that a field does not take.
    pub fn make_derived_parameter_handler(
        &mut self,
        params_struct: Arc<Mutex<dyn RosParams + Send>>,
    ) -> Result<(
        impl Future<Output = ()> + Send + use<>,
        impl Stream<Item = (String, ParameterValue)> + use<>,
    )> {
        self.handle_parameters(Some(params_struct))
    }

    #[allow(clippy::type_complexity)] // the types of the two functions above
    fn handle_parameters(
        &mut self,
        fields: Option<Arc<Mutex<dyn RosParams + Send>>>,
    ) -> Result<(BoxFuture<'static, ()>, mpsc::UnboundedReceiver<(String, ParameterValue)>)> {
        if let Some(fields) = &fields {
            lock(fields).register_parameters("", None, &mut lock(&self.params))?;
        }
        let (changes, changed) = mpsc::unbounded();
        let handler = Handler { params: self.params.clone(), fields, changes };
        let of = || handler.clone();
        let (get, set, all, list, describe, types) = (of(), of(), of(), of(), of(), of());
        let answers = [
            self.answer::<GetParameters::Service>("get_parameters", move |request| {
                let values = request.names.iter().map(|name| get.get(name).into_message());
                GetParameters::Response { values: values.collect() }
            })?,
            self.answer::<SetParameters::Service>("set_parameters", move |request| {
                let results = request.parameters.iter().map(|parameter| set.set(parameter));
                SetParameters::Response { results: results.collect() }
            })?,
            self.answer::<SetParametersAtomically::Service>(
                "set_parameters_atomically",
                move |request| SetParametersAtomically::Response {
                    result: all.set_all(&request.parameters),
                },
            )?,
            self.answer::<ListParameters::Service>("list_parameters", move |request| {
                ListParameters::Response { result: list.list(request) }
            })?,
            self.answer::<DescribeParameters::Service>("describe_parameters", move |request| {
                let descriptors = request.names.iter().map(|name| describe.describe(name));
                DescribeParameters::Response { descriptors: descriptors.collect() }
            })?,
            self.answer::<GetParameterTypes::Service>("get_parameter_types", move |request| {
                let types = request.names.iter().map(|name| types.describe(name).type_);
                GetParameterTypes::Response { types: types.collect() }
            })?,
        ];
        if self.get_parameter("use_sim_time").unwrap_or(Some(false)) == Some(true) {
            self.get_time_source().enable_sim_time(self)?;
        }
        Ok((join_all(answers).map(drop).boxed(), changed))
    }

    /// Serves the node's service `name` with what `answer` returns, as long as the future is
    /// polled.
    fn answer<T: WrappedServiceTypeSupport>(
        &self,
        name: &str,
        answer: impl Fn(&T::Request) -> T::Response + Send + 'static,
    ) -> Result<BoxFuture<'static, ()>> {
        let mut requests = self.serve::<T>(&format!("~/{name}"))?;
        Ok(async move {
            while let Some(request) = requests.next().await {
                let response = answer(&request.message);
                if let Err(error) = request.respond(response) {
                    report(&error);
                }
            }
        }
        .boxed())
    }
}
