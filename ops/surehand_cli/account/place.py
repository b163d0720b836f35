"""The place that a command works on: one stage of the project's service, in one account."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from surehand import Service
from surehand.aws.dynamodb import DynamoDBLedger
from surehand.aws.listing import Listing
from surehand.declare import WRITES, ledger_retention, table_name
from surehand.ledger import Ledger
from surehand_cli.account.session import Account
from surehand_cli.account.waiting import SystemWaiting, Waiting
from surehand_cli.project import Project


@dataclass
class Place:
    """What every command that reaches AWS is given."""

    project: Project
    stage: str
    account: Account

    @cached_property
    def service(self) -> Service:
        """The service that the project declares."""
        return self.project.service()

    @cached_property
    def table(self) -> str:
        """The ledger's table."""
        return table_name(self.service.name, self.stage)

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of this stage. Writes go one by one unless `SUREHAND_WRITES=batch`."""
        return DynamoDBLedger(
            self.account.client("dynamodb"), self.table, batched=os.environ.get(WRITES, "single") == "batch"
        )

    @cached_property
    def listing(self) -> Listing:
        """The ledger's listings."""
        return Listing(self.account.client("dynamodb"), self.table)

    @cached_property
    def waiting(self) -> Waiting:
        """The clock, and how to wait."""
        return SystemWaiting()

    @property
    def retention(self) -> timedelta:
        """How long the ledger knows an operation after its last write."""
        return ledger_retention(self.service.handlers)

    @property
    def folder(self) -> Path:
        """Where snapshots and journals are kept: `.surehand` of the project, or `SUREHAND_FOLDER`."""
        return Path(os.environ.get("SUREHAND_FOLDER") or self.project.root / ".surehand")
