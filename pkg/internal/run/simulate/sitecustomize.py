# Python imports this file before a program, from PYTHONPATH. In the operator's own
# program pauses pass in no time, on a clock that goes on by them, and the time is as
# much later as a test says. Random values are those of the simulation, because it is
# imported before the program's own module of that name.
import datetime
import os
import time

import chance  # noqa: F401

paused, later = [0.0], datetime.timedelta(seconds=float(os.environ.get("ARGOPERATOR_CLOCK_OFFSET", "0")))
sleep, monotonic = time.sleep, time.monotonic


def pause(seconds):
    paused[0] += seconds
    sleep(min(seconds, 0.001))  # others get their turn


class Moment(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + later


time.sleep, time.monotonic, datetime.datetime = pause, lambda: monotonic() + paused[0], Moment
