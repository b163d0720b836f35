"""The Contributor Insights rule that tells one tenant's failures from everybody's."""

from __future__ import annotations

import json

from aws_cdk import Tags
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from .subject import Subject


def failure_rule(scope: Construct, subject: Subject) -> cloudwatch.CfnInsightRule:
    """Counts the handler's failed deliveries by failure code and tenant, from the JSON lines that the run time writes.

    Failures of a provider are left out: they follow the traffic, so the largest tenant would always stand out. Source:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/ContributorInsights-RuleSyntax.html
    """
    body = {
        "Schema": {"Name": "CloudWatchLogRule", "Version": 1},
        "LogGroupNames": [f"/aws/lambda/{subject.name}"],
        "LogFormat": "JSON",
        "Contribution": {
            "Keys": ["$.failure_code", "$.tenant"],
            "Filters": [
                {"Match": "$.event", "In": ["delivery"]},
                {"Match": "$.failure_class", "In": ["code", "data"]},
                # Each message once: one that is retried five times is no crowd.
                {"Match": "$.receive_count", "EqualTo": 1},
            ],
        },
        "AggregateOn": "Count",
    }
    rule = cloudwatch.CfnInsightRule(
        scope,
        "Failures",
        rule_name=subject.insight_rule,
        rule_state="ENABLED",
        rule_body=json.dumps(body, sort_keys=True),
    )
    Tags.of(rule).add("handler", subject.handler.name)
    return rule
