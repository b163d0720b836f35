"""The service's own app: what `-c` says becomes stacks, with the CDK's real command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app_stacks.core import CoreStack
from app_stacks.settings import SettingError, Settings
from app_stacks.watch import watch
from handlers.service import SHOP
from surehand_cdk import validate
from tests.infra.synthesis import ROOT, WITHOUT_CODE, new_app, synthesise

pytestmark = pytest.mark.infra


def settings(**context: Any) -> Settings:
    return Settings.of(new_app(**context))


def template(**context: Any) -> Any:
    app = new_app(**{**WITHOUT_CODE, **context})
    CoreStack(app, Settings.of(app))
    return synthesise(app).template


class TestSettings:
    def test_the_service_is_the_one_that_pyproject_names(self) -> None:
        assert settings().service is SHOP

    def test_another_service_can_be_named(self) -> None:
        assert settings(service="tests.infra.wide_service:WIDE").service.name == "wide"

    @pytest.mark.parametrize("name", ["handlers.service", "handlers.service:NONE", "handlers.orders:OrderPlaced"])
    def test_what_is_no_service_is_refused(self, name: str) -> None:
        with pytest.raises(SettingError, match=r"is no surehand\.Service; write MODULE:NAME"):
            settings(service=name)

    def test_the_stage_is_dev_unless_it_is_said(self) -> None:
        assert settings().stack_name == "shop-dev"
        assert settings(env="prod").stack_name == "shop-prod"

    @pytest.mark.parametrize("given", ["no JSON", "[1]", '{"NAME": 1}'])
    def test_variables_that_are_no_object_of_strings_are_refused(self, given: str) -> None:
        with pytest.raises(SettingError, match="-c environment"):
            settings(environment=given)

    def test_a_shorter_visibility_is_for_the_emulator_only(self) -> None:
        with pytest.raises(SettingError, match="visibility_seconds is for -c env=local"):
            settings(env="dev", visibility_seconds="5")


class TestStack:
    def test_outputs_name_what_an_operator_needs(self) -> None:
        outputs = set(template()["Outputs"])
        assert outputs == {"TableName", "WebhooksUrl", "WebhooksApiId"} | {
            name + suffix
            for name in ("Orders", "StockMoves", "InvoiceExport", "Stripe", "Slack")
            for suffix in ("QueueUrl", "DeadLettersUrl", "FunctionName")
        }

    def test_two_syntheses_of_one_source_are_the_same(self) -> None:
        assert template(env="prod", kms="create") == template(env="prod", kms="create")

    def test_given_variables_reach_every_handlers_function(self) -> None:
        resources = template(environment='{"PAYMENTS_URL": "http://127.0.0.1:9"}')["Resources"].values()
        variables = [
            resource["Properties"]["Environment"]["Variables"]
            for resource in resources
            if resource["Type"] == "AWS::Lambda::Function"
        ]
        given = [one["PAYMENTS_URL"] for one in variables if "SUREHAND_HANDLER" in one]
        assert given == ["http://127.0.0.1:9"] * len(SHOP.handlers)

    def test_the_emulators_queues_give_back_what_a_crash_left_sooner(self) -> None:
        resources = template(env="local", visibility_seconds="7")["Resources"].values()
        hidden = [
            resource["Properties"].get("VisibilityTimeout")
            for resource in resources
            if resource["Type"] == "AWS::SQS::Queue" and "RedrivePolicy" in resource["Properties"]
        ]
        assert hidden == [7] * len(SHOP.handlers)

    def test_every_resource_that_can_be_tagged_names_service_and_stage(self) -> None:
        tagged = [
            {tag["Key"]: tag["Value"] for tag in resource["Properties"]["Tags"]}
            for resource in template()["Resources"].values()
            if resource["Type"] in ("AWS::SQS::Queue", "AWS::Lambda::Function", "AWS::DynamoDB::Table")
        ]
        assert tagged
        assert [tags for tags in tagged if tags != {"service": "shop", "env": "dev"}] == []

    @pytest.mark.parametrize(("env", "protected"), [("prod", True), ("dev", False)])
    def test_production_alone_is_protected_from_termination(self, env: str, protected: bool) -> None:
        app = new_app(env=env, **WITHOUT_CODE)
        assert CoreStack(app, Settings.of(app)).termination_protection is protected


@pytest.mark.parametrize("env", ["dev", "prod"])
def test_the_real_command_line_synthesises_without_credentials_docker_or_findings(env: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [os.environ["JSII_NODE"], "node_modules/aws-cdk/bin/cdk", "synth", "--quiet", "--output", str(tmp_path),
         "--app", f"{sys.executable} infra/app.py", "--context", f"env={env}"],
        env=bare_environment(tmp_path),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reports = json.loads((tmp_path / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    assert [violation for report in reports for violation in report["violations"]] == []
    assert "WARNING" not in done.stdout + done.stderr
    written = {path.name for path in tmp_path.glob("*.template.json")}
    assert written == {f"shop-{env}.template.json", f"shop-{env}-watch.template.json"}


def bare_environment(home: Path) -> dict[str, str]:
    """Return an environment with no credentials, no home of anybody, and a PATH on which there is no docker."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("JSII_", "UV_", "SSL_"))}
    return {
        **kept,
        "PATH": str(Path(sys.executable).parent),
        "HOME": str(home),
        "CDK_HOME": str(home),
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


class TestWatchStack:
    def watched(self, **context: Any) -> Any:
        app = new_app(**WITHOUT_CODE, **context)
        chosen = Settings.of(app)
        watch(app, chosen, CoreStack(app, chosen))
        validate(app)
        return synthesise(app)

    def test_it_does_not_keep_a_handler_from_being_removed(self) -> None:
        outputs = self.watched(env="prod").templates["shop-prod"]["Outputs"].values()
        assert [output for output in outputs if "Export" in output] == []

    @pytest.mark.parametrize(("env", "dashboards"), [("prod", 1), ("dev", 0)])
    def test_production_is_watched_closely_and_other_stages_plainly(self, env: str, dashboards: int) -> None:
        assert len(self.watched(env=env).of_type("AWS::CloudWatch::Dashboard")) == dashboards

    def test_a_stage_without_alarms_has_no_watch_stack_and_is_not_refused_for_it(self) -> None:
        unwatched = self.watched(env="dev", alarms="none")
        assert set(unwatched.templates) == {"shop-dev"}
        assert unwatched.findings == ()

    def test_an_unknown_profile_is_refused(self) -> None:
        with pytest.raises(SettingError, match="-c alarms=loud: write one of full, lean, none"):
            settings(alarms="loud")
