"""Every schedule, in the order of the table."""

from bench.versus.schedule import Schedule
from bench.versus.schedules.compositions import COMPOSITIONS
from bench.versus.schedules.crashes import CRASHES
from bench.versus.schedules.deliveries import DELIVERIES
from bench.versus.schedules.failures import FAILURES
from bench.versus.schedules.inputs import INPUTS

SCHEDULES: tuple[Schedule, ...] = (*DELIVERIES, *CRASHES, *FAILURES, *INPUTS, *COMPOSITIONS)
