"""The environment variables of a deployed function, and the name of its metrics: a public, versioned contract
(`docs/adopting.md`).

Standing apart from the declarations, so that the ingress of webhooks can read them without importing any.
"""

#: Version of the contract of names and variables.
CONTRACT = 1

SERVICE = "SUREHAND_SERVICE"
STAGE = "SUREHAND_STAGE"
HANDLER = "SUREHAND_HANDLER"
TABLE = "SUREHAND_TABLE"
#: Prefix of the variables with queue URLs: one for the handler's own queue and one for each that it sends to; on the
#: ingress one for each webhook source.
QUEUE = "SUREHAND_QUEUE_"
#: "batch" (PartiQL, group commit) or "single" (one conditional UpdateItem each). Default: batch inside Lambda, single
#: elsewhere, since moto does not emulate PartiQL writes.
WRITES = "SUREHAND_WRITES"
#: What is deployed, for log lines and ledger items; Lambda's own function version if unset.
VERSION = "SUREHAND_VERSION"
#: Seconds after which the ledger forgets an operation.
LEDGER_RETENTION = "SUREHAND_LEDGER_RETENTION"
#: On the ingress: every webhook source, as `surehand.webhooks.config` writes them.
SOURCES = "SUREHAND_WEBHOOK_SOURCES"
#: On the ingress and on webhook handlers: the bucket of bodies that do not fit into a message.
BODIES = "SUREHAND_WEBHOOK_BODIES"

#: Lambda's own: how an execution environment begins. Source:
#: https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
INITIALIZATION, SNAPSHOT = "AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start"

#: The namespace of all metrics.
NAMESPACE = "surehand"
#: What stands for a service or a stage whose variable is not set, in log lines and metrics.
UNNAMED_SERVICE, UNNAMED_STAGE = "surehand", "local"


def queue_variable(name: str) -> str:
    """Return the variable that holds the URL of the queue of the handler called *name*."""
    return QUEUE + name.upper().replace("-", "_")


def metrics_of(service: str, stage: str, handler: str) -> str:
    """Return the value of the one dimension of a handler's metrics: `{service}-{stage}-{handler}`.

    The namespace is one for the whole account and Region, so a bare name would add up two stages. Whatever writes a
    metric and whatever reads one asks here.
    """
    return f"{service}-{stage}-{handler}"
