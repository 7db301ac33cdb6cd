package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.tenant.TenantRow;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.Counts.Tokens;
import dev.tollgate.core.history.RowChanges;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Changes of the rows of the Limit table that count connections or are buckets.
 *
 * <p>A role of one tenant may write numbers of its tenant's count. A difference that no function
 * makes in one write counts as none, so that it does not spoil the totals of all tenants.
 */
public final class LimitChanges implements RowChanges {
  /**
   * More than any limit of a tenant, and than a process refuses or a fill adds between two writes.
   */
  private static final long MAX = 1_000_000;

  /** The longest that a process keeps refusals unwritten, for all that is known about Lambda. */
  private static final Duration MAX_UNWRITTEN = Duration.ofHours(1);

  @Override
  public Optional<Change> of(Map<String, String> before, Map<String, String> after, Instant at) {
    try {
      return counts(before, after)
          .filter(counts -> !counts.isNothing())
          .map(counts -> change(new TenantId(text(after, LimitRow.TENANT)), after, at, counts));
    } catch (IllegalArgumentException | ArithmeticException handmade) {
      return Optional.empty();
    }
  }

  /** Refusals that were written late happened in an earlier minute, whose peak is not known. */
  private static Change change(
      TenantId tenant, Map<String, String> after, Instant at, Counts counts) {
    Instant refusedAt =
        !counts.hasRefusals() || !after.containsKey(LimitRow.REFUSED_LAST_AT)
            ? at
            : Attribute.instant(number(after, LimitRow.REFUSED_LAST_AT));
    boolean isEarlier =
        refusedAt.isBefore(at.truncatedTo(ChronoUnit.MINUTES))
            && refusedAt.isAfter(at.minus(MAX_UNWRITTEN));
    return isEarlier
        ? new Change(tenant, refusedAt, counts.withPeak(0))
        : new Change(tenant, at, counts);
  }

  private static Optional<Counts> counts(Map<String, String> before, Map<String, String> after) {
    String key = text(after, LimitRow.KEY);
    if (key.equals(LimitRow.CONNECTIONS)) {
      return Optional.of(connections(before, after));
    }
    // A fill of an older release wrote no number of minted tokens, and one by a schedule none.
    return key.startsWith(LimitRow.BUCKET_PREFIX)
            && !isDirect(before)
            && !isDirect(after)
            && before.containsKey(LimitRow.MINTED)
            && after.containsKey(LimitRow.MINTED)
        ? Optional.of(
            tokens(new Action(key.substring(LimitRow.BUCKET_PREFIX.length())), before, after))
        : Optional.empty();
  }

  private static boolean isDirect(Map<String, String> row) {
    return text(row, TenantRow.FILL_MODE).equals(FillMode.DIRECT.name());
  }

  private static Counts connections(Map<String, String> before, Map<String, String> after) {
    Map<Refusal, Long> refused = byReason(before, after, LimitRow::refused);
    Map<Refusal, Long> observed = byReason(before, after, LimitRow::observed);
    long admitted = difference(before, after, LimitRow.ADMITTED, 1);
    // A connection that closes raises no peak.
    long peak =
        admitted == 0 && refused.isEmpty() && observed.isEmpty()
            ? 0
            : Math.max(open(before), open(after));
    return new Counts(admitted, refused, observed, peak, Map.of());
  }

  private static Map<Refusal, Long> byReason(
      Map<String, String> before, Map<String, String> after, Function<Refusal, String> attribute) {
    Map<Refusal, Long> counts = new EnumMap<>(Refusal.class);
    for (Refusal why : Refusal.values()) {
      long count = difference(before, after, attribute.apply(why), MAX);
      if (count > 0) {
        counts.put(why, count);
      }
    }
    return counts;
  }

  private static Counts tokens(
      Action action, Map<String, String> before, Map<String, String> after) {
    long minted = difference(before, after, LimitRow.MINTED, MAX);
    long taken = minted - difference(before, after, LimitRow.LEVEL, MAX);
    return minted == 0 && taken == 0
        ? Counts.NONE
        : new Counts(0, Map.of(), 0, Map.of(action, new Tokens(minted, taken)));
  }

  /** A difference of at most so much; 0 if it is more. */
  private static long difference(
      Map<String, String> before, Map<String, String> after, String name, long most) {
    long difference = Math.subtractExact(number(after, name), number(before, name));
    return -most <= difference && difference <= most ? difference : 0;
  }

  /** The open connections; 0 if there are more than any limit allows. */
  private static long open(Map<String, String> row) {
    long open = number(row, LimitRow.ITEM_COUNT);
    return 0 <= open && open <= MAX ? open : 0;
  }

  private static long number(Map<String, String> row, String name) {
    return Long.parseLong(row.getOrDefault(name, "0"));
  }

  private static String text(Map<String, String> row, String name) {
    return row.getOrDefault(name, "");
  }
}
