"""The numbers that AWS sets and the ones that this framework chose, each written once.

Sources: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-quotas.html,
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html,
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html.
"""

from datetime import timedelta

#: SQS counts visibility from the receive, up to 12 hours.
LONGEST_VISIBILITY = timedelta(hours=12)
#: Lambda ends every invocation by then.
LONGEST_TIMEOUT = timedelta(minutes=15)
#: SQS: delay of a single message or queue.
LONGEST_DELAY = timedelta(minutes=15)
#: SQS keeps a message from 60 s up to 14 days.
SHORTEST_RETENTION = timedelta(seconds=60)
LONGEST_RETENTION = timedelta(days=14)
#: SQS: one message, and all messages of one batch call together, in bytes of body and attributes.
LARGEST_MESSAGE = 1_048_576
#: SQS: entries in one batch call.
BATCH_CALL = 10
#: Event source mapping: records of a batch, on a FIFO queue and on a standard one.
LARGEST_FIFO_BATCH = 10
LARGEST_BATCH = 10_000
#: Event source mapping: a larger batch than this needs a window of at least 1 s.
BATCH_WITHOUT_WINDOW = 10
LONGEST_WINDOW = timedelta(seconds=300)
#: Event source mapping: MaximumConcurrency.
LEAST_CONCURRENCY, MOST_CONCURRENCY = 2, 1_000
#: Lambda: memory in MB.
LEAST_MEMORY, MOST_MEMORY = 128, 10_240
#: Lambda function names and IAM role names end at 64 characters; SQS queue names at 80.
LONGEST_FUNCTION_NAME = 64
LONGEST_QUEUE_NAME = 80

#: "Set the queue's visibility timeout to at least six times the function timeout" (Lambda developer guide), plus the
#: batching window.
VISIBILITY_FACTOR = 6
#: Ours. The dead-letter queue keeps a message as long as SQS can. A moved standard message keeps its first enqueue
#: time, so this must exceed every source queue's retention.
DEAD_LETTER_RETENTION = LONGEST_RETENTION
#: Ours: how long after the last chance of a redrive the ledger still knows an operation.
LEDGER_SLACK = timedelta(days=12)
#: Ours: a lease outlives the invocation's deadline by this much, since two machines' clocks differ.
LEASE_MARGIN = timedelta(seconds=2)
#: Ours: receives beyond the attempts, for fast-forwards, throttled claims and unstarted deliveries. Receives are cheap.
SPARE_RECEIVES = 5
#: Ours: on FIFO every receive of a blocked head counts for its followers too (rule P4), and a message waits by its
#: receives alone (rule P7), so the headroom is wider: fifty of up to 12 hours outlast every `give_up_after`.
SPARE_RECEIVES_FIFO = 50
#: Ours: each hand-over of a long run is a receive.
CURSOR_RECEIVES = 200
#: Ours: parts of an operation id beyond this many UTF-8 bytes together are hashed; DynamoDB's own limit for a
#: partition key is 2,048 bytes.
LONGEST_KEY = 1_024
#: Ours: a tenant or a group beyond this many UTF-8 bytes is refused. It stands in the ledger's item (DynamoDB takes
#: 400 KB) and in every line of the log.
LONGEST_TENANT = 1_024
#: Ours: a stored result beyond this many UTF-8 bytes is kept as a digest.
LARGEST_RESULT = 4_096
#: EventBridge Scheduler: MaximumEventAgeInSeconds (https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html).
SHORTEST_DELIVERY, LONGEST_DELIVERY = timedelta(seconds=60), timedelta(hours=24)
#: EventBridge Scheduler: the longest flexible time window.
LONGEST_FLEXIBLE = timedelta(hours=24)
#: Ours: deliveries of one tick that Scheduler may try; the queue takes nearly every first one.
TICK_RETRIES = 5
#: Ours: a tick that is older than a year is a backfill.
LONGEST_CATCH_UP = timedelta(days=365)
