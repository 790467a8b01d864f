//! The services for the parameters of a node.

use super::Node;
use crate::error::Result;
use crate::lock;
use crate::log::report;
use crate::parameter::{Handler, ParameterValue, RosParams};
use crate::rcl_interfaces::srv::{
    DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters,
    SetParametersAtomically,
};
use futures::channel::mpsc;
use futures::future::{BoxFuture, join_all};
use futures::{FutureExt, Stream, StreamExt};
use ringspin_messages::ParameterService;
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
        let answers = [
            self.answer::<GetParameters::Service>(&handler)?,
            self.answer::<SetParameters::Service>(&handler)?,
            self.answer::<SetParametersAtomically::Service>(&handler)?,
            self.answer::<ListParameters::Service>(&handler)?,
            self.answer::<DescribeParameters::Service>(&handler)?,
            self.answer::<GetParameterTypes::Service>(&handler)?,
        ];
        if self.get_parameter("use_sim_time").unwrap_or(Some(false)) == Some(true) {
            self.get_time_source().enable_sim_time(self)?;
        }
        Ok((join_all(answers).map(drop).boxed(), changed))
    }

    /// Serves `handler` by one of the services, as long as the future is polled.
    fn answer<T: ParameterService>(&self, handler: &Handler) -> Result<BoxFuture<'static, ()>> {
        let mut requests = self.serve::<T>(&format!("~/{}", T::NAME))?;
        let handler = handler.clone();
        Ok(async move {
            while let Some(request) = requests.next().await {
                let response = T::answer(&handler, request.message.clone());
                if let Err(error) = request.respond(response) {
                    report(&error);
                }
            }
        }
        .boxed())
    }
}
