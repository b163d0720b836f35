"""List prices of us-east-1 in dollars, without free tier, as of late 2026.

Sources: https://aws.amazon.com/sqs/pricing/ https://aws.amazon.com/lambda/pricing/
https://aws.amazon.com/dynamodb/pricing/on-demand/ https://aws.amazon.com/cloudwatch/pricing/
"""

#: A million requests; a batch call of up to ten messages (64 KB) is one.
SQS_STANDARD, SQS_FIFO = 0.40, 0.50
#: A million invocations, and a GB-second on arm64.
LAMBDA_REQUESTS, LAMBDA_GB_SECOND = 0.20, 0.0000133334
#: A million units on demand, and a GB-month.
WRITE_UNITS, READ_UNITS, STORED_GB_MONTH = 0.625, 0.125, 0.25
#: A GB ingested.
LOGS_GB = 0.50
#: What Lambda itself logs of an invocation: START, END and REPORT as JSON, in bytes.
PLATFORM_LOG_BYTES = 700
#: Memory of a whole vCPU, in MB: below it, CPU is a share of one.
#: https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
WHOLE_CPU_MB = 1_769
