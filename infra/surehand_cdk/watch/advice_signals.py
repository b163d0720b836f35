# ruff: noqa: E501 - prose, one sentence of advice a line
"""What to do about each signal of a handler."""

from __future__ import annotations

from collections.abc import Mapping

from .advice import LOGS, Entry

SIGNALS: Mapping[str, Entry] = {
    "backlog-age": Entry(
        means="The oldest message of {handler} waits longer than it should.",
        see="ApproximateAgeOfOldestMessage. It skips messages that were received three times, so it does not see poison.",
        command="surehand dlq ls --stage {stage}",
        then="Feeds the cause backlog; in the lean profile it notifies by itself: follow that heading.",
        escalate="As for backlog.",
    ),
    "backlog-growth": Entry(
        means="More messages of {handler} arrive than are done, and a crowd waits.",
        see="NumberOfMessagesSent above NumberOfMessagesDeleted for ten of fifteen minutes.",
        command="surehand dlq ls --stage {stage}",
        then="Feeds the cause backlog: follow that heading.",
        escalate="As for backlog.",
    ),
    "mapping-dead": Entry(
        means="Messages of {handler} are visible and the mapping fetches none.",
        see="PolledEventCount is 0 or missing while ApproximateNumberOfMessagesVisible is not.",
        command="aws lambda get-event-source-mapping --uuid {mapping} --query '[State,StateTransitionReason]'",
        then="Feeds the cause stuck. Enable the mapping, or give the function's role back what it lost.",
        escalate="As for stuck.",
    ),
    "concurrency-saturation": Entry(
        means="{handler} runs at its maximum concurrency.",
        see="ConcurrentExecutions against max_concurrency.",
        command="aws lambda get-event-source-mapping --uuid {mapping} --query ScalingConfig",
        then="Harmless while the queue is short. With a backlog, raise max_concurrency in the declaration.",
        escalate="Only with backlog.",
    ),
    "noisy-tenant": Entry(
        means="One tenant's load delays {handler}; the quiet tenants do not wait.",
        see="ApproximateAgeOfOldestMessage is high, ApproximateAgeOfOldestMessageInQuietGroups is not.",
        command="aws logs tail /aws/lambda/{function} --since 10m --filter-pattern '{{ $.event = \"delivery\" }}'",
        then="Fair queues keep the others served. Ask the tenant, or raise max_concurrency.",
        escalate="The quiet tenants' age rises as well.",
    ),
    "provider-rate": Entry(
        means="More than half of the attempts of {handler} fail on a provider.",
        see="FailedProvider against Attempts.",
        command=LOGS % "provider",
        then="Feeds the cause provider-outage: follow that heading.",
        escalate="As for provider-outage.",
    ),
    "code-rate": Entry(
        means="More than a tenth of the attempts of {handler} fail in the code.",
        see="FailedCode against Attempts; more failures than two messages can cause.",
        command=LOGS % "code",
        then="Feeds the causes code-regression and data-repair.",
        escalate="As for code-regression.",
    ),
    "data-rate": Entry(
        means="More than a fifth of the attempts of {handler} are refused as data.",
        see="FailedData against Attempts.",
        command=LOGS % "data",
        then="Over all tenants it is a broken contract (code-regression), at one tenant it is data-repair.",
        escalate="As for the cause.",
    ),
    "data-count": Entry(
        means="{handler} refused payloads as data.",
        see="FailedData in the last quarter of an hour.",
        command=LOGS % "data",
        then="Feeds the cause data-repair: follow that heading.",
        escalate="As for data-repair.",
    ),
    "concentrated": Entry(
        means="Most failures of {handler} have one code and one tenant.",
        see="The Contributor Insights rule {function}-failures.",
        command="aws cloudwatch get-insight-rule-report --rule-name {function}-failures --period 900 "
        "--start-time $(date -u -d '-15 min' +%FT%TZ) --end-time $(date -u +%FT%TZ)",
        then="Turns code-regression into data-repair. If one tenant is most of your traffic, it says nothing: look at both.",
        escalate="As for the cause.",
    ),
    "spread": Entry(
        means="Failures of {handler} are spread over tenants.",
        see="The Contributor Insights rule {function}-failures: no pair of code and tenant has more than four fifths.",
        command="aws cloudwatch get-insight-rule-report --rule-name {function}-failures --period 900 "
        "--start-time $(date -u -d '-15 min' +%FT%TZ) --end-time $(date -u +%FT%TZ)",
        then="Feeds the cause code-regression of handlers with little traffic.",
        escalate="As for code-regression.",
    ),
    "fn-error-rate": Entry(
        means="Invocations of {handler} end without an answer: it does not start, times out or is killed.",
        see="Errors against Invocations. Partial batch failures are not in Errors.",
        command="aws logs tail /aws/lambda/{function} --since 30m --filter-pattern '?INIT_REPORT ?Task ?Runtime'",
        then="Feeds the cause code-regression. Out of memory: raise memory. Timeouts: the soft deadline should have come first, "
        "so something blocks in native code.",
        escalate="As for code-regression.",
    ),
    "fn-errors": Entry(
        means="Invocations of {handler} end without an answer.",
        see="Errors in two of three periods of five minutes (lean profile).",
        command="aws logs tail /aws/lambda/{function} --since 30m",
        then="As for fn-error-rate.",
        escalate="As for code-regression.",
    ),
    "mapping-failures": Entry(
        means="{handler} keeps putting messages back.",
        see="FailedInvokeEventCount for a quarter of an hour (lean profile). A few retries are usual.",
        command="aws logs tail /aws/lambda/{function} --since 15m --filter-pattern '{{ $.failure_code = * }}'",
        then="Read the failure codes; their class says provider, code or data.",
        escalate="With dlq-arrivals.",
    ),
    "throttles": Entry(
        means="Lambda refuses invocations of {handler}.",
        see="Throttles, for five minutes. Each one burns a receive of healthy messages.",
        command="aws lambda get-function-concurrency --function-name {function}",
        then="Reserved concurrency must cover max_concurrency (rule F09). Else another function uses up the account's limit.",
        escalate="The account's limit is reached: ask for a raise, and name the function that takes it.",
    ),
    "near-timeout": Entry(
        means="Invocations of {handler} take over nine tenths of the timeout.",
        see="Duration, maximum.",
        command="aws lambda get-function-configuration --function-name {function} --query '[Timeout,MemorySize]'",
        then="A smaller batch_size, a longer timeout, or a cursor for work that is long by nature.",
        escalate="With fn-error-rate.",
    ),
    "recursion": Entry(
        means="Lambda stopped a loop through {handler}.",
        see="RecursiveInvocationsDropped.",
        command="aws logs tail /aws/lambda/{function} --since 10m",
        then="A handler sends to a queue that leads back to it, under new keys each time. Stop the sender, then drain the queue.",
        escalate="The loop spends money: at once.",
    ),
    "dlq-arrivals": Entry(
        means="Messages of {handler} became dead letters.",
        see="DeadLettered, or the dead-letter queue's content rose (seen and in flight together, so a look at it does not count).",
        command="surehand dlq list {handler} --stage {stage}",
        then="Feeds the cause poison; in the lean profile it notifies by itself: follow that heading.",
        escalate="As for poison.",
    ),
    "dlq-not-empty": Entry(
        means="Dead letters of {handler} wait for a decision.",
        see="ApproximateNumberOfMessagesVisible of {dlq}.",
        command="surehand dlq stats {handler} --stage {stage}",
        then="Redrive, park or purge them, each with a plan: `surehand dlq plan {handler} --all --output plan.json --stage {stage}`.",
        escalate="Nobody knows what they are after a day.",
    ),
    "dlq-expiring": Entry(
        means="SQS will delete dead letters of {handler} within days, in silence.",
        see="The oldest dead letter's age since its move. On a standard queue it expires by its first enqueue time, which is earlier.",
        command="surehand dlq export {handler} --all --output dead-letters --stage {stage}",
        then="Export them first, then decide. A redrive starts their retention anew.",
        escalate="At once, if they are worth money.",
    ),
    "dlq-stale": Entry(
        means="Dead letters of {handler} lie untouched for three days.",
        see="The dead-letter queue was never empty in 72 hours.",
        command="surehand dlq stats {handler} --stage {stage}",
        then="Decide: redrive, park or purge.",
        escalate="To the owner of the handler.",
    ),
    "stuck-states": Entry(
        means="Operations of {handler} have a lease that ended and nobody took over, or the sweep itself is dead.",
        see="StuckStates. No data at all is an alarm too: without the sweep nobody would know.",
        command="surehand ledger sweep --stage {stage}",
        then="Feeds the cause stuck. Their messages come back by themselves or are dead letters; `surehand ledger release` frees one.",
        escalate="The number grows over an hour.",
    ),
    "sched-missed": Entry(
        means="{handler} did not run when it should have.",
        see="ScheduleRan: no tick in one and a quarter of its interval.",
        command="aws scheduler list-schedules --group-name {group}",
        then="Is the schedule enabled, and is its tick in its dead-letter queue? Backfill: `surehand backfill {handler} --from ... --to ... --stage {stage}`.",
        escalate="The next tick is missed as well.",
    ),
    "sched-late": Entry(
        means="A tick of {handler} began more than five minutes after its moment.",
        see="TickLag. Before catch_up has passed it still runs, later it is skipped (ScheduleSkipped).",
        command="surehand dlq ls --stage {stage}",
        then="The queue has a backlog, or the function was throttled or failing when the tick came.",
        escalate="Ticks are skipped.",
    ),
    "sched-unfinished": Entry(
        means="{handler} started a tick and did not finish one in time.",
        see="ScheduleFinished: nothing in one and a quarter of its interval.",
        command="surehand ledger list --handler {handler} --stage {stage}",
        then="A run may have handed over its cursor many times: `schedule.no_progress` and `schedule.too_long` say so.",
        escalate="Two ticks overlap and the handler is not made for it.",
    ),
    "sched-dropped": Entry(
        means="EventBridge Scheduler gave up a tick of {handler}.",
        see="InvocationDroppedCount of the schedule group, or a tick that did not fit into the schedule's dead-letter queue.",
        command="aws scheduler list-schedules --group-name {group}",
        then="The target queue or the schedule's role is wrong (rule S08). Fix it, then backfill.",
        escalate="The role is right and ticks are still dropped.",
    ),
    "webhook-mismatch": Entry(
        means="More than one in twenty requests to {handler} has a wrong signature.",
        see="Mismatched against Received. A rotated secret shows as a step, an attack as noise.",
        command="aws logs tail /aws/lambda/{ingress} --since 30m --filter-pattern '{{ $.source = \"{handler}\" }}'",
        then="Compare the secret with the sender's dashboard; rotate by adding the new one as current and keeping the old as previous.",
        escalate="The secret is right: tell the sender, and security if the requests are not theirs.",
    ),
    "webhook-not-stored": Entry(
        means="A request to {handler} could not be put into its queue.",
        see="EnqueueFailed. The sender got a 5xx and will send again.",
        command="aws sqs get-queue-attributes --queue-url $(aws sqs get-queue-url --queue-name {queue} --query QueueUrl --output text) "
        "--attribute-names All",
        then="Does the queue exist, and may the ingress send to it? SQS itself being away ends by itself.",
        escalate="It lasts longer than the sender's retries.",
    ),
    "webhook-silence": Entry(
        means="{handler} has received nothing for an unusual time.",
        see="Accepted. Many senders disable an endpoint after failures and say so in an e-mail only.",
        command="aws logs tail /aws/lambda/{ingress} --since 30m --filter-pattern '{{ $.source = \"{handler}\" }}'",
        then="Look at the endpoint's state in the sender's dashboard and have it send a test event.",
        escalate="The sender says that it sends.",
    ),
}
