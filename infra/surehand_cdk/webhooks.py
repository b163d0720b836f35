"""A service's webhooks: one HTTP API, one ingress function for all sources, and the bucket of large bodies.

The function may send to its queues, put under its prefixes and read its secrets, and nothing else. The secrets are not
made here: their values come from the senders, and no template may hold them.

Source: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from surehand import DeclarationError, Handler, Service
from surehand.declare import derived, physical_name, queue_variable
from surehand.declare.ingress import INGRESS, INGRESS_HANDLER, bodies_kept, ingress_timeout, sources_of
from surehand.declare.limits import LONGEST_QUEUE_NAME
from surehand.declare.verifiers import places_of
from surehand.webhooks.config import dump_sources
from surehand.webhooks.source import Source
from surehand_cdk.acknowledged import FUNCTION, TRACING, acknowledge
from surehand_cdk.edge import Edge, http_api
from surehand_cdk.keeping import Keeping, admit_logs
from surehand_cdk.snapshot import published
from surehand_cdk.webhook_permissions import may_fetch, may_receive

#: Lambda: all environment variables of a function together, in bytes.
#: Source: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
MOST_ENVIRONMENT = 4_096
#: What a value that is known only after deployment comes to at most: a queue's URL.
_LATER = len("https://sqs.ap-southeast-1.amazonaws.com/000000000000/") + LONGEST_QUEUE_NAME
BODIES: Mapping[str, str] = {
    "AwsSolutions-S1": "Only the ingress writes here, and the API's access log says who was at the door.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the service gives to its webhooks. *queues* and *functions* are those of the handlers, by name."""

    service: Service
    stage: str
    version: str
    queues: Mapping[str, sqs.IQueue]
    functions: Mapping[str, lambda_.Function]
    code: s3_assets.Asset
    keeping: Keeping


class Webhooks(Construct):
    """One ingress for all sources. A custom domain is mapped to `api` and `stage`, in plain CDK.

    `function` is the ingress, and `alias` what the API calls with SnapStart; `bodies` holds what does not fit into a
    message; `access_log` says of every request that reached the API how it was answered.

    Raises:
        DeclarationError: The sources do not fit into an environment, or a scheme's verifier cannot be found.
    """

    def __init__(self, scope: Construct, id: str, around: Surroundings, *, edge: Edge) -> None:
        super().__init__(scope, id)
        self._around = around
        service, stage = around.service.name, around.stage
        self._handlers = webhook_handlers(around.service)
        self.sources = sources_of(self._handlers, service=service, stage=stage)
        name = physical_name(service, stage, INGRESS)
        self.bodies = self._bucket()
        self.log_group = self._logs("Logs", f"/aws/lambda/{name}")
        # A name under /aws/vendedlogs/ needs no entry in the logs' resource policy, which is limited in size.
        self.access_log = self._logs("AccessLog", f"/aws/vendedlogs/apis/{name}")
        self.function = self._ingress(name, edge)
        self.alias = published(self, self.function) if edge.snap_start else None
        self.api: apigateway.HttpApi
        self.stage: apigateway.HttpStage
        self.api, self.stage = http_api(
            self, name, self.sources, function=self.alias or self.function, log=self.access_log, edge=edge
        )
        self._let_handlers_fetch()

    def _bucket(self) -> s3.Bucket:
        """Return the bucket: private, encrypted, and forgetting bodies when no message can point at them any more."""
        keeping = self._around.keeping
        kept = bodies_kept(self._around.service.handlers)
        bucket = s3.Bucket(
            self,
            "Bodies",
            encryption=s3.BucketEncryption.S3_MANAGED if keeping.key is None else s3.BucketEncryption.KMS,
            encryption_key=keeping.key,
            bucket_key_enabled=keeping.key is not None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            removal_policy=keeping.removal,
            lifecycle_rules=[s3.LifecycleRule(id="forget", expiration=Duration.days(kept.days))],
        )
        acknowledge(bucket, BODIES)
        return bucket

    def _logs(self, id: str, name: str) -> logs.LogGroup:
        keeping = self._around.keeping
        if keeping.key is not None:
            admit_logs(keeping.key, Stack.of(self), name)
        return logs.LogGroup(
            self,
            id,
            log_group_name=name,
            retention=keeping.log_retention,
            removal_policy=keeping.removal,
            encryption_key=keeping.key,
        )

    def _ingress(self, name: str, edge: Edge) -> lambda_.Function:
        code = self._around.code
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        queues = [self._around.queues[source.name] for source in self.sources]
        for statement in may_receive(
            self.sources, queues, self.bodies, log_group=self.log_group, key=self._around.keeping.key
        ):
            role.add_to_policy(statement)
        function = lambda_.Function(
            self,
            "Function",
            function_name=name,
            description="Verifies webhooks and stores them in their handlers' queues",
            handler=INGRESS_HANDLER,
            code=lambda_.Code.from_bucket_v2(code.bucket, code.s3_object_key),
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            memory_size=edge.memory,
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if edge.snap_start else None,
            timeout=Duration.seconds(ingress_timeout(self.sources).total_seconds()),
            reserved_concurrent_executions=edge.concurrency,
            role=role,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE,
            environment=self._environment(),
        )
        code.add_resource_metadata(cast("lambda_.CfnFunction", function.node.default_child), "Code")
        acknowledge(function, FUNCTION)
        acknowledge(role, TRACING)
        self._acknowledge_prefixes(function, self.sources)
        return function

    def _environment(self) -> dict[str, str]:
        around = self._around
        variables = {
            derived.SERVICE: around.service.name,
            derived.STAGE: around.stage,
            derived.VERSION: around.version,
            derived.SOURCES: dump_sources(self.sources, verifiers=places_of(self._handlers)),
        }
        later = {queue_variable(source.name): around.queues[source.name].queue_url for source in self.sources}
        later[derived.BODIES] = self.bodies.bucket_name
        size = sum(len(name) + len(value.encode()) for name, value in variables.items())
        size += sum(len(name) + _LATER for name in later)
        if size > MOST_ENVIRONMENT:
            raise DeclarationError(
                f"Service '{around.service.name}': its {len(self.sources)} webhook sources come to {size:,} bytes of "
                f"environment, and Lambda takes {MOST_ENVIRONMENT:,}. Shorten names, or put some into another service."
            )
        return {**variables, **later}

    def _let_handlers_fetch(self) -> None:
        for source in self.sources:
            function = self._around.functions[source.name]
            function.add_environment(derived.BODIES, self.bodies.bucket_name)
            for statement in may_fetch(self.bodies, source.name, self._around.keeping.key):
                function.add_to_role_policy(statement)
            self._acknowledge_prefixes(function, [source])

    def _acknowledge_prefixes(self, function: lambda_.Function, of: Sequence[Source]) -> None:
        bucket = Stack.of(self).get_logical_id(cast("s3.CfnBucket", self.bodies.node.default_child))
        why = "A body's name is the day and its digest; the role reaches those of its own source."
        rules = [f"AwsSolutions-IAM5[Resource::<{bucket}.Arn>/{source.name}/*]" for source in of]
        acknowledge(cast("iam.Role", function.role), dict.fromkeys(rules, why))


def webhook_handlers(service: Service) -> list[Handler[Any]]:
    """Return the handlers of a service that are webhooks."""
    return [handler for handler in service.handlers if handler.options.webhook is not None]
