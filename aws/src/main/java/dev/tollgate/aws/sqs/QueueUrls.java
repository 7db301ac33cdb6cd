package dev.tollgate.aws.sqs;

import dev.tollgate.aws.ResourceNames;
import dev.tollgate.core.bucket.BucketId;

/**
 * Builds queue URLs from names, so that no request is needed to find them.
 *
 * @param prefix the part before the name, including the last slash
 */
public record QueueUrls(String prefix, ResourceNames names) {
  /** The URL of a bucket's queue. */
  public String of(BucketId bucket) {
    return of(names.queue(bucket));
  }

  /** The URL of the queue of this name. */
  public String of(String name) {
    return prefix + name;
  }
}
