// A program on rcl with the types of C++ and an executor of events: callbacks of the middleware put work into a queue, from
// which a pool of threads takes it. `events ping COUNT [UNDER_WAY [BYTES]]` sends so many texts and gets their echoes, with one
// or more under way, of so many bytes more; `events pong [COUNT]` sends each text back, and dies at this one.
#include <rcl/rcl.h>
#include <rcutils/error_handling.h>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <std_msgs/msg/string.hpp>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Text = std_msgs::msg::String;

static void check(rcl_ret_t result, const char * call)
{
  if (result != RCL_RET_OK) {
    std::fprintf(stderr, "%s: %s\n", call, rcutils_get_error_string().str);
    std::exit(3);
  }
}
#define CHECK(call) check(call, #call)

struct Queue
{
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<size_t> work;
  bool is_over = false;

  void push(size_t count)
  {
    {
      std::lock_guard<std::mutex> lock(mutex);
      work.push_back(count);
    }
    changed.notify_one();
  }
  void end()
  {
    {
      std::lock_guard<std::mutex> lock(mutex);
      is_over = true;
    }
    changed.notify_all();
  }
  bool pop(size_t & count)
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] {return is_over || !work.empty();});
    if (work.empty()) {return false;}
    count = work.front();
    work.pop_front();
    return true;
  }
};

static std::string text_of(long n, long bytes)
{
  return std::to_string(n) + " " + std::string(n % 40 + bytes, 'x'); // some within the string object, some not
}

int main(int argc, char ** argv)
{
  const bool is_ping = argc > 1 && std::strcmp(argv[1], "ping") == 0;
  const long count = argc > 2 ? std::atol(argv[2]) : 0;
  const long under_way = argc > 3 ? std::atol(argv[3]) : 1;
  const long bytes = argc > 4 ? std::atol(argv[4]) : 0;
  rcl_init_options_t options = rcl_get_zero_initialized_init_options();
  CHECK(rcl_init_options_init(&options, rcl_get_default_allocator()));
  rcl_context_t context = rcl_get_zero_initialized_context();
  CHECK(rcl_init(0, nullptr, &options, &context));
  rcl_node_t node = rcl_get_zero_initialized_node();
  rcl_node_options_t node_options = rcl_node_get_default_options();
  CHECK(rcl_node_init(&node, is_ping ? "ping" : "pong", "", &context, &node_options));
  const auto * type = rosidl_typesupport_cpp::get_message_type_support_handle<Text>();
  rcl_publisher_t out = rcl_get_zero_initialized_publisher();
  rcl_publisher_options_t out_options = rcl_publisher_get_default_options();
  out_options.qos.depth = 1000;
  CHECK(rcl_publisher_init(&out, &node, type, is_ping ? "ping" : "pong", &out_options));
  rcl_subscription_t in = rcl_get_zero_initialized_subscription();
  rcl_subscription_options_t in_options = rcl_subscription_get_default_options();
  in_options.qos.depth = 1000;
  CHECK(rcl_subscription_init(&in, &node, type, is_ping ? "pong" : "ping", &in_options));

  Queue queue;
  auto on_new = [](const void * data, size_t n) {static_cast<Queue *>(const_cast<void *>(data))->push(n);};
  CHECK(rcl_subscription_set_on_new_message_callback(&in, on_new, &queue));
  std::mutex taking;
  long n = 0;
  auto send = [&](const std::string & text) {
      Text message;
      message.data = text;
      CHECK(rcl_publish(&out, &message, nullptr));
    };
  auto take = [&] {
      Text message;
      std::lock_guard<std::mutex> lock(taking);
      if (rcl_take(&in, &message, nullptr, nullptr) != RCL_RET_OK) {
        rcutils_reset_error();
        return;
      }
      if (!is_ping) {
        if (++n == count) {std::raise(SIGKILL);}
        return send(message.data);
      }
      if (message.data != text_of(n, bytes)) {
        std::fprintf(stderr, "%s came for %ld\n", message.data.c_str(), n);
        std::exit(4);
      }
      ++n;
      if (n + under_way <= count) {send(text_of(n + under_way - 1, bytes));}
      if (n == count) {queue.end();}
    };
  std::vector<std::thread> pool;
  for (int worker = 0; worker < 2; ++worker) {
    pool.emplace_back([&] {
        for (size_t arrived; queue.pop(arrived); ) {
          while (arrived-- > 0) {take();}
        }
      });
  }
  if (is_ping) {
    for (size_t subscriptions = 0; subscriptions == 0; ) {
      CHECK(rcl_publisher_get_subscription_count(&out, &subscriptions));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    for (long first = 0; first < under_way; ++first) {send(text_of(first, bytes));}
  }
  for (auto & thread : pool) {thread.join();}
  std::printf("%ld echoes\n", n);
  return 0;
}
