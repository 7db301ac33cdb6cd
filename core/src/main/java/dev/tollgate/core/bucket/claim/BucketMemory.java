package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.RecentlyUsedMap;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a process remembers of the 10,000 buckets that it used last: the row, and until when claims
 * need not ask for what an earlier claim has learned. Thread-safe.
 */
public final class BucketMemory {
  private static final int MAX = 10_000;

  private final InstantSource clock;
  private final Map<BucketId, Entry> entries = new RecentlyUsedMap<>(MAX);

  /** What an earlier claim has learned of a bucket. It holds until an instant. */
  public enum Mark {
    /** The bucket is empty. So handshakes read its row first, and a kept row refuses claims. */
    EMPTY,
    /** Callers wait in the bucket's line. */
    LINE,
    /** A claim was refused, so claims read the row before they ask the queue. */
    REFUSED,
    /** The rows refused a handshake, so the next handshake reads them before it asks the queue. */
    REFUSED_BY_READ
  }

  private record Read(Bucket row, Instant at) {}

  private static final class Entry {
    private final Map<Mark, Instant> marks = new EnumMap<>(Mark.class);
    private Optional<Read> read = Optional.empty();

    /** The retry times of the claims that found too few tokens in this second, by their numbers. */
    private final Map<Integer, Instant> tooFew = new HashMap<>();

    private long tooFewSecond;
    private long requestedVersion;
    private Instant requestedUntil = Instant.MIN;
  }

  BucketMemory(InstantSource clock) {
    this.clock = clock;
  }

  private Entry entry(BucketId id) {
    return entries.computeIfAbsent(id, any -> new Entry());
  }

  private Optional<Entry> known(BucketId id) {
    return Optional.ofNullable(entries.get(id));
  }

  // Marks

  /** Whether one of these marks holds now. */
  public synchronized boolean hasAny(BucketId id, Mark... marks) {
    return Stream.of(marks).anyMatch(mark -> until(id, mark).isPresent());
  }

  /** Until when a mark holds; empty if it does not hold now. */
  synchronized Optional<Instant> until(BucketId id, Mark mark) {
    return known(id)
        .flatMap(entry -> Optional.ofNullable(entry.marks.get(mark)))
        .filter(clock.instant()::isBefore);
  }

  /** Sets a mark, which holds until {@code end}. */
  public synchronized void mark(BucketId id, Mark mark, Instant end) {
    entry(id).marks.put(mark, end);
  }

  /** Removes a mark. */
  synchronized void clear(BucketId id, Mark mark) {
    known(id).ifPresent(entry -> entry.marks.remove(mark));
  }

  // Rows

  /**
   * Keeps a row.
   *
   * @param at when its read began
   */
  synchronized void keep(Bucket row, Instant at) {
    entry(row.id()).read = Optional.of(new Read(row, at));
  }

  /** Forgets a row. */
  synchronized void forgetRow(BucketId id) {
    known(id).ifPresent(entry -> entry.read = Optional.empty());
  }

  /** Keeps what was found since a row was read, which stays as old as it is. */
  synchronized void replace(Bucket row) {
    known(row.id())
        .ifPresent(entry -> entry.read = entry.read.map(read -> new Read(row, read.at())));
  }

  /** The row, if its read began less than {@code life} ago. */
  synchronized Optional<Bucket> row(BucketId id, Duration life) {
    Instant now = clock.instant();
    return known(id)
        .flatMap(entry -> entry.read)
        .filter(read -> now.isBefore(read.at().plus(life)))
        .map(Read::row);
  }

  // Claims for several tokens, and fills

  /**
   * Notes that a claim for n tokens found too few. Until the second ends, this applies to the other
   * claims for the same number.
   */
  synchronized void tooFew(BucketId id, int n, Instant retryAt) {
    Entry entry = entry(id);
    long second = clock.instant().getEpochSecond();
    if (entry.tooFewSecond != second) {
      entry.tooFew.clear();
      entry.tooFewSecond = second;
    }
    entry.tooFew.put(n, retryAt);
  }

  /** The retry time of a claim for n tokens, if one has found too few in this second. */
  synchronized Optional<Instant> retryAt(BucketId id, int n) {
    long second = clock.instant().getEpochSecond();
    return known(id)
        .filter(entry -> entry.tooFewSecond == second)
        .flatMap(entry -> Optional.ofNullable(entry.tooFew.get(n)));
  }

  /**
   * Notes a request to fill this version of a bucket.
   *
   * @param interval how long no other request is due
   * @return whether the request is due
   */
  synchronized boolean requestFill(BucketId id, long version, Duration interval) {
    Instant now = clock.instant();
    Entry entry = entry(id);
    if (entry.requestedVersion == version && now.isBefore(entry.requestedUntil)) {
      return false;
    }
    entry.requestedVersion = version;
    entry.requestedUntil = now.plus(interval);
    return true;
  }
}
