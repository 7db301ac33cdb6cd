// Claims one token of a tenant's bucket with the AWS SDK alone: node claim.js TENANT ACTION
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";

const { QUEUE_URL_PREFIX, NAME_PREFIX = "", TENANT_ROLE_ARN } = process.env;

/** How long a received token is held. The token must be deleted within this time. */
const LEASE_SECONDS = 10;

const sts = new STSClient();

/** An SQS client that may use the queues of one tenant, for an hour. Use one client for many claims. */
export async function clientOf(tenantId) {
  const { Credentials: issued } = await sts.send(
    new AssumeRoleCommand({
      RoleArn: TENANT_ROLE_ARN,
      RoleSessionName: `tenant-${tenantId}`,
      // The role's policy compares the names of queues with this tag.
      Tags: [{ Key: "tenantId", Value: tenantId }],
    }),
  );
  return new SQSClient({
    credentials: {
      accessKeyId: issued.AccessKeyId,
      secretAccessKey: issued.SecretAccessKey,
      sessionToken: issued.SessionToken,
    },
    // A repeated receive would hold a second token.
    maxAttempts: 1,
    // Otherwise the client ignores AWS_ENDPOINT_URL, and sends requests for the local cloud to AWS.
    useQueueUrlAsEndpoint: false,
  });
}

/** Spends one token. Returns false if the bucket is empty. If a call fails, the token is perhaps spent. */
export async function tryClaim(sqs, tenantId, action) {
  const QueueUrl = `${QUEUE_URL_PREFIX}${NAME_PREFIX}${action}_${tenantId}_token_bucket`;
  const received = performance.now();
  const { Messages: tokens = [] } = await sqs.send(
    // With a wait of 0, SQS asks only some of its servers, and may miss the last tokens.
    new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: LEASE_SECONDS, WaitTimeSeconds: 1 }),
  );
  if (tokens.length === 0) {
    return false;
  }
  // SQS confirms a delete after the lease, too, but another caller may have the token by then.
  if (performance.now() - received >= LEASE_SECONDS * 1000) {
    return false;
  }
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: tokens[0].ReceiptHandle }));
  return true;
}

const [tenantId, action] = process.argv.slice(2);
const sqs = await clientOf(tenantId);
console.log((await tryClaim(sqs, tenantId, action)) ? "granted" : "refused");
