"""The watch stack: alarms, topic and dashboard. It holds no state, and can change or go without touching a queue."""

from __future__ import annotations

from aws_cdk import App, CrossStackReferences, ReferenceStrength, Stack, Tags

from app_stacks.core import CoreStack
from app_stacks.settings import Settings
from surehand_cdk import Profile, Watch
from surehand_cdk.acknowledged import acknowledge
from surehand_cdk.rules import RULES


def watch(app: App, settings: Settings, core: CoreStack) -> None:
    """Add the watch stack, or note for the rules that nobody wanted one (`-c alarms=none`)."""
    if settings.alarms is not Profile.NONE:
        WatchStack(app, settings, core)
        return
    asking = (rule.acknowledge_id for rule in RULES if rule.id.startswith("A"))
    acknowledge(core, dict.fromkeys(asking, f"No alarms were wanted for stage {settings.stage}: -c alarms=none."))


class WatchStack(Stack):
    """Watches *core* from a stack called `{service}-{stage}-watch`."""

    def __init__(self, app: App, settings: Settings, core: CoreStack) -> None:
        super().__init__(
            app,
            f"{settings.stack_name}-watch",
            description=f"{settings.service.name} ({settings.stage}): alarms that name the cause, and a dashboard",
            termination_protection=settings.protect,
        )
        # An alarm must not keep a handler from being removed, as an export in use would.
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        self.watch = Watch(self, "Watch", core.shop, profile=settings.alarms)
        Tags.of(self).add("service", settings.service.name)
        Tags.of(self).add("env", settings.stage)
