//! The public items of rclrs 0.8.0 that are offered, as an application names them: this test is
//! that it compiles. `docs/rclrs.md` lists refused ones; signatures are tested with behaviour.

#![allow(unused_imports)]

use rclrs::{
    AcceptedGoal, ActionClient, ActionClientOptions, ActionClientState, ActionGoalReceiver,
    ActionServer, ActionServerOptions, ActionServerState, ActivityListener, AnyClientOutputSender,
    AnyServiceCallback, AnySubscriptionCallback, AnyTimerCallback, ArrayValue, ArrayValueMut,
    AvailableValues, BaseType, BeginAcceptedGoal, BoundedSequenceValue, BoundedSequenceValueMut,
    CancelResponse, CancelResponseClient, CancelResponseCode, CancellationClient, CancellingGoal,
    Client, ClientAsyncCallback, ClientCallback, ClientOptions, ClientOutput, ClientState, Clock,
    ClockSource, ClockType, Context, CreateBasicExecutor, DeclarationError, DynamicBoundedSequence,
    DynamicBoundedSequenceMut, DynamicBoundedString, DynamicBoundedStringMut,
    DynamicBoundedWString, DynamicBoundedWStringMut, DynamicMessage, DynamicMessageError,
    DynamicMessageLibraryCache, DynamicMessageMetadata, DynamicMessageView, DynamicMessageViewMut,
    DynamicPublisher, DynamicPublisherState, DynamicSequence, DynamicSequenceMut,
    DynamicSubscription, DynamicSubscriptionState, ExecutingGoal, Executor, ExecutorCommands,
    FeedbackClient, FeedbackPublisher, GoalClient, GoalClientStream, GoalEvent, GoalStatus,
    GoalStatusCode, GoalUuid, InitOptions, IntoActionClientOptions, IntoActionServerOptions,
    IntoAsyncServiceCallback, IntoAsyncSubscriptionCallback, IntoNodeOptions,
    IntoNodeServiceCallback, IntoNodeSubscriptionCallback, IntoNodeTimerOneshotCallback,
    IntoNodeTimerRepeatingCallback, IntoPrimitiveOptions, IntoTimerOptions,
    IntoWorkerServiceCallback, IntoWorkerSubscriptionCallback, IntoWorkerTimerOneshotCallback,
    IntoWorkerTimerRepeatingCallback, LoanedMessage, LogOccurrence, LogParams, LogSeverity, Logger,
    LoggerName, MandatoryParameter, MessageCow, MessageFieldInfo, MessageInfo, MessageStructure,
    MessageTypeName, MultiCancelResponse, MultiCancelResponseClient, Node, NodeNameInfo,
    NodeOptions, NodeState, OptionalParameter, ParameterBuilder, ParameterKind, ParameterOptions,
    ParameterRange, ParameterRanges, ParameterSubscription, ParameterValue, ParameterValueError,
    ParameterVariant, Parameters, PrimitiveOptions, Publisher, PublisherGid, PublisherOptions,
    PublisherState, QOS_PROFILE_ACTION_STATUS_DEFAULT, QOS_PROFILE_CLOCK, QOS_PROFILE_DEFAULT,
    QOS_PROFILE_PARAMETER_EVENTS, QOS_PROFILE_PARAMETERS, QOS_PROFILE_SENSOR_DATA,
    QOS_PROFILE_SERVICES_DEFAULT, QOS_PROFILE_SYSTEM_DEFAULT, QoSDurabilityPolicy, QoSDuration,
    QoSHistoryPolicy, QoSLivelinessPolicy, QoSProfile, QoSReliabilityPolicy, RclErrorMsg,
    RclReturnCode, RclrsError, RclrsErrorFilter, ReadOnlyLoanedMessage, ReadOnlyParameter,
    RequestId, RequestedGoal, RequestedGoalClient, ResultClient, RmwParameterConversionError,
    SequenceValue, SequenceValueMut, Service, ServiceInfo, ServiceIntrospectionState,
    ServiceOptions, ServiceState, SimpleValue, SimpleValueMut, SpinOptions, StatusClient,
    StatusWatcher, Subscription, SubscriptionOptions, SubscriptionState, TakeFailedAsNone,
    TerminatedGoal, ThrottleClock, Time, Timer, TimerClock, TimerOptions, TimerState, ToLogParams,
    TopicEndpointInfo, TopicNamesAndTypes, Value, ValueKind, ValueMut, WorkScope, Worker,
    WorkerDynamicSubscription, WorkerOptions, WorkerService, WorkerState, WorkerSubscription,
    WorkerTimer, default_initial_value_discriminator, extract_non_ros_args,
    get_dynamic_message_package_cache,
};
use rclrs::{log, log_debug, log_error, log_fatal, log_info, log_warn, rmw_request_id_t};

ringspin::rclrs_is_patched!();

#[test]
fn aliases_and_modules_have_their_names() {
    fn is_message<T: rclrs::MessageIDL + rclrs::RmwMessageIDL>() {}
    fn is_service<T: rclrs::ServiceIDL>() {}
    fn is_action<T: rclrs::ActionIDL>() {}
    is_message::<ros_env::std_msgs::msg::rmw::String>();
    is_service::<ros_env::std_srvs::srv::SetBool>();
    is_action::<ros_env::example_interfaces::action::Fibonacci>();
    let _ = rclrs::rosidl_runtime_rs::String::from("text");
}
