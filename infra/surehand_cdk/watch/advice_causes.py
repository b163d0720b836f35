# ruff: noqa: E501 - prose, one sentence of advice a line
"""What to do about each cause, and about the ledger."""

from __future__ import annotations

from collections.abc import Mapping

from .advice import LOGS, Entry

CAUSES: Mapping[str, Entry] = {
    "provider-outage": Entry(
        means="More than half of the attempts of {handler} fail on a provider, and the code does not.",
        see="The dashboard's row of {handler}: FailedProvider rises while FailedCode stays flat. The code in the log lines "
        "(`provider.timeout`, `provider.unavailable`, or your own) names the provider.",
        command="surehand dlq stats {handler} --stage {stage}",
        then="Look at the provider's status page. Nothing is lost: messages retry with backoff and become dead letters after "
        "max_attempts. When the provider is back, redrive by code: `surehand dlq redrive {handler} --class provider --reason WHY --execute --stage {stage}`; "
        "the canary stops by itself if it is not.",
        escalate="The provider has no open incident after 15 minutes, or dead letters exceed what a day can redrive.",
    ),
    "code-regression": Entry(
        means="Attempts of {handler} fail for all tenants alike, or the function does not start: a deployment or a contract "
        "broke it.",
        see="Compare the time of the first failure with the last deployment (`version` in the log lines); "
        "`error_type` and `raised_at` there say what was raised and where. A broken contract "
        "shows as failure codes `input.schema` or `data.*` over many tenants; a crash at start as Errors without log lines of ours.",
        command=LOGS % "code",
        then="Roll back first, understand later: deploy the previous version. Then redrive what died meanwhile: "
        "`surehand dlq redrive {handler} --class code --reason WHY --execute --stage {stage}`.",
        escalate="The rollback does not stop it within 10 minutes, or the failing producer belongs to another team.",
    ),
    "data-repair": Entry(
        means="Payloads of {handler} are refused as data, and it is not everybody's: particular data must be repaired.",
        see="`surehand dlq stats` shows one failure code at one tenant, or a few messages; the others succeed.",
        command="surehand dlq stats {handler} --stage {stage}",
        then="Read one: `surehand dlq show {handler} ID --stage {stage}`. Have the producer send it corrected (under a new key; a used "
        "one is a conflict), or park it: `surehand dlq park {handler} --tenant TENANT --reason WHY --execute --stage {stage}`. Redrive only what was wrong on our side.",
        escalate="The tenant's data keeps coming, or the number grows by more than ten an hour.",
    ),
    "stuck": Entry(
        means="Messages or ticks of {handler} wait for nobody: the mapping polls nothing, a lease ended unsettled, or a tick "
        "did not run.",
        see="Which signal is red tells which: mapping-dead, stuck-states, sched-missed, sched-unfinished or sched-dropped.",
        command="aws lambda get-event-source-mapping --uuid {mapping} --query '[State,StateTransitionReason]'",
        then="A disabled mapping: enable it (`aws lambda update-event-source-mapping --uuid {mapping} --enabled`). A stuck "
        "operation: `surehand ledger list --handler {handler} --stage {stage}`, then `surehand ledger release OPERATION --execute --reason ... --stage {stage}`.",
        escalate="The mapping is enabled and still polls nothing after 10 minutes: open a support case with its UUID.",
    ),
    "known-cause": Entry(
        means="Another cause of {handler} is red; this alarm only keeps its consequences quiet.",
        see="The cause that is red.",
        command="aws cloudwatch describe-alarms --alarm-name-prefix {function}- --alarm-types CompositeAlarm --state-value ALARM",
        then="Follow that one's heading.",
        escalate="Never: it notifies nobody.",
    ),
    "poison": Entry(
        means="A few messages of {handler} became dead letters, and no larger cause explains it.",
        see="`surehand dlq list` shows them with operation, attempts and failure code; all others succeed.",
        command="surehand dlq list {handler} --stage {stage}",
        then="Read the failure code and the operation's history (`surehand ledger show OPERATION --stage {stage}`). `crash.poison` means that it "
        "killed its process three times. Fix the code, deploy, then `surehand dlq redrive {handler} --id ID --reason WHY --execute --stage {stage}`.",
        escalate="The same code comes back after the fix, or `crash.poison` appears for more than three operations.",
    ),
    "backlog": Entry(
        means="The queue of {handler} grows or its oldest message waits too long, while attempts succeed: too much work or too "
        "little capacity.",
        see="The dashboard: sent above deleted (surge), or deleted fell (capacity). Saturated concurrency or a longer Duration say "
        "which. If only noisy-tenant is red too, one tenant fills the queue.",
        command="aws sqs get-queue-attributes --queue-url $(aws sqs get-queue-url --queue-name {queue} --query QueueUrl --output text) "
        "--attribute-names ApproximateNumberOfMessages ApproximateNumberOfMessagesNotVisible",
        then="Raise max_concurrency in the declaration (and reserved concurrency with it) and deploy; look for a slow dependency "
        "if Duration rose.",
        escalate="The drain time on the dashboard exceeds the queue's retention: messages would be deleted unprocessed.",
    ),
}

SERVICE: Mapping[str, Entry] = {
    "ledger-throttled": Entry(
        means="DynamoDB throttles the ledger {table}; nothing runs unclaimed, so every handler waits.",
        see="ReadThrottleEvents and WriteThrottleEvents. The causes of the handlers stay quiet meanwhile.",
        command="aws dynamodb describe-table --table-name {table} --query 'Table.[BillingModeSummary,OnDemandThroughput]'",
        then="On demand doubles its limit within half an hour by itself. A maximum that was set, or the account's limit, must be raised.",
        escalate="It lasts longer than 30 minutes.",
    ),
    "sched-undelivered": Entry(
        means="Scheduler could not deliver a tick; it lies in {dlq}, and no handler has seen it.",
        see="ApproximateNumberOfMessagesVisible of the schedules' dead-letter queue. The message's attributes name the error.",
        command="aws sqs get-queue-attributes --queue-url $(aws sqs get-queue-url --queue-name {dlq} --query QueueUrl --output text) --attribute-names All",
        then="Usually the target queue or the schedule's role is wrong (rule S08). Fix it, then send the ticks again: `surehand backfill HANDLER --from ... --to ... --stage {stage}`.",
        escalate="Ticks still end there after the fix.",
    ),
    "webhook-errors": Entry(
        means="The ingress of the webhooks fails: invocations end without an answer.",
        see="Errors of {ingress}. Senders get a 5xx and will send again.",
        command="aws logs tail /aws/lambda/{ingress} --since 30m --filter-pattern '?ERROR ?Task ?Runtime'",
        then="A deployment broke it, or it cannot read its secrets (SecretsFailed). Roll back; nothing that was answered with 2xx is lost.",
        escalate="It lasts longer than the shortest sender's retries.",
    ),
    "webhook-throttles": Entry(
        means="Lambda refuses invocations of the ingress.",
        see="Throttles of {ingress}, against its reserved concurrency.",
        command="aws lambda get-function-concurrency --function-name {ingress}",
        then="Raise Edge(concurrency=...), or the account's limit. A flood is bounded by the API's throttling before it comes here.",
        escalate="Senders report failures.",
    ),
    "webhook-slow": Entry(
        means="One in a hundred webhook requests takes over two seconds, and the shortest senders' deadlines are three.",
        see="Duration of {ingress}, p99.",
        command="aws logs tail /aws/lambda/{ingress} --since 30m --filter-pattern '{{ $.duration_ms > 2000 }}'",
        then="Cold starts: raise Edge(memory=...). Slow SQS or Secrets Manager show in waited_ms.",
        escalate="Senders disable the endpoint.",
    ),
    "ledger-hot-key": Entry(
        means="One key of the ledger {table} takes more than a partition gives.",
        see="The KeyRange throttle events.",
        command="aws dynamodb update-contributor-insights --table-name {table} --contributor-insights-action ENABLE",
        then="Many deliveries of one operation at once: find the producer that sends it. Never key by tenant alone.",
        escalate="With ledger-throttled.",
    ),
    "ledger-errors": Entry(
        means="DynamoDB itself fails on the ledger {table}.",
        see="SystemErrors, and the AWS health dashboard.",
        command="aws health describe-events --filter services=DYNAMODB",
        then="Wait: messages are put back and come again. Nothing runs unclaimed.",
        escalate="It lasts longer than the queues' give_up_after.",
    ),
}
