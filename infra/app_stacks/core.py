"""The core stack: queues, functions and ledger. The watch stack, which holds no state, stands apart."""

from __future__ import annotations

from aws_cdk import App, CfnOutput, RemovalPolicy, Stack, Tags
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs

from app_stacks.settings import Settings
from surehand.webhooks.source import PREFIX
from surehand_cdk import HandlerResources, ServiceConstruct
from surehand_cdk.acknowledged import acknowledge
from surehand_cdk.function_options import check_environment


class CoreStack(Stack):
    """The service of *settings* in a stack called `{service}-{stage}`."""

    def __init__(self, app: App, settings: Settings) -> None:
        super().__init__(
            app,
            settings.stack_name,
            description=f"{settings.service.name} ({settings.stage}): event handlers, their queues and the ledger",
            termination_protection=settings.protect,
        )
        self.shop = ServiceConstruct(
            self,
            "Service",
            settings.service,
            stage=settings.stage,
            protect=settings.protect,
            # The emulator fires each schedule every minute, whatever its expression says: a local run sends its ticks.
            schedules_enabled=not settings.local,
            encryption_key=self._key(settings),
        )
        Tags.of(self).add("service", settings.service.name)
        Tags.of(self).add("env", settings.stage)
        CfnOutput(self, "TableName", value=self.shop.table.table_name)
        if self.shop.webhooks is not None:
            CfnOutput(self, "WebhooksUrl", value=f"{self.shop.webhooks.api.api_endpoint}{PREFIX}")
            CfnOutput(self, "WebhooksApiId", value=self.shop.webhooks.api.api_id)
        for handler in settings.service.handlers:
            resources = self.shop[handler]
            check_environment(handler.name, settings.environment)
            for name, value in settings.environment.items():
                resources.function.add_environment(name, value)
            self._publish(_pascal(handler.name), resources)
            if settings.visibility_seconds is not None:
                _shorten(resources.queue, settings.visibility_seconds)

    def _key(self, settings: Settings) -> kms.IKey | None:
        if settings.kms is None:
            return None
        if settings.kms != "create":
            return kms.Key.from_key_arn(self, "Key", settings.kms)
        return kms.Key(
            self,
            "Key",
            alias=settings.stack_name,
            description=f"Queues, ledger and logs of {settings.stack_name}",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN if settings.protect else RemovalPolicy.DESTROY,
        )

    def _publish(self, name: str, resources: HandlerResources) -> None:
        CfnOutput(self, f"{name}FunctionName", value=resources.function.function_name)
        CfnOutput(self, f"{name}QueueUrl", value=resources.queue.queue_url)
        CfnOutput(self, f"{name}DeadLettersUrl", value=resources.dead_letters.queue_url)


def _shorten(queue: sqs.IQueue, seconds: int) -> None:
    resource = queue.node.default_child
    if isinstance(resource, sqs.CfnQueue):
        resource.visibility_timeout = seconds
        acknowledge(queue, {"CloudFormation-Validate::E3505": "The emulator takes a visibility below the timeout."})


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))
