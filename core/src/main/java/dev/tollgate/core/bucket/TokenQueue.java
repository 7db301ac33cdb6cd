package dev.tollgate.core.bucket;

import dev.tollgate.core.Unavailable;
import java.time.Duration;
import java.util.List;

/**
 * Where the tokens of buckets lie. An implementation answers entry by entry: of what was asked, it
 * returns what was not done. Every method throws {@link Unavailable} if the queue could not be
 * asked, and {@link MissingQueue} if there is none.
 */
public interface TokenQueue {
  /** The most tokens that one request can carry (SQS batches and receives). */
  int BATCH = 10;

  /**
   * Holds up to {@code most} tokens, for {@code lease}.
   *
   * @param most 1 to 10
   * @return what was found; empty if nothing was
   */
  List<Lease> reserve(BucketId bucket, int most, Duration lease, Search search);

  /**
   * How a queue is searched for tokens.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html">Short
   *     and long polling</a>
   */
  enum Search {
    /**
     * Answers at once, from some of the queue's servers: it may miss the few tokens of a bucket.
     */
    SHORT,
    /** Asks every server and waits up to a second for a token. */
    LONG
  }

  /**
   * Spends held tokens: they are gone.
   *
   * @param leases any number
   * @return those that could not be spent
   */
  List<Lease> settle(BucketId bucket, List<Lease> leases);

  /**
   * Gives held tokens back at once, for anybody to reserve.
   *
   * @param leases any number
   * @return those that could not be given back; they return by themselves when their lease ends
   */
  List<Lease> giveBack(BucketId bucket, List<Lease> leases);

  /**
   * Puts new tokens in, each to be reserved from the instant on at which it is due.
   *
   * @param tokens any number, all of this bucket, the earliest due first
   * @return those that were not put for certain. One of which nobody knows counts as put: it may be
   *     lost, and is never put twice
   */
  List<Token> put(BucketId bucket, List<Token> tokens);

  /** What is in the bucket. Up to a minute behind (SQS GetQueueAttributes). */
  Level look(BucketId bucket);

  /** Tokens in the bucket, wherever they are. Up to a minute behind. */
  default long level(BucketId bucket) {
    return look(bucket).tokens();
  }

  /**
   * What is in a bucket.
   *
   * @param visible tokens that can be reserved
   * @param delayed tokens that are not yet due
   * @param held tokens that somebody holds
   */
  record Level(long visible, long delayed, long held) {
    /** All of them. */
    public long tokens() {
      return visible + delayed + held;
    }
  }
}
