package dev.tollgate.aws;

import dev.tollgate.core.bucket.BucketId;

/**
 * What a bucket's queue and schedule are called. Neither a tenant's name nor an action's has an
 * underscore, so no two buckets share a name.
 *
 * @param prefix keeps deployments in one account apart; may be empty
 */
record Names(String prefix) {
  String queue(BucketId bucket) {
    return prefix + bucket.action() + "_" + bucket.tenant() + "_token_bucket";
  }

  String schedule(BucketId bucket) {
    return prefix + bucket.action() + "_" + bucket.tenant();
  }
}
