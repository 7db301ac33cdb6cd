package dev.tollgate.client;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tokens in memory, with the delays and leases of a queue. While the tokens are unavailable, every
 * claim, settlement and return fails; fills continue.
 */
final class MemoryTokens implements TokenQueue {
  private final InstantSource clock;
  private final Map<BucketId, Map<Long, Place>> queues = new HashMap<>();
  private long numbers;
  private long receipts;
  private boolean available = true;

  /**
   * A token's state: when it was minted, the instant from which it is available, and the receipt of
   * its holder until then, if it is held.
   */
  private record Place(Instant mintedAt, Instant from, String receipt) {
    private static final String NOBODY = "";

    boolean isVisibleAt(Instant now) {
      return !now.isBefore(from);
    }

    boolean isHeld() {
      return !receipt.equals(NOBODY);
    }
  }

  MemoryTokens(InstantSource clock) {
    this.clock = clock;
  }

  synchronized void clear(BucketId bucket) {
    queues.remove(bucket);
  }

  synchronized void setAvailable(boolean answers) {
    available = answers;
  }

  synchronized void requireAvailable(BucketId bucket) {
    if (!available) {
      throw new Unavailable("bucket " + bucket + " was made unavailable");
    }
  }

  private Map<Long, Place> queue(BucketId bucket) {
    return queues.computeIfAbsent(bucket, id -> new LinkedHashMap<>());
  }

  @Override
  public synchronized List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
    requireAvailable(bucket);
    Instant now = clock.instant();
    Instant end = now.plus(lease);
    List<Lease> leases = new ArrayList<>();
    for (Map.Entry<Long, Place> token : queue(bucket).entrySet()) {
      if (leases.size() == max) {
        break;
      }
      if (token.getValue().isVisibleAt(now)) {
        String receipt = token.getKey() + ":" + receipts++;
        Instant mintedAt = token.getValue().mintedAt();
        token.setValue(new Place(mintedAt, end, receipt));
        leases.add(new Lease(receipt, end, mintedAt));
      }
    }
    return leases;
  }

  @Override
  public synchronized List<Lease> settle(BucketId bucket, List<Lease> leases) {
    requireAvailable(bucket);
    Map<Long, Place> queue = queue(bucket);
    return leases.stream().filter(lease -> !queue.remove(token(lease), held(lease))).toList();
  }

  @Override
  public synchronized List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
    requireAvailable(bucket);
    Map<Long, Place> queue = queue(bucket);
    Instant now = clock.instant();
    return leases.stream()
        .filter(
            lease ->
                !queue.replace(
                    token(lease), held(lease), new Place(lease.mintedAt(), now, Place.NOBODY)))
        .toList();
  }

  private static Place held(Lease lease) {
    return new Place(lease.mintedAt(), lease.endsAt(), lease.receipt());
  }

  private static Long token(Lease lease) {
    return Long.valueOf(lease.receipt().substring(0, lease.receipt().indexOf(':')));
  }

  @Override
  public synchronized List<Token> put(BucketId bucket, List<Token> tokens) {
    Map<Long, Place> queue = queue(bucket);
    tokens.forEach(
        token -> queue.put(numbers++, new Place(token.mintedAt(), token.dueAt(), Place.NOBODY)));
    return List.of();
  }

  @Override
  public synchronized Level countTokens(BucketId bucket) {
    Instant now = clock.instant();
    long visible = 0;
    long held = 0;
    for (Place place : queue(bucket).values()) {
      visible += place.isVisibleAt(now) ? 1 : 0;
      held += !place.isVisibleAt(now) && place.isHeld() ? 1 : 0;
    }
    return new Level(visible, queue(bucket).size() - visible - held, held);
  }
}
