package dev.tollgate.aws.sqs;

import dev.tollgate.aws.ResourceNames;
import dev.tollgate.core.bucket.BucketId;

/**
 * Where queues are. A queue's URL follows from its name, so that it need not be asked for.
 *
 * @param prefix what stands before the name, up to and with the last slash
 */
public record QueueUrls(String prefix, ResourceNames names) {
  public String of(BucketId bucket) {
    return of(names.queue(bucket));
  }

  public String of(String name) {
    return prefix + name;
  }
}
