"""This service's CDK app: `cdk synth -c env=dev|prod`. Every setting is in `app_stacks/settings.py`."""

from aws_cdk import App

from app_stacks.core import CoreStack
from app_stacks.settings import Settings
from surehand_cdk import validate


def main() -> None:
    """Synthesise the stacks of the service that `[tool.surehand]` names."""
    app = App()
    settings = Settings.of(app)
    CoreStack(app, settings)
    if not settings.local:
        validate(app)
    app.synth()


main()
