"""What faces the internet: an HTTP API with one route for each webhook source, throttled and logged.

Sources: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-throttling.html and
`http-api-logging.html` there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from surehand.declare.ingress import INGRESS_MEMORY, paths
from surehand.webhooks.source import Source
from surehand_cdk.acknowledged import acknowledge

#: The access log says neither the query string, which may carry a token, nor the path, which is a stranger's text.
ACCESS = {
    "requestId": "$context.requestId",
    "time": "$context.requestTime",
    "ip": "$context.identity.sourceIp",
    "route": "$context.routeKey",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "latency_ms": "$context.responseLatency",
    "integration_ms": "$context.integrationLatency",
    "error": "$context.integrationErrorMessage",
}
ROUTES: Mapping[str, str] = {
    "AwsSolutions-APIG4": "A webhook is authorised by its signature, which the ingress verifies over the raw bytes.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """What a flood of requests may cost.

    *rate* and *burst* are requests a second, and at once, over all sources; *source_rate* and *source_burst* those of
    one source. Beyond them API Gateway itself answers 429. *concurrency* reserves that many executions for the
    ingress and lets it have no more; None leaves it to the account. *memory* is in MB: much below 1,024 a cold start
    outlasts the shortest of the senders' deadlines. *snap_start* lets the ingress start from a snapshot.
    """

    rate: float = 200
    burst: int = 400
    source_rate: float = 100
    source_burst: int = 200
    concurrency: int | None = None
    memory: int = INGRESS_MEMORY
    snap_start: bool = False


def http_api(
    scope: Construct,
    name: str,
    sources: Sequence[Source],
    *,
    function: lambda_.IFunction,
    log: logs.LogGroup,
    edge: Edge,
) -> tuple[apigateway.HttpApi, apigateway.HttpStage]:
    """Return the API called *name*, whose routes are the sources' paths and nothing else, and its stage.

    Any method is let through, because the ingress answers 405 and says which it takes; any other path is API Gateway's
    own 404, which costs no invocation.
    """
    api = apigateway.HttpApi(
        scope, "Api", api_name=name, description="Webhooks, stored before they are answered", create_default_stage=False
    )
    integration = integrations.HttpLambdaIntegration("Ingress", function, scope_permission_to_route=False)
    routes = {
        path: apigateway.HttpRoute(
            scope,
            f"Route{number}",
            http_api=api,
            route_key=apigateway.HttpRouteKey.with_(path, apigateway.HttpMethod.ANY),
            integration=integration,
        )
        for number, path in enumerate(paths(sources))
    }
    stage = apigateway.HttpStage(
        scope,
        "Stage",
        http_api=api,
        stage_name="$default",
        auto_deploy=True,
        throttle=apigateway.ThrottleSettings(rate_limit=edge.rate, burst_limit=edge.burst),
    )
    stage.node.add_dependency(*routes.values())  # a setting for a route that is not there yet fails the deployment
    low = cast("apigateway.CfnStage", stage.node.default_child)
    low.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
        destination_arn=log.log_group_arn, format=json.dumps(ACCESS, separators=(",", ":"))
    )
    limits: dict[str, Any] = {"ThrottlingRateLimit": edge.source_rate, "ThrottlingBurstLimit": edge.source_burst}
    low.route_settings = {f"ANY {path}": limits for path in routes}
    for route in routes.values():
        acknowledge(route, ROUTES)
    return api, stage
