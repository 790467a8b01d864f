// The headers of scripts/rcl-bindings, and of the test that compares the bindings with them.
#include <rmw/event.h>
#include <rmw/events_statuses/events_statuses.h>
#include <rmw/features.h>
#include <rmw/get_topic_endpoint_info.h>
#include <rmw/names_and_types.h>
#include <rmw/rmw.h>
#include <rosidl_typesupport_introspection_c/field_types.h>
#include <rosidl_typesupport_introspection_c/message_introspection.h>
#include <rosidl_typesupport_introspection_c/service_introspection.h>
