"""What the webhooks of a service need on moto: their secrets, the bucket of large bodies, and the ingress over both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from surehand.declare import Service, derived
from surehand.queues import Clock
from surehand.testing.gate import Gate, MemoryCloud, sources_of, store_secrets
from surehand.webhooks.config import dump_sources
from surehand.webhooks.ports import Ports
from surehand.webhooks.secrets import SecretCache


def create_edge(service: Service, *, stage: str, region: str) -> Mapping[str, str]:
    """Create secrets and bucket and return the variables of the deployed ingress; nothing without a webhook."""
    sources = sources_of(service, stage=stage)
    if not sources:
        return {}
    from surehand.aws import clients

    secrets, s3 = (clients.client(name, clients.QUEUES) for name in ("secretsmanager", "s3"))
    for name, (version,) in store_secrets(service, stage=stage).items():
        secrets.create_secret(Name=name, SecretString=version.text)
    bucket = f"{service.name}-{stage}-webhooks"
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": region})
    return {derived.BODIES: bucket, derived.SOURCES: dump_sources(sources.values())}


def gate_on_moto(service: Service, *, stage: str, clock: Clock) -> Gate:
    """Return the ingress with AWS's own ports, over what `create_edge` has made."""
    if not sources_of(service, stage=stage):
        return Gate({}, MemoryCloud().ports(clock), clock)
    from surehand.aws import clients
    from surehand.aws.claims import S3Bodies
    from surehand.aws.ingress import SQSQueue
    from surehand.aws.secrets import fetching

    queues = {handler.name: os.environ[derived.queue_variable(handler.name)] for handler in service.handlers}
    secrets, s3, sqs = (
        clients.Later(partial(clients.client, name, clients.QUEUES)) for name in ("secretsmanager", "s3", "sqs")
    )
    ports = Ports(
        secrets=SecretCache(fetching(secrets), clock.now),
        store=S3Bodies(s3, os.environ.get(derived.BODIES, "")),
        queue=SQSQueue(sqs, attempts=1),
    )
    return Gate(sources_of(service, stage=stage, queues=queues), ports, clock)
