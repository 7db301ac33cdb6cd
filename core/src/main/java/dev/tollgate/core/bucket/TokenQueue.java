package dev.tollgate.core.bucket;

import dev.tollgate.core.Unavailable;
import java.time.Duration;
import java.util.List;

/**
 * Stores the tokens of buckets. Methods that take several entries return those that failed. Every
 * method throws {@link Unavailable} if the queue fails, and {@link MissingQueue} if the bucket has
 * no queue.
 */
public interface TokenQueue {
  /** The most tokens in one request (SQS batches and receives). */
  int BATCH = 10;

  /**
   * Holds up to {@code max} tokens for {@code lease}.
   *
   * @param max 1 to 10
   * @return the leases of the tokens found; may be empty
   */
  List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search);

  /**
   * How a receive searches for tokens.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html">Short
   *     and long polling</a>
   */
  enum Search {
    /** Returns at once, from some of the queue's servers. It may miss a few tokens. */
    SHORT,
    /** Queries every server and waits up to a second for a token. */
    LONG
  }

  /**
   * Spends held tokens, which deletes them.
   *
   * @param leases any number
   * @return the leases whose tokens could not be spent
   */
  List<Lease> settle(BucketId bucket, List<Lease> leases);

  /**
   * Returns held tokens at once, for other callers.
   *
   * @param leases any number
   * @return the leases whose tokens could not be returned; they return when the lease ends
   */
  List<Lease> giveBack(BucketId bucket, List<Lease> leases);

  /**
   * Adds new tokens, each of which can be reserved from its due time on.
   *
   * @param tokens any number, all of this bucket, the earliest due first
   * @return the tokens that were certainly not added. If the result is unknown, a token counts as
   *     added: it may be lost, and is never added twice
   */
  List<Token> put(BucketId bucket, List<Token> tokens);

  /**
   * Counts the tokens in the bucket by their state. The numbers may be a minute old (SQS
   * GetQueueAttributes).
   */
  Level countTokens(BucketId bucket);

  /** Counts all tokens in the bucket: visible, delayed and held. The number may be a minute old. */
  default long level(BucketId bucket) {
    return countTokens(bucket).tokens();
  }

  /**
   * The tokens in a bucket.
   *
   * @param visible tokens that can be reserved
   * @param delayed tokens that are not yet due
   * @param held tokens that callers hold
   */
  record Level(long visible, long delayed, long held) {
    /** The sum of all three. */
    public long tokens() {
      return visible + delayed + held;
    }
  }
}
