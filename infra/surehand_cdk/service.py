"""A whole service, derived from its declarations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from surehand import Handler, Service
from surehand.declare import derived, ledger_retention, queue_variable, table_name, target_names
from surehand.declare.options import check_name
from surehand.declare.sweeping import MEGABYTES
from surehand.errors import DeclarationError
from surehand_cdk.acknowledged import ADOPTED, CODE, acknowledge
from surehand_cdk.bundling import Bundle, Target, bundle_of, code_asset
from surehand_cdk.edge import Edge
from surehand_cdk.function import HandlerResources, Setting, handler_resources
from surehand_cdk.keeping import Keeping, admit_logs
from surehand_cdk.ledger import ledger_table
from surehand_cdk.queues import QueuePair, queue_pair
from surehand_cdk.schedules import schedules
from surehand_cdk.sweep import SweepSetting, sweep
from surehand_cdk.webhooks import Surroundings, Webhooks, webhook_handlers


class ServiceConstruct(Construct):
    """Per handler a function, its queue, its dead-letter queue and the mapping between; once, the ledger.

    `shop[charge_order]` gives the handler's resources as plain L2 constructs, to grant, alarm and subscribe with.

    Args:
        service: The declared handlers.
        stage: Part of every name, `{service}-{stage}-{handler}`.
        protect: What holds messages, operations or logs survives the stack's deletion, and the ledger refuses to be
            deleted. False for stages that come and go.
        schedules_enabled: False deploys the schedules asleep, the sweep's too.
        functions: Handler → additions to its function: environment, memory, VPC, layers, … What is derived is refused.
        queue_names: Handler → an existing queue of this account and Region, adopted instead of creating one.
        edge: What a flood of webhook requests may cost.
        encryption_key: Encrypts queues, ledger and logs instead of the services' own keys. The policy of an imported
            key must let CloudWatch Logs use it, and whatever AWS service sends to the queues.

    Context (`-c NAME=VALUE`):
        target: "lambda" (default) or "host", to build the bundle for this machine's interpreter.
        requirements: Path of the bundle's lock, if not `requirements/lambda.txt` of the project.
        bytecode: The deployed Python on this machine, as a path or as a version that uv finds ("3.13"). The bundle then
            holds bytecode and a cold start compiles nothing; the archive grows by half.
        version: What SUREHAND_VERSION says; by default the beginning of the bundle's hash.

    Raises:
        DeclarationError: A name is too long, an option is derived, or a mapping names a handler of another service.
        BundleError: The bundle cannot be built.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        service: Service,
        *,
        stage: str,
        protect: bool = True,
        schedules_enabled: bool = True,
        functions: Mapping[Handler[Any], lambda_.FunctionOptions] | None = None,
        queue_names: Mapping[Handler[Any], str] | None = None,
        edge: Edge | None = None,
        encryption_key: kms.IKey | None = None,
        sweep_megabytes: int = MEGABYTES,
    ) -> None:
        super().__init__(scope, id)
        check_name(stage, "Stage")
        functions, queue_names = functions or {}, queue_names or {}
        self._refuse_strangers(service, {"functions": functions, "queue_names": queue_names})
        self.service = service
        self.stage = stage
        self._keeping = Keeping(protect=protect, key=encryption_key)
        if encryption_key is not None:
            admit_logs(encryption_key, Stack.of(self), f"/aws/lambda/{service.name}-{stage}-")
        self.table = ledger_table(self, "Ledger", name=table_name(service.name, stage), keeping=self._keeping)
        self.code = code_asset(self, "Code", self._bundle())
        acknowledge(self.code, CODE)
        places = {handler.name: Construct(self, handler.name) for handler in service.handlers}
        pairs = {
            handler.name: self._queues(places[handler.name], handler, queue_names.get(handler))
            for handler in service.handlers
        }
        self._resources = {
            handler.name: handler_resources(
                places[handler.name], handler, self._setting(handler, pairs), options=functions.get(handler)
            )
            for handler in service.handlers
        }
        #: The schedules' group, the dead-letter queue of undeliverable ticks, and the schedules; None without any.
        self.schedules = schedules(
            Construct(self, "Schedules"),
            service,
            stage=stage,
            queues={name: pair.queue for name, pair in pairs.items()},
            keeping=self._keeping,
            enabled=schedules_enabled,
        )
        #: API, ingress and the bucket of large bodies; None without a webhook.
        self.webhooks = self._webhooks(pairs, edge or Edge())
        #: The function that tells what is stuck, and its schedule; None with `sweep_megabytes=0`.
        self.sweep = sweep(
            Construct(self, "Sweep"),
            service,
            SweepSetting(
                stage=stage,
                table=self.table,
                code=self.code,
                keeping=self._keeping,
                variables=self._variables(),
                megabytes=sweep_megabytes,
                enabled=schedules_enabled,
            ),
        )

    def __getitem__(self, handler: Handler[Any] | str) -> HandlerResources:
        """Return the resources of a handler. KeyError, naming the service's handlers, if it has no such handler."""
        name = handler if isinstance(handler, str) else handler.name
        if name not in self._resources:
            raise KeyError(f"Service '{self.service.name}' has no handler '{name}', only {', '.join(self._resources)}.")
        return self._resources[name]

    def _queues(self, place: Construct, handler: Handler[Any], adopt: str | None) -> QueuePair:
        pair = queue_pair(
            place, handler, service=self.service.name, stage=self.stage, keeping=self._keeping, adopt=adopt
        )
        if pair.adopted:
            acknowledge(pair.dead_letters, ADOPTED)
        return pair

    def _webhooks(self, pairs: Mapping[str, QueuePair], edge: Edge) -> Webhooks | None:
        if not webhook_handlers(self.service):
            return None
        around = Surroundings(
            service=self.service,
            stage=self.stage,
            version=self._version(),
            queues={name: pair.queue for name, pair in pairs.items()},
            functions={name: resources.function for name, resources in self._resources.items()},
            code=self.code,
            keeping=self._keeping,
        )
        return Webhooks(self, "Webhooks", around, edge=edge)

    def _version(self) -> str:
        return str(self.node.try_get_context("version") or self.code.asset_hash[:12])

    def _setting(self, handler: Handler[Any], pairs: Mapping[str, QueuePair]) -> Setting:
        targets = {name: pairs[name].queue for name in target_names(handler) if name != handler.name}
        queues = {handler.name: pairs[handler.name].queue, **targets}
        return Setting(
            service=self.service.name,
            stage=self.stage,
            queues=pairs[handler.name],
            targets=tuple(targets.values()),
            table=self.table,
            code=self.code,
            keeping=self._keeping,
            variables={
                **self._variables(),
                derived.HANDLER: handler.name,
                derived.LEDGER_RETENTION: str(int(ledger_retention(self.service.handlers).total_seconds())),
                **{queue_variable(name): queue.queue_url for name, queue in queues.items()},
            },
        )

    def _variables(self) -> dict[str, str]:
        return {
            derived.SERVICE: self.service.name,
            derived.STAGE: self.stage,
            derived.TABLE: self.table.table_name,
            derived.VERSION: self._version(),
        }

    def _bundle(self) -> Bundle:
        compiler = self.node.try_get_context("bytecode")
        compiler = None if compiler is None else str(compiler)
        return bundle_of(self.service, self._target(), self._requirements(), compiler=compiler)

    def _target(self) -> Target:
        given = self.node.try_get_context("target") or Target.LAMBDA
        try:
            return Target(given)
        except ValueError:
            raise DeclarationError(f"-c target={given}: it must be {' or '.join(Target)}.") from None

    def _requirements(self) -> Path | None:
        given = self.node.try_get_context("requirements")
        return None if given is None else Path(given)

    @staticmethod
    def _refuse_strangers(service: Service, mappings: Mapping[str, Mapping[Handler[Any], object]]) -> None:
        for argument, mapping in mappings.items():
            for handler in mapping:
                if handler not in service.handlers:
                    raise DeclarationError(
                        f"{argument}= names {handler!r}, which is not in service '{service.name}' "
                        f"({', '.join(known.name for known in service.handlers)})."
                    )
