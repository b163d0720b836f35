"""This service's CDK app: `cdk synth -c env=dev|prod`. Every setting is in `app_stacks/settings.py`."""

from aws_cdk import App

from app_stacks.core import CoreStack
from app_stacks.settings import Settings
from app_stacks.watch import watch
from surehand_cdk import validate


def main() -> None:
    """Synthesise the stacks of the service that `[tool.surehand]` names."""
    app = App()
    settings = Settings.of(app)
    core = CoreStack(app, settings)
    if not settings.local:
        watch(app, settings, core)
        validate(app)
    app.synth()


main()
