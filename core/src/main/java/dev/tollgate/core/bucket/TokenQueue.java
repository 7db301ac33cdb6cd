package dev.tollgate.core.bucket;

import dev.tollgate.core.Unavailable;
import java.time.Duration;
import java.util.List;

/**
 * Where the tokens of buckets lie. An implementation answers entry by entry: of what was asked, it
 * returns what was not done. Every method throws {@link Unavailable} if the queue could not be
 * asked.
 */
public interface TokenQueue {
  /** The most tokens that one request can carry (SQS batches and receives). */
  int BATCH = 10;

  /**
   * Holds up to {@code most} tokens, for {@code lease}. Waits up to a second for the first: only a
   * long poll asks every server of a queue, so only its empty answer means empty.
   *
   * @param most 1 to 10
   * @return what was there; empty if nothing was
   */
  List<Lease> reserve(BucketId bucket, int most, Duration lease);

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
   * Puts new tokens in.
   *
   * @param tokens any number, all of this bucket
   * @return those that could not be put
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
   * @param idle tokens that are to be had, or delayed
   * @param held tokens that somebody holds
   */
  record Level(long idle, long held) {
    /** All of them. */
    public long tokens() {
      return idle + held;
    }
  }
}
