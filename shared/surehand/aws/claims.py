"""Large webhook bodies in S3: stored before the message that points at them, fetched by the worker.

S3 compares the body with its digest before it answers, so what is stored is what was verified. Objects expire by the
bucket's lifecycle, longer after the last message that could point at them; nothing deletes them.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
"""

from __future__ import annotations

import base64
from typing import Any

from botocore.exceptions import ClientError

from surehand.webhooks.ports import Stored
from surehand.webhooks.unwrap import EnvelopeError

#: Without `s3:ListBucket`, which the worker does not have, S3 answers 403 for what is not there; these are for those
#: who grant it.
_GONE = frozenset({"NoSuchKey", "NoSuchVersion", "404"})


class S3Bodies:
    """The bodies of one service's bucket. Implements `StorePort`, and `fetch` for the worker."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, key: str, body: bytes, *, content_type: str, sha256: str) -> Stored:
        """See `StorePort.put`."""
        answer = self._client.put_object(
            Bucket=self._bucket,
            Key=key,
            Body=body,
            ContentType=content_type,
            ChecksumSHA256=base64.b64encode(bytes.fromhex(sha256)).decode("ascii"),
        )
        return Stored(bucket=self._bucket, key=key, version=answer.get("VersionId"))

    def fetch(self, where: Stored) -> bytes:
        """Return a stored body.

        Raises:
            EnvelopeError: It is in another bucket than this service's, or gone.
            ClientError, BotoCoreError: It cannot be fetched at the moment.
        """
        if where.bucket != self._bucket:
            raise EnvelopeError("input.envelope", "the body is said to be in another bucket than this service's")
        version = {} if where.version is None else {"VersionId": where.version}
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=where.key, **version)
        except ClientError as error:
            if error.response["Error"]["Code"] in _GONE:
                raise EnvelopeError("input.digest", "the stored body is gone") from error
            raise
        return bytes(answer["Body"].read())
