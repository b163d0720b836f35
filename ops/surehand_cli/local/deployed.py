"""A service as it is deployed to the emulator: its clients, and its resources by the names that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from surehand import Handler, Service
from surehand.declare import dead_letter_queue_name, physical_name, queue_name, table_name
from surehand.webhooks.source import PREFIX
from surehand_cli.local.emulator import ACCOUNT, CREDENTIALS, REGION

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_logs import CloudWatchLogsClient
    from types_boto3_secretsmanager import SecretsManagerClient
    from types_boto3_sqs import SQSClient

#: Part of every name of a local run.
STAGE = "local"


@dataclass(frozen=True)
class Deployed:
    """*endpoint* is the emulator's address; *outputs* are those of the stacks, by stack and name."""

    service: Service
    endpoint: str
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def sqs(self) -> SQSClient:
        """SQS of the emulator."""
        return self._client("sqs")  # type: ignore[no-any-return]

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """DynamoDB of the emulator."""
        return self._client("dynamodb")  # type: ignore[no-any-return]

    @cached_property
    def logs(self) -> CloudWatchLogsClient:
        """CloudWatch Logs of the emulator."""
        return self._client("logs")  # type: ignore[no-any-return]

    @cached_property
    def secrets(self) -> SecretsManagerClient:
        """Secrets Manager of the emulator."""
        return self._client("secretsmanager")  # type: ignore[no-any-return]

    def webhook(self, handler: Handler[Any]) -> str:
        """Return the address that the sender of a handler's webhooks is given; the emulator's APIs have no domains."""
        api = self.outputs[f"{self.service.name}-{STAGE}"]["WebhooksApiId"]
        return f"{self.endpoint}/_aws/execute-api/{api}/$default{PREFIX}{handler.name}"

    @property
    def ledger(self) -> str:
        """The name of the ledger's table."""
        return table_name(self.service.name, STAGE)

    def queue(self, handler: Handler[Any]) -> str:
        """Return the URL of a handler's queue."""
        return f"{self.endpoint}/{ACCOUNT}/{queue_name(self.service.name, STAGE, handler)}"

    def dead_letters(self, handler: Handler[Any]) -> str:
        """Return the URL of a handler's dead-letter queue."""
        return f"{self.endpoint}/{ACCOUNT}/{dead_letter_queue_name(self.service.name, STAGE, handler)}"

    def log_group(self, handler: Handler[Any]) -> str:
        """Return the name of the log group of a handler's function."""
        return f"/aws/lambda/{physical_name(self.service.name, STAGE, handler.name)}"

    def _client(self, name: str) -> Any:
        import boto3
        from botocore.config import Config

        session = boto3.session.Session(
            aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            region_name=REGION,
        )
        config = Config(connect_timeout=2, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})
        return session.client(name, endpoint_url=self.endpoint, config=config)
