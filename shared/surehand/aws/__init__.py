"""The implementations on AWS. Only this package and `surehand.entrypoint` import botocore."""
