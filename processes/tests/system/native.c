// Programs on the interface of a middleware alone, for machines without a ROS 2: by the first argument a sensor, which
// publishes from two threads after random waits, a map server, or a planner, which calls the service and ends.
#include <pthread.h>
#include <rmw/rmw.h>
#include <rosidl_typesupport_introspection_c/field_types.h>
#include <rosidl_typesupport_introspection_c/message_introspection.h>
#include <rosidl_typesupport_introspection_c/service_introspection.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define CHECK(call) \
  if ((call) != RMW_RET_OK) { \
    fprintf(stderr, "line %d: %s failed\n", __LINE__, #call); \
    exit(1); \
  }

typedef struct { uint8_t kind; double value; uint64_t number; char text[8]; } Number;

#define FIELD(name, type, count) \
  {#name, type, 0, NULL, false, count > 1, count, false, offsetof(Number, name), NULL, NULL, NULL, NULL, NULL, NULL, NULL}
static const rosidl_typesupport_introspection_c__MessageMember fields[] = {
  FIELD(kind, rosidl_typesupport_introspection_c__ROS_TYPE_UINT8, 1),
  FIELD(value, rosidl_typesupport_introspection_c__ROS_TYPE_DOUBLE, 1),
  FIELD(number, rosidl_typesupport_introspection_c__ROS_TYPE_UINT64, 1),
  FIELD(text, rosidl_typesupport_introspection_c__ROS_TYPE_CHAR, 8),
};
static const rosidl_typesupport_introspection_c__MessageMembers number = {
  "native__msg", "Number", 4, sizeof(Number), false, fields, NULL, NULL,
};
static const rosidl_typesupport_introspection_c__ServiceMembers map = {
  "native__srv", "Map", &number, &number, NULL,
};
static const rosidl_message_type_support_t *message_of(const rosidl_message_type_support_t *own, const char *wanted) {
  return strcmp(own->typesupport_identifier, wanted) ? NULL : own;
}
static const rosidl_service_type_support_t *service_of(const rosidl_service_type_support_t *own, const char *wanted) {
  return strcmp(own->typesupport_identifier, wanted) ? NULL : own;
}
static const char tables[] = "rosidl_typesupport_introspection_c";
static const rosidl_message_type_support_t message_type = {tables, &number, message_of, NULL, NULL, NULL};
static const rosidl_service_type_support_t service_type = {tables, &map, service_of, NULL, NULL, NULL, NULL, NULL, NULL};

static void *allocate(size_t size, void *state) { (void)state; return malloc(size); }
static void deallocate(void *pointer, void *state) { (void)state; free(pointer); }
static void *reallocate(void *pointer, size_t size, void *state) { (void)state; return realloc(pointer, size); }
static void *zero_allocate(size_t count, size_t size, void *state) { (void)state; return calloc(count, size); }

static rmw_context_t context;
static rmw_node_t *node;
static rmw_wait_set_t *set;
static const rmw_qos_profile_t qos = {
  RMW_QOS_POLICY_HISTORY_KEEP_LAST, 10, RMW_QOS_POLICY_RELIABILITY_RELIABLE, RMW_QOS_POLICY_DURABILITY_VOLATILE,
  {0, 0}, {0, 0}, RMW_QOS_POLICY_LIVELINESS_AUTOMATIC, {0, 0}, false,
};

static void start(const char *name) {
  rcutils_allocator_t allocator = {allocate, deallocate, reallocate, zero_allocate, NULL};
  rmw_init_options_t options;
  memset(&options, 0, sizeof options);
  CHECK(rmw_init_options_init(&options, allocator));
  options.enclave = "/";
  options.domain_id = 0;
  CHECK(rmw_init(&options, &context));
  node = rmw_create_node(&context, name, "/");
  set = rmw_create_wait_set(&context, 1);
}

// Waits for one entity, up to a time; false at the timeout.
static bool wait_for(void *subscription, void *service, void *client, uint64_t milliseconds) {
  rmw_subscriptions_t subscriptions = {subscription ? 1 : 0, &subscription};
  rmw_services_t services = {service ? 1 : 0, &service};
  rmw_clients_t clients = {client ? 1 : 0, &client};
  rmw_time_t timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  rmw_ret_t result = rmw_wait(&subscriptions, NULL, &services, &clients, NULL, set, &timeout);
  if (result != RMW_RET_TIMEOUT) CHECK(result);
  return result == RMW_RET_OK;
}

static rmw_publisher_t *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sent;

static void sleep_up_to(uint32_t microseconds) {
  uint32_t number = 0;
  getrandom(&number, sizeof number, 0);
  usleep(number % microseconds);
}

static void *publish(void *kind) {
  for (;;) {
    usleep(50000);
    sleep_up_to(50000);
    pthread_mutex_lock(&lock);
    sent++;
    Number message = {(uint8_t)(uintptr_t)kind, 1.0 / 3.0 * sent, sent, "\xff" "camera"};
    CHECK(rmw_publish(out, &message, NULL));
    usleep(1000); // the other one waits for the lock meanwhile
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void sensor(void) {
  rmw_publisher_options_t options;
  memset(&options, 0, sizeof options);
  out = rmw_create_publisher(node, &message_type, "/numbers", &qos, &options);
  pthread_t other;
  pthread_create(&other, NULL, publish, (void *)1);
  publish((void *)255);
}

static void map_server(void) {
  usleep(700000);
  rmw_service_t *service = rmw_create_service(node, &service_type, "/map", &qos);
  for (uint64_t answers = 0;;) {
    Number request;
    rmw_service_info_t info;
    bool taken = false;
    if (!wait_for(NULL, service->data, NULL, 400)) puts("nothing is asked");
    CHECK(rmw_take_request(service, &info, &request, &taken));
    if (!taken) continue;
    sleep_up_to(20000);
    request.value = request.value / 7 + ++answers;
    CHECK(rmw_send_response(service, &info.request_id, &request));
  }
}

static void planner(void) {
  rmw_subscription_options_t options;
  memset(&options, 0, sizeof options);
  rmw_subscription_t *in = rmw_create_subscription(node, &message_type, "/numbers", &qos, &options);
  rmw_client_t *client = rmw_create_client(node, &service_type, "/map", &qos);
  Number message = {0};
  for (bool is_there = false; !is_there; usleep(100000)) CHECK(rmw_service_server_is_available(node, client, &is_there));
  for (int plan = 1; plan <= 20;) {
    bool taken = false;
    int64_t sequence;
    rmw_service_info_t info;
    if (!wait_for(in->data, NULL, NULL, 100)) puts("no number came");
    CHECK(rmw_take(in, &message, &taken, NULL));
    if (!taken) continue;
    CHECK(rmw_send_request(client, &message, &sequence));
    while (!wait_for(NULL, NULL, client->data, 5)) puts("waits for the map");
    CHECK(rmw_take_response(client, &info, &message, &taken));
    printf("plan %d: number %lu of %d, %.17g, %d\n", plan++, message.number, message.kind, message.value,
           (unsigned char)message.text[0]);
  }
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  start(arguments[1]);
  if (!strcmp(arguments[1], "sensor")) sensor();
  if (!strcmp(arguments[1], "map_server")) map_server();
  if (!strcmp(arguments[1], "planner")) planner();
  return 0;
}
