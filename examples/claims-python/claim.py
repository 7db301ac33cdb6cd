"""Claims one token of a tenant's bucket with the AWS SDK alone: python3 claim.py TENANT ACTION"""

import os
import sys
import time

import boto3
from botocore.config import Config

# boto3 reads AWS_DEFAULT_REGION by itself, but not AWS_REGION; before 1.28, it does not read AWS_ENDPOINT_URL.
AWS = {
    "region_name": os.environ["AWS_REGION"],
    "endpoint_url": os.environ.get("AWS_ENDPOINT_URL"),
}

# How long a received token is held. The token must be deleted within this time.
LEASE_SECONDS = 10


def client_of(tenant_id):
    """An SQS client that may use the queues of one tenant, for an hour. Use one client for many claims."""
    issued = boto3.client("sts", **AWS).assume_role(
        RoleArn=os.environ["TENANT_ROLE_ARN"],
        RoleSessionName=f"tenant-{tenant_id}",
        # The role's policy compares the names of queues with this tag.
        Tags=[{"Key": "tenantId", "Value": tenant_id}],
    )["Credentials"]
    return boto3.client(
        "sqs",
        **AWS,
        aws_access_key_id=issued["AccessKeyId"],
        aws_secret_access_key=issued["SecretAccessKey"],
        aws_session_token=issued["SessionToken"],
        # A repeated receive would hold a second token.
        config=Config(retries={"total_max_attempts": 1}),
    )


def try_claim(sqs, tenant_id, action):
    """Spends one token. Returns False if the bucket is empty. If a call fails, the token is perhaps spent."""
    name = f"{os.environ.get('NAME_PREFIX', '')}{action}_{tenant_id}_token_bucket"
    queue = os.environ["QUEUE_URL_PREFIX"] + name
    received = time.monotonic()
    # With a wait of 0, SQS asks only some of its servers, and may miss the last tokens.
    tokens = sqs.receive_message(
        QueueUrl=queue, VisibilityTimeout=LEASE_SECONDS, WaitTimeSeconds=1
    ).get("Messages", [])
    if not tokens:
        return False
    # SQS confirms a delete after the lease, too, but another caller may have the token by then.
    if time.monotonic() - received >= LEASE_SECONDS:
        return False
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=tokens[0]["ReceiptHandle"])
    return True


if __name__ == "__main__":
    tenant, bucket = sys.argv[1:]
    print("granted" if try_claim(client_of(tenant), tenant, bucket) else "refused")
