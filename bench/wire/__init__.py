"""DynamoDB and SQS below botocore: requests are signed and serialised as usual, and answered before they are sent.

So both sides pay their whole price in CPU, and the network is a round trip of a length that we choose.
"""

from bench.wire.responder import Responder

__all__ = ["Responder"]
