"""The numbers of AWS that the simulator keeps to and that the engine itself has no need of.

Sources: the SQS quotas page
(https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-quotas.html) and the pages named below.
"""

from datetime import timedelta

#: SQS, "Exactly-once processing": the deduplication interval of a FIFO queue.
DEDUPLICATION = timedelta(minutes=5)
#: SQS quotas: messages in flight; a standard queue answers OverLimit beyond it, a FIFO queue returns nothing more.
IN_FLIGHT = 120_000
#: SQS quotas: message attributes per message.
ATTRIBUTES = 10
#: API_StartMessageMoveTask: MaxNumberOfMessagesPerSecond.
MOVES_A_SECOND = 500
#: API_ListMessageMoveTasks: at most this many results.
LISTED_MOVES = 10
#: Lambda, "Configuring scaling behavior for SQS event source mappings": it starts with five invocations at once, adds
#: up to 300 a minute and ends at 1,250.
FIRST_CONCURRENCY = 5
CONCURRENCY_A_MINUTE = 300
HIGHEST_CONCURRENCY = 1_250
#: Lambda quotas: request and response of a synchronous invocation, in bytes.
INVOCATION_PAYLOAD = 6 * 1024 * 1024
#: Not documented by AWS ("after some time"): how long an idle environment lives here.
IDLE_ENVIRONMENT = timedelta(minutes=10)
#: EventBridge Scheduler, API_RetryPolicy: attempts beyond the first, and the age of an event, by default and at most.
SCHEDULER_RETRIES = 185
SCHEDULER_AGE = timedelta(days=1)
#: EventBridge Scheduler, "What is EventBridge Scheduler": 60-second precision.
SCHEDULER_PRECISION = timedelta(seconds=60)
