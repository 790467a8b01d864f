// A wait without end for the Fast DDS of the wheels, to which scripts/ros2-env links it.
//
// Fast DDS 2.14 waits until the latest time of the monotonic clock for a discovery callback to return before it
// takes the listener from a participant. The wheels are built for glibc 2.28, in which that time is converted to
// the clock of a condition variable, and overflows. The wait then fails at once and keeps its mutex, over and over;
// the callback needs that mutex to return, and so the end of a context never comes (Fast DDS issue 6513).
#include <pthread.h>
#include <time.h>

int ringspin_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end)
{
    return end->tv_sec < 0 ? pthread_cond_wait(condition, mutex) : pthread_cond_timedwait(condition, mutex, end);
}
