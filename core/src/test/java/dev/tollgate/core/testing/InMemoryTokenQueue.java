package dev.tollgate.core.testing;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.DirectFill;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Tokens in memory, with the delays, leases and expiry of a queue that a clock drives. It never
 * waits: an empty bucket is empty at once. A bucket has no queue until {@link #make} was called for
 * it.
 */
public final class InMemoryTokenQueue implements TokenQueue {
  private final InstantSource clock;
  private final Outage outage = new Outage();
  private final Map<BucketId, List<Held>> queues = new HashMap<>();
  private final Map<BucketId, Duration> lifetimes = new HashMap<>();
  private final Map<BucketId, Long> expired = new HashMap<>();
  private long receipts;
  private long reserves;
  private boolean seemsEmpty;

  /** A queue whose delays and leases {@code clock} drives. */
  public InMemoryTokenQueue(InstantSource clock) {
    this.clock = clock;
  }

  /** What stops the queue from answering. */
  public Outage outage() {
    return outage;
  }

  /** Makes the bucket's queue, unless there is one; returns whether it is new. */
  public synchronized boolean make(BucketId bucket) {
    return queues.putIfAbsent(bucket, new ArrayList<>()) == null;
  }

  /** Has the bucket's queue, if there is one, keep tokens for so long; fourteen days until then. */
  public synchronized void keep(BucketId bucket, Duration lifetime) {
    if (has(bucket)) {
      lifetimes.put(bucket, lifetime);
    }
  }

  /** For how long the bucket's queue keeps tokens. */
  public synchronized Duration lifetime(BucketId bucket) {
    return lifetimes.getOrDefault(bucket, DirectFill.LONGEST_LIFETIME);
  }

  /** Deletes the bucket's queue; returns whether there was one. */
  public synchronized boolean delete(BucketId bucket) {
    lifetimes.remove(bucket);
    return queues.remove(bucket) != null;
  }

  /** Whether the bucket has a queue. */
  public synchronized boolean has(BucketId bucket) {
    return queues.containsKey(bucket);
  }

  /** The buckets that have a queue. */
  public synchronized Set<BucketId> buckets() {
    return Set.copyOf(queues.keySet());
  }

  /** The next {@link #reserve} finds nothing, whatever there is. */
  public synchronized void seemEmptyOnce() {
    seemsEmpty = true;
  }

  /** How often {@link #reserve} was asked. */
  public synchronized long reserves() {
    return reserves;
  }

  /** Tokens that could be reserved now. */
  public synchronized long available(BucketId bucket) {
    Instant now = clock.instant();
    return queue(bucket, "available").stream().filter(held -> held.visibleAt(now)).count();
  }

  /** Tokens that are held by a lease now. */
  public synchronized long inFlight(BucketId bucket) {
    Instant now = clock.instant();
    return queue(bucket, "inFlight").stream()
        .filter(held -> !held.visibleAt(now) && held.receipt().isPresent())
        .count();
  }

  /** Tokens that went because they had been in the bucket's queue for too long. */
  public synchronized long expired(BucketId bucket) {
    queue(bucket, "expired");
    return expired.getOrDefault(bucket, 0L);
  }

  @Override
  public synchronized List<Lease> reserve(BucketId bucket, int most, Duration lease) {
    InvalidValue.inRange("most", most, 1, BATCH);
    reserves++;
    if (seemsEmpty) {
      seemsEmpty = false;
      return List.of();
    }
    List<Held> queue = queue(bucket, "reserve");
    Instant now = clock.instant();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < queue.size() && leases.size() < most; i++) {
      Held held = queue.get(i);
      if (held.visibleAt(now)) {
        String receipt = "receipt-" + ++receipts;
        Instant end = now.plus(lease);
        queue.set(i, new Held(held.token(), held.putAt(), end, Optional.of(receipt)));
        leases.add(new Lease(receipt, end));
      }
    }
    return leases;
  }

  @Override
  public synchronized List<Lease> settle(BucketId bucket, List<Lease> leases) {
    List<Held> queue = queue(bucket, "settle");
    Instant now = clock.instant();
    return leases.stream()
        .filter(lease -> !queue.removeIf(held -> held.isHeldBy(lease, now)))
        .toList();
  }

  @Override
  public synchronized List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
    List<Held> queue = queue(bucket, "giveBack");
    Instant now = clock.instant();
    List<Lease> kept = new ArrayList<>(leases);
    for (Lease lease : leases) {
      for (int i = 0; i < queue.size(); i++) {
        Held held = queue.get(i);
        if (held.isHeldBy(lease, now)) {
          queue.set(i, new Held(held.token(), held.putAt(), now, Optional.empty()));
          kept.remove(lease);
        }
      }
    }
    return kept;
  }

  @Override
  public synchronized List<Token> put(BucketId bucket, List<Token> tokens) {
    List<Held> queue = queue(bucket, "put");
    Instant now = clock.instant();
    for (Token token : tokens) {
      queue.add(new Held(token, now, now.plusSeconds(token.delaySeconds()), Optional.empty()));
    }
    return List.of();
  }

  @Override
  public synchronized long level(BucketId bucket) {
    return queue(bucket, "level").size();
  }

  private List<Held> queue(BucketId bucket, String method) {
    outage.check(method);
    List<Held> queue = queues.get(bucket);
    if (queue == null) {
      throw new Unavailable(method + ": no queue of bucket " + bucket);
    }
    Instant oldest = clock.instant().minus(lifetime(bucket));
    if (queue.isEmpty() || queue.get(0).putAt().isAfter(oldest)) {
      return queue;
    }
    int before = queue.size();
    queue.removeIf(held -> !held.putAt().isAfter(oldest));
    if (queue.size() < before) {
      expired.merge(bucket, (long) before - queue.size(), Long::sum);
    }
    return queue;
  }

  /**
   * A token, when it was put, from when it can be reserved, and the receipt that it was last
   * reserved by.
   */
  private record Held(Token token, Instant putAt, Instant visibleFrom, Optional<String> receipt) {
    boolean visibleAt(Instant now) {
      return !now.isBefore(visibleFrom);
    }

    boolean isHeldBy(Lease lease, Instant now) {
      return !visibleAt(now) && receipt.isPresent() && receipt.get().equals(lease.receipt());
    }
  }
}
