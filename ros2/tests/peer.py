"""An independent ROS 2 peer for the tests: rclpy, told what to do by lines of JSON.

Each line on the standard input is one command, {"id": .., "do": .., ..}; each line on the standard
output its answer, {"id": .., "ok": ..} or {"id": .., "error": ..}. A command that waits for something
has a "timeout" in seconds, and is an error when that is over. The methods do_* of Peer are the
commands; what they take is in their signatures.

    peer.py [NODE [NAMESPACE]]

Values are objects with a message's fields. A byte sequence of more than 1024 elements is
{"len": n, "first": b} both ways: bytes that count up from b, modulo 256. One that does not count up
is reported with "first": null.
"""

import base64
import array
import importlib
import json
import os
import queue
import signal
import sys
import threading
import time

import numpy
import rclpy
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import (DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile,
                       ReliabilityPolicy)

LONG = 1024
LONG_WAIT = 60.0  # seconds; only a failure takes as long


def find_type(name):
    package, kind, type_name = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), type_name)


def qos_of(given):
    given = dict(given or {})
    profile = QoSProfile(depth=given.pop("depth", 10))
    if given.pop("history", "keep_last") == "keep_all":
        profile.history = HistoryPolicy.KEEP_ALL
    if given.pop("reliability", "reliable") == "best_effort":
        profile.reliability = ReliabilityPolicy.BEST_EFFORT
    if given.pop("durability", "volatile") == "transient_local":
        profile.durability = DurabilityPolicy.TRANSIENT_LOCAL
    if given.pop("liveliness", "automatic") == "manual_by_topic":
        profile.liveliness = LivelinessPolicy.MANUAL_BY_TOPIC
    for field in ("deadline", "lifespan", "liveliness_lease_duration"):
        if field in given:
            setattr(profile, field, Duration(seconds=given.pop(field)))
    if given:
        raise ValueError(f"unknown QoS: {given}")
    return profile


def fill(message, value):
    """Sets the fields of a message that value names."""
    for name, part in value.items():
        setattr(message, name, filled(getattr(message, name), part, message, name))
    return message


def filled(old, part, message, name):
    if hasattr(old, "get_fields_and_field_types"):
        return fill(old, part)
    if isinstance(part, dict):  # a long sequence of bytes
        counted = (numpy.arange(part["len"], dtype=numpy.uint64) + part["first"]) % 256
        return array.array("B", counted.astype(numpy.uint8).tobytes())
    if isinstance(part, list) and part and isinstance(part[0], dict):
        kind = message.get_fields_and_field_types()[name]
        kind = kind.removeprefix("sequence<").split("[")[0].split(",")[0].rstrip(">")
        package, short = kind.split("/")[0], kind.split("/")[-1]
        return [fill(find_type(f"{package}/msg/{short}")(), element) for element in part]
    if isinstance(old, bytes):
        return bytes([part])
    if isinstance(old, list) and message.get_fields_and_field_types()[name].startswith(
            ("sequence<octet", "octet[")):
        return [bytes([element]) for element in part]
    if isinstance(old, float):
        return float(part)
    return part


def plain(value):
    """A message as JSON can have it."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, bytes):
        return value[0] if len(value) == 1 else list(value)
    if isinstance(value, (array.array, numpy.ndarray)):
        if len(value) > LONG:
            data = numpy.frombuffer(value, dtype=numpy.uint8)
            expected = (numpy.arange(len(data), dtype=numpy.uint64) + int(data[0])) % 256
            counts = bool((data == expected).all())
            return {"len": len(data), "first": int(data[0]) if counts else None}
        return [plain(element) for element in value.tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(element) for element in value]
    return value


class Waiter:
    """A command that answers later: when look() returns something else than None."""

    def __init__(self, look, timeout, what):
        self.look, self.what = look, what
        self.end = time.monotonic() + timeout


class Peer:
    def __init__(self, name, namespace):
        rclpy.init()
        self.node = rclpy.create_node(name, namespace=namespace)
        self.group = ReentrantCallbackGroup()
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.publishers, self.subscriptions, self.received = {}, {}, {}
        self.events, self.clients, self.services, self.actions = {}, {}, {}, {}
        self.goals, self.waiters = {}, []
        self.feedback, self.finished = {}, set()
        self.leaves = False

    # Topics

    def do_publisher(self, topic, type, qos=None, events=False):
        callbacks = self.watch(PublisherEventCallbacks, topic, {
            "deadline": "deadline_missed", "incompatible_qos": "incompatible_qos",
            "liveliness": "liveliness_lost", "matched": "matched"}) if events else None
        self.publishers[topic] = self.node.create_publisher(
            find_type(type), topic, qos_of(qos), event_callbacks=callbacks)
        self.publishers[topic].kind = find_type(type)

    def do_publish(self, topic, value=None, count=1, field=None, first=0):
        """Publishes count messages; field gets their numbers, from first on."""
        publisher = self.publishers[topic]
        message = fill(publisher.kind(), value or {})
        for number in range(first, first + count):
            if field is not None:
                setattr(message, field, number if not isinstance(getattr(message, field), str)
                        else str(number))
            publisher.publish(message)

    def do_publish_bytes(self, topic, bytes):
        self.publishers[topic].publish(base64.b64decode(bytes))

    def do_acknowledged(self, topic, timeout=LONG_WAIT):
        """Whether all peers have what was published."""
        return self.publishers[topic].wait_for_all_acked(Duration(seconds=timeout))

    def do_unpublish(self, topic):
        self.node.destroy_publisher(self.publishers.pop(topic))

    def do_assert_liveliness(self, topic):
        self.publishers[topic].assert_liveliness()

    def do_subscribe(self, topic, type, qos=None, slow=0.0, raw=False, events=False, only=None):
        """Keeps what comes. slow: seconds that each message takes. only: keep this field."""
        kept = self.received.setdefault(topic, [])

        def keep(message):
            if raw:
                kept.append(base64.b64encode(message).decode())
            else:
                kept.append(plain(getattr(message, only) if only else message))
            time.sleep(slow)

        callbacks = self.watch(SubscriptionEventCallbacks, topic, {
            "deadline": "deadline_missed", "incompatible_qos": "incompatible_qos",
            "liveliness": "liveliness_changed", "message_lost": "message_lost",
            "matched": "matched"}) if events else None
        self.subscriptions[topic] = self.node.create_subscription(
            find_type(type), topic, keep, qos_of(qos), event_callbacks=callbacks, raw=raw)

    def do_unsubscribe(self, topic):
        self.node.destroy_subscription(self.subscriptions.pop(topic))

    def do_received(self, topic, at_least=1, timeout=LONG_WAIT):
        """What came and was not asked for yet, as soon as it is at_least so much."""
        def look():
            kept = self.received.get(topic, [])
            if len(kept) < at_least:
                return None
            answer = kept[:]
            kept.clear()
            return answer
        return Waiter(look, timeout, lambda: f"{len(self.received.get(topic, []))} messages")

    def do_matched(self, topic, at_least=1, timeout=LONG_WAIT):
        """Waits until the publisher or subscription of topic has so many peers."""
        def count():
            if topic in self.publishers:
                return self.publishers[topic].get_subscription_count()
            return self.node.count_publishers(topic)
        return Waiter(lambda: count() if count() >= at_least else None, timeout,
                      lambda: f"{count()} peers")

    def watch(self, callbacks, topic, names):
        def keeper(name):
            return lambda info: self.events.setdefault((topic, name), []).append(
                {key: str(part) if key == "last_policy_kind" else part
                 for key, part in ((key, getattr(info, key)) for key in dir(info)
                                   if not key.startswith("_")) if not callable(part)})
        return callbacks(**{key: keeper(name) for key, name in names.items()})

    def do_event(self, topic, name, timeout=LONG_WAIT):
        """The next event of the publisher or subscription, which was made with events: true."""
        def look():
            kept = self.events.get((topic, name))
            return kept.pop(0) if kept else None
        return Waiter(look, timeout, lambda: f"events {list(self.events)}")

    # Services

    def do_service(self, name, type, answer=None, hold=False, **qos):
        """Answers each request with what has the same name in it, and with answer. hold: never."""
        def respond(request, response):
            while hold:
                time.sleep(1)
            for field in response.get_fields_and_field_types():
                if hasattr(request, field):
                    setattr(response, field, getattr(request, field))
            return fill(response, answer or {})
        self.services[name] = self.node.create_service(find_type(type), name, respond,
                                                       qos_profile=qos_of(qos))

    def do_call(self, name, type, value=None, timeout=LONG_WAIT, again=None, **qos):
        """Waits for the service, calls it, and answers with its response. again: seconds after
        which it sends another request, because the response to a best-effort client may be lost."""
        kind = find_type(type)
        client = (self.clients.get(name)
                  or self.node.create_client(kind, name, qos_profile=qos_of(qos)))
        self.clients[name] = client
        state = {}

        def look():
            sent, future = state.get("call", (None, None))
            if future and future.done():
                return plain(future.result())
            if not future or again and time.monotonic() > sent + again:
                if client.service_is_ready():
                    future = client.call_async(fill(kind.Request(), value or {}))
                    state["call"] = (time.monotonic(), future)
            return None
        return Waiter(look, timeout, lambda: "called" if state else "no such service")

    def do_client_matched(self, name, at_least=1, timeout=LONG_WAIT):
        """Waits until service name can answer so many clients: rmw drops a response to a client
        whose half that reads responses has not been found within 100 ms of the request."""
        return Waiter(lambda: True if self.node.count_clients(name) >= at_least else None, timeout,
                      lambda: f"{self.node.count_clients(name)} clients")

    # Actions

    def do_action_server(self, name, type, result=None, feedback=None, hold=False, accept=True,
                         abort=False, waits=False):
        """Sends each of the feedbacks, then the result. hold: waits for a cancellation instead.
        waits: the result comes after do_finish, as rclpy drops feedback that a result overtakes."""
        kind = find_type(type)

        async def execute(goal):
            topic = f"{name}/_action/feedback"
            while feedback and not self.node.count_subscribers(topic):
                await self.pause()
            for value in feedback or []:
                await self.pause()
                goal.publish_feedback(fill(kind.Feedback(), value))
            while hold and not goal.is_cancel_requested:
                await self.pause()
            while waits and name not in self.finished:
                await self.pause()
            (goal.canceled if hold else goal.abort if abort else goal.succeed)()
            return fill(kind.Result(), result or {})

        self.actions[name] = ActionServer(
            self.node, kind, name, execute, callback_group=self.group,
            goal_callback=lambda _: GoalResponse.ACCEPT if accept else GoalResponse.REJECT,
            cancel_callback=lambda _: CancelResponse.ACCEPT)

    def do_finish(self, name):
        """Lets the goals of action name, which waits, have their result."""
        self.finished.add(name)

    def do_feedback(self, name, at_least=1, timeout=LONG_WAIT):
        """Waits until so much feedback has come for the goal that was sent to action name."""
        return Waiter(lambda: True if len(self.feedback.get(name, [])) >= at_least else None,
                      timeout, lambda: str(self.feedback.get(name)))

    def pause(self):
        """Something to await that is done at the next turn of the executor."""
        future = rclpy.Future(executor=self.executor)

        def done():
            future.set_result(None)
            timer.cancel()
            self.node.destroy_timer(timer)
        timer = self.node.create_timer(0.01, done, callback_group=self.group)
        return future

    def do_goal_client(self, name, type):
        """Makes the client of an action, so that its server can wait for it before a goal."""
        self.goals[name] = ActionClient(
            self.node, find_type(type), name, callback_group=self.group)

    def do_goal(self, name, type, value=None, cancel=False, feedback=0, timeout=LONG_WAIT):
        """Sends a goal; answers with its status, feedback and result. cancel: as soon as accepted.

        feedback: how many have to come; a result may overtake them.
        """
        kind = find_type(type)
        if name not in self.goals:
            self.do_goal_client(name, type)
        client = self.goals[name]
        state = {"feedback": []}
        self.feedback[name] = state["feedback"]

        def accepted(future):
            handle = future.result()
            if not handle.accepted:
                state["answer"] = {"accepted": False}
                return
            if cancel:
                handle.cancel_goal_async()
            handle.get_result_async().add_done_callback(finished)

        def finished(future):
            answer = future.result()
            state["answer"] = {"accepted": True, "status": answer.status,
                               "feedback": state["feedback"], "result": plain(answer.result)}

        def look():
            if "sent" not in state:
                if client.server_is_ready():
                    state["sent"] = client.send_goal_async(
                        fill(kind.Goal(), value or {}),
                        feedback_callback=lambda m: state["feedback"].append(plain(m.feedback)))
                    state["sent"].add_done_callback(accepted)
                return None
            return state.get("answer") if len(state["feedback"]) >= feedback else None
        return Waiter(look, timeout, lambda: str(state) if "sent" in state else "no such server")

    # The node and its graph

    def do_declare_parameter(self, name, value):
        self.node.declare_parameter(name, value)

    def do_get_parameter(self, name):
        return self.node.get_parameter(name).value

    def do_nodes(self):
        return sorted(f"{space.rstrip('/')}/{name}"
                      for name, space in self.node.get_node_names_and_namespaces())

    def do_wait_for_nodes(self, name, count=1, timeout=LONG_WAIT):
        return Waiter(lambda: True if self.do_nodes().count(name) == count else None, timeout,
                      lambda: f"nodes {self.do_nodes()}")

    def do_topics(self):
        return dict(self.node.get_topic_names_and_types())

    def do_endpoints(self, topic):
        def show(info):
            qos = info.qos_profile
            return {"node": info.node_name, "namespace": info.node_namespace,
                    "type": info.topic_type, "reliability": qos.reliability.name.lower(),
                    "durability": qos.durability.name.lower(),
                    "deadline": qos.deadline.nanoseconds, "lifespan": qos.lifespan.nanoseconds,
                    "liveliness": qos.liveliness.name.lower(),
                    "lease": qos.liveliness_lease_duration.nanoseconds}
        return {"publishers": [show(i) for i in self.node.get_publishers_info_by_topic(topic)],
                "subscriptions": [show(i) for i in self.node.get_subscriptions_info_by_topic(topic)]}

    def do_endpoints_of(self, topic, node, present=True, timeout=LONG_WAIT):
        """The endpoints of topic, as soon as one of them, or none, is known to be node's."""
        def look():
            seen = self.do_endpoints(topic)
            ends = seen["publishers"] + seen["subscriptions"]
            return seen if any(end["node"] == node for end in ends) == present else None
        return Waiter(look, timeout, lambda: f"endpoints {self.do_endpoints(topic)}")

    def do_count(self, topic, publishers, subscriptions, timeout=LONG_WAIT):
        """Waits until topic has just so many endpoints."""
        def count():
            return [self.node.count_publishers(topic), self.node.count_subscribers(topic)]
        return Waiter(lambda: True if count() == [publishers, subscriptions] else None, timeout,
                      lambda: f"{count()} publishers and subscriptions")

    def do_graph(self, part):
        """How many nodes and endpoints, those of services among them, have part in their names."""
        nodes = [name for name in self.node.get_node_names() if part in name]
        topics = self.node.get_topic_names_and_types(no_demangle=True)
        ends = [end for topic, _ in topics if part in topic
                for end in (self.node.get_publishers_info_by_topic(topic, no_mangle=True)
                            + self.node.get_subscriptions_info_by_topic(topic, no_mangle=True))]
        return [len(nodes), len(ends)]

    def do_wait_for_graph(self, part, seen, timeout=LONG_WAIT):
        return Waiter(lambda: True if self.do_graph(part) == seen else None, timeout,
                      lambda: f"{self.do_graph(part)} nodes and endpoints instead of {seen}")

    def do_come_and_go(self, topic, type, cycles):
        """Creates and destroys a node with a publisher and a subscription, so many times."""
        for _ in range(cycles):
            node = rclpy.create_node("guest", enable_rosout=False, start_parameter_services=False)
            node.create_publisher(find_type(type), topic, 10)
            node.create_subscription(find_type(type), topic, lambda message: None, 10)
            node.destroy_node()

    def do_resident(self):
        """The memory of this process that is in RAM, in bytes."""
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def do_log(self, severity, message):
        getattr(self.node.get_logger(), severity)(message)

    def do_sleep(self, seconds):
        """Hears nothing for so long: a peer that is slow."""
        time.sleep(seconds)

    def do_leave(self):
        self.leaves = True

    def do_kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    # The loop

    def answer(self, number, **what):
        print(json.dumps({"id": number, **what}), flush=True)

    def start(self, line):
        command = json.loads(line)
        number, name = command.pop("id"), command.pop("do")
        try:
            result = getattr(self, f"do_{name}")(**command)
        except Exception as error:  # every mistake is an answer
            return self.answer(number, error=f"{name}: {type(error).__name__}: {error}")
        if isinstance(result, Waiter):
            return self.waiters.append((number, result))
        self.answer(number, ok=result)

    def look(self):
        left = []
        for number, waiter in self.waiters:
            result = waiter.look()
            if result is not None:
                self.answer(number, ok=result)
            elif time.monotonic() > waiter.end:
                self.answer(number, error=f"time is up with {waiter.what()}")
            else:
                left.append((number, waiter))
        self.waiters = left

    def run(self):
        lines = queue.Queue()
        wake = self.node.create_guard_condition(lambda: None)

        def read():
            for line in sys.stdin:
                lines.put(line)
                wake.trigger()
            lines.put(None)
            wake.trigger()
        threading.Thread(target=read, daemon=True).start()
        self.answer(0, ok=self.node.get_fully_qualified_name())
        while not self.leaves:
            self.executor.spin_once(timeout_sec=0.01 if self.waiters else 1.0)
            while not lines.empty():
                line = lines.get()
                if line is None:
                    return
                self.start(line)
            self.look()


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "peer"
    Peer(name, sys.argv[2] if len(sys.argv) > 2 else "/").run()
    rclpy.shutdown()
