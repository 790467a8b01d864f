// Takes the listener from a participant while its discovery callback runs; see fast_dds_wait.c. It hangs if the wait
// for the callback keeps the callback from returning.
#include <chrono>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <future>
#include <memory>
#include <thread>

using namespace eprosima::fastdds::dds;

struct Listener : DomainParticipantListener
{
    std::promise<void> entered;
    bool has_entered = false;

    void on_participant_discovery(DomainParticipant *, eprosima::fastrtps::rtps::ParticipantDiscoveryInfo &&) override
    {
        if (has_entered) return;
        has_entered = true;
        entered.set_value();
        // There is no sign that the other thread waits; a callback that returns before it does proves nothing.
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
};

int main()
{
    Listener listener;
    auto *factory = DomainParticipantFactory::get_instance();
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    DomainParticipantQos qos;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    auto *participant = factory->create_participant(DOMAIN, qos, &listener);
    auto *peer = factory->create_participant(DOMAIN, qos);
    listener.entered.get_future().wait();
    participant->set_listener(nullptr);
    factory->delete_participant(peer);
    factory->delete_participant(participant);
}
