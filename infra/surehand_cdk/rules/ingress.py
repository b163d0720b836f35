"""What faces the internet."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import MARK, Assembly, location
from .ownership import integration_function
from .rule import Level, Scope, Verdict, refuse, rule
from .template import Edit, Resource

LONGEST_ANSWER = 29
"""Seconds. An HTTP API gives an integration 30 s and then answers 503 whatever the function does."""


def _urls(a: Assembly) -> Iterator[Resource]:
    return a.resources("AWS::Lambda::Url")


def _integrations(a: Assembly) -> Iterator[Resource]:
    return a.resources("AWS::ApiGatewayV2::Integration")


def _stages(a: Assembly) -> Iterator[Resource]:
    return a.resources("AWS::ApiGatewayV2::Stage")


def _closed(a: Assembly, url: Resource) -> Iterator[Verdict]:
    if a.value(url, "AuthType") == "NONE":
        yield refuse(
            url,
            location("AuthType"),
            "a function URL that anyone may call, without throttling in front",
            fix="the HTTP API of surehand_cdk's webhooks (throttled, logged), or AuthType AWS_IAM",
            edits=[url.put("AuthType", value="AWS_IAM")],
        )


def _throttled(a: Assembly, stage: Resource) -> Iterator[Verdict]:
    rate = a.value(stage, "DefaultRouteSettings", "ThrottlingRateLimit")
    burst = a.value(stage, "DefaultRouteSettings", "ThrottlingBurstLimit")
    if not rate or not burst:
        yield refuse(
            stage,
            location("DefaultRouteSettings"),
            "no throttling of its own: strangers can spend the account's request limit, 10 000 a second",
            fix="throttle=ThrottleSettings(rate_limit=100, burst_limit=200)",
            edits=[
                stage.put("DefaultRouteSettings", "ThrottlingRateLimit", value=100),
                stage.put("DefaultRouteSettings", "ThrottlingBurstLimit", value=200),
            ],
        )


def _logged(a: Assembly, stage: Resource) -> Iterator[Verdict]:
    if not a.value(stage, "AccessLogSettings", "DestinationArn"):
        id = f"{stage.id}AccessLog"
        yield refuse(
            stage,
            location("AccessLogSettings"),
            "no access log: a webhook that was refused before the function leaves no trace",
            fix="access_log_settings= a log group with retention",
            edits=[
                Edit(
                    template=stage.template,
                    path=("Resources", id),
                    value={"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30}},
                ),
                stage.put(
                    "AccessLogSettings",
                    value={
                        "DestinationArn": {"Fn::GetAtt": [id, "Arn"]},
                        "Format": "$context.requestId $context.status",
                    },
                ),
            ],
        )


def _answers_in_time(a: Assembly, integration: Resource) -> Iterator[Verdict]:
    function = integration_function(a, integration)
    if isinstance(function, Resource):
        timeout = a.number(function, "Timeout", default=3)
        if timeout > LONGEST_ANSWER:
            yield refuse(
                function,
                location("Timeout"),
                f"timeout {timeout} s behind an HTTP API, which answers 503 after 30 s while the function goes on",
                fix=f"timeout=Duration.seconds({LONGEST_ANSWER}) or less",
                edits=[function.put("Timeout", value=LONGEST_ANSWER)],
            )


def _past_no_queue(a: Assembly, integration: Resource) -> Iterator[Verdict]:
    function = integration_function(a, integration)
    if isinstance(function, Resource) and MARK in a.variables(function):
        yield refuse(
            integration,
            location("IntegrationUri"),
            f"calls the handler {function.construct_path} directly: what it answered 200 to is in no queue",
            fix="a @webhook declaration; the ingress stores the request in the handler's queue before it answers",
        )


RULES = (
    rule(
        "W01", "No function URL without authentication", scope=Scope.ANY,
        why="a function URL has neither throttling nor a firewall of its own",
        fix="an HTTP API with throttling, or AuthType AWS_IAM",
        source=sources.LAMBDA_URL, over=_urls, judge=_closed,
    ),
    rule(
        "W02", "The webhook API is throttled",
        why="what strangers may send is bounded at the edge, before it costs an invocation",
        fix="ThrottlingRateLimit and ThrottlingBurstLimit on the stage",
        source=sources.API_THROTTLING, over=_stages, judge=_throttled,
    ),
    rule(
        "W03", "The webhook API logs its requests", level=Level.WARNING,
        why="the sender's dashboard says 503, and nothing here does",
        fix="AccessLogSettings with a log group",
        source=sources.API_LOGGING, over=_stages, judge=_logged,
    ),
    rule(
        "W04", "The ingress ends before the API gives up on it",
        why="an answer after 30 s is a 503 to the sender, who then sends again what was already stored",
        fix="ingress timeout <= 29 s",
        source=sources.API_LIMITS, over=_integrations, judge=_answers_in_time,
    ),
    rule(
        "W06", "No API calls a handler directly",
        why="nothing may be answered 2xx before SQS has it",
        fix="API -> ingress -> queue -> handler",
        source=sources.DESIGN, over=_integrations, judge=_past_no_queue,
    ),
)  # fmt: skip
