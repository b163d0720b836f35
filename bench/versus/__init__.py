"""The head-to-head: the same hostile schedules on Powertools and on surehand, in one simulated account each.

SQS, event source mapping and Lambda are surehand's simulator for both sides; DynamoDB is moto for both sides.
Powertools is set up as its documentation recommends, with every option that helps (`bench.versus.powertools_side`).
"""
