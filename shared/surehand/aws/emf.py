"""One record of metrics in CloudWatch's embedded format (EMF), with one dimension.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from surehand.variables import NAMESPACE


def record(
    dimension: str, value: str, metrics: Mapping[str, float | list[float]], *, units: Mapping[str, str], now: datetime
) -> dict[str, Any]:
    """Return the record. A metric is a number, or a list of at most 100; one without a unit here is a count."""
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [[dimension]],
        "Metrics": [{"Name": name, "Unit": units.get(name, "Count")} for name in metrics],
    }
    return {
        "_aws": {"Timestamp": int(now.timestamp() * 1000), "CloudWatchMetrics": [directive]},
        dimension: value,
        **metrics,
    }
