package dev.tollgate.core.testing.memory;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.DirectFill;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Tokens in memory, with the delays, leases and expiry of a queue, by a given clock. Searches never
 * wait. A bucket has no queue until {@link #createQueue} is called.
 */
public final class InMemoryTokenQueue implements TokenQueue {
  private final InstantSource clock;
  private final Outage outage = new Outage();
  private final Map<BucketId, QueueState> queues = new HashMap<>();
  private final Map<BucketId, Duration> lifetimes = new HashMap<>();
  private final Map<BucketId, Long> expired = new HashMap<>();
  private long receipts;
  private long reserves;
  private boolean seemsEmpty;

  /** Creates a queue that takes the time from {@code clock}. */
  public InMemoryTokenQueue(InstantSource clock) {
    this.clock = clock;
  }

  /** The outage of all requests. */
  public Outage outage() {
    return outage;
  }

  /** Creates the bucket's queue if it does not exist; returns whether it is new. */
  public synchronized boolean createQueue(BucketId bucket) {
    return queues.putIfAbsent(bucket, new QueueState()) == null;
  }

  /** Sets the lifetime of tokens in the bucket's queue, if it exists. Default: fourteen days. */
  public synchronized void setLifetime(BucketId bucket, Duration lifetime) {
    if (has(bucket)) {
      state(bucket, "keep");
      lifetimes.put(bucket, lifetime);
    }
  }

  /** The lifetime of tokens in the bucket's queue. */
  public synchronized Duration lifetime(BucketId bucket) {
    return lifetimes.getOrDefault(bucket, DirectFill.LONGEST_LIFETIME);
  }

  /** Deletes the bucket's queue; returns whether it existed. */
  public synchronized boolean delete(BucketId bucket) {
    lifetimes.remove(bucket);
    return queues.remove(bucket) != null;
  }

  /** Whether the bucket has a queue. */
  public synchronized boolean has(BucketId bucket) {
    return queues.containsKey(bucket);
  }

  /** The buckets with a queue. */
  public synchronized Set<BucketId> buckets() {
    return Set.copyOf(queues.keySet());
  }

  /** Makes the next short search find nothing. */
  public synchronized void findNothingOnce() {
    seemsEmpty = true;
  }

  /** The number of calls to {@link #reserve}. */
  public synchronized long reserves() {
    return reserves;
  }

  /** The number of tokens that can be reserved now. */
  public synchronized long available(BucketId bucket) {
    Instant now = clock.instant();
    return queue(bucket, "available").values().stream().filter(held -> held.visibleAt(now)).count();
  }

  /** The number of tokens held by leases now. */
  public synchronized long inFlight(BucketId bucket) {
    Instant now = clock.instant();
    return queue(bucket, "inFlight").values().stream()
        .filter(held -> !held.visibleAt(now) && held.receipt().isPresent())
        .count();
  }

  /** The number of tokens that expired in the bucket's queue. */
  public synchronized long expired(BucketId bucket) {
    queue(bucket, "expired");
    return expired.getOrDefault(bucket, 0L);
  }

  @Override
  public synchronized List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
    InvalidValue.inRange("max", max, 1, BATCH);
    reserves++;
    if (seemsEmpty && search == Search.SHORT) {
      seemsEmpty = false;
      return List.of();
    }
    QueueState state = state(bucket, "reserve");
    Instant now = clock.instant();
    List<Lease> leases = new ArrayList<>();
    for (Map.Entry<Long, Held> entry : state.tokens.entrySet()) {
      if (leases.size() == max) {
        break;
      }
      Held held = entry.getValue();
      if (held.visibleAt(now)) {
        String receipt = "receipt-" + ++receipts;
        Instant end = now.plus(lease);
        held.receipt().ifPresent(state.byReceipt::remove);
        entry.setValue(new Held(held.token(), held.putAt(), end, Optional.of(receipt)));
        state.byReceipt.put(receipt, entry.getKey());
        leases.add(new Lease(receipt, end, held.token().mintedAt()));
      }
    }
    return leases;
  }

  @Override
  public synchronized List<Lease> settle(BucketId bucket, List<Lease> leases) {
    QueueState state = state(bucket, "settle");
    return leases.stream()
        .filter(
            lease -> {
              Optional<Long> token = state.heldBy(lease, clock.instant());
              token.ifPresent(state::remove);
              return token.isEmpty();
            })
        .toList();
  }

  @Override
  public synchronized List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
    QueueState state = state(bucket, "giveBack");
    Instant now = clock.instant();
    return leases.stream()
        .filter(
            lease -> {
              Optional<Long> token = state.heldBy(lease, now);
              token.ifPresent(number -> state.giveBack(number, now));
              return token.isEmpty();
            })
        .toList();
  }

  @Override
  public synchronized List<Token> put(BucketId bucket, List<Token> tokens) {
    QueueState state = state(bucket, "put");
    Instant now = clock.instant();
    for (Token token : tokens) {
      state.add(new Held(token, now, visibleFrom(token, now), Optional.empty()));
    }
    return List.of();
  }

  @Override
  public synchronized Level countTokens(BucketId bucket) {
    Instant now = clock.instant();
    Collection<Held> all = queue(bucket, "countTokens").values();
    long held = 0;
    long visible = 0;
    for (Held token : all) {
      held += token.isHeldAt(now) ? 1 : 0;
      visible += token.visibleAt(now) ? 1 : 0;
    }
    return new Level(visible, all.size() - held - visible, held);
  }

  /** Delays are whole seconds from the time the queue receives the token, as in SQS. */
  private static Instant visibleFrom(Token token, Instant now) {
    long millis = Math.max(0, Duration.between(now, token.dueAt()).toMillis());
    return now.plusSeconds((millis + 999) / 1_000);
  }

  private Map<Long, Held> queue(BucketId bucket, String method) {
    return state(bucket, method).tokens;
  }

  private QueueState state(BucketId bucket, String method) {
    outage.check(method);
    QueueState state = queues.get(bucket);
    if (state == null) {
      throw new MissingQueue(bucket);
    }
    int expiredNow = state.expire(clock.instant().minus(lifetime(bucket)));
    if (expiredNow > 0) {
      expired.merge(bucket, (long) expiredNow, Long::sum);
    }
    return state;
  }

  /** The tokens of a bucket, in the order in which they were put, and by receipt. */
  private static final class QueueState {
    private final Map<Long, Held> tokens = new LinkedHashMap<>();
    private final Map<String, Long> byReceipt = new HashMap<>();
    private long numbers;

    void add(Held held) {
      tokens.put(numbers++, held);
    }

    Optional<Long> heldBy(Lease lease, Instant now) {
      return Optional.ofNullable(byReceipt.get(lease.receipt()))
          .filter(
              number ->
                  Optional.ofNullable(tokens.get(number))
                      .filter(held -> held.isHeldBy(lease, now))
                      .isPresent());
    }

    void remove(long number) {
      Optional.ofNullable(tokens.remove(number))
          .flatMap(Held::receipt)
          .ifPresent(byReceipt::remove);
    }

    void giveBack(long number, Instant now) {
      tokens.computeIfPresent(
          number, (key, held) -> new Held(held.token(), held.putAt(), now, Optional.empty()));
    }

    /** Oldest first. */
    int expire(Instant oldest) {
      int before = tokens.size();
      Iterator<Held> each = tokens.values().iterator();
      while (each.hasNext()) {
        Held held = each.next();
        if (held.putAt().isAfter(oldest)) {
          break;
        }
        held.receipt().ifPresent(byReceipt::remove);
        each.remove();
      }
      return before - tokens.size();
    }
  }

  /**
   * A token with the time it was put, the time from which it can be reserved, and the receipt of
   * its last reservation.
   */
  private record Held(Token token, Instant putAt, Instant visibleFrom, Optional<String> receipt) {
    boolean visibleAt(Instant now) {
      return !now.isBefore(visibleFrom);
    }

    boolean isHeldAt(Instant now) {
      return !visibleAt(now) && receipt.isPresent();
    }

    boolean isHeldBy(Lease lease, Instant now) {
      return isHeldAt(now) && receipt.orElseThrow().equals(lease.receipt());
    }
  }
}
