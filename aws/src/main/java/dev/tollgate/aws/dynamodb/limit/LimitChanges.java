package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.Counts.Tokens;
import dev.tollgate.core.history.RowChanges;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** Changes of the rows of the Limit table that count connections or are buckets. */
public final class LimitChanges implements RowChanges {
  @Override
  public Optional<Change> of(Map<String, String> before, Map<String, String> after, Instant at) {
    try {
      return counts(before, after)
          .filter(counts -> !counts.isNothing())
          .map(counts -> new Change(new TenantId(text(after, LimitRow.TENANT)), at, counts));
    } catch (IllegalArgumentException handmade) {
      return Optional.empty();
    }
  }

  private static Optional<Counts> counts(Map<String, String> before, Map<String, String> after) {
    String key = text(after, LimitRow.KEY);
    if (key.equals(LimitRow.CONNECTIONS)) {
      return Optional.of(connections(before, after));
    }
    // A fill of an older release wrote no number of minted tokens.
    return key.startsWith(LimitRow.BUCKET_PREFIX)
            && before.containsKey(LimitRow.MINTED)
            && after.containsKey(LimitRow.MINTED)
        ? Optional.of(
            tokens(new Action(key.substring(LimitRow.BUCKET_PREFIX.length())), before, after))
        : Optional.empty();
  }

  private static Counts connections(Map<String, String> before, Map<String, String> after) {
    Map<Refusal, Long> refused = new EnumMap<>(Refusal.class);
    for (Refusal why : Refusal.values()) {
      long count = difference(before, after, LimitRow.refused(why));
      if (count != 0) {
        refused.put(why, count);
      }
    }
    long admitted = difference(before, after, LimitRow.ADMITTED);
    // A connection that closes raises no peak.
    long peak =
        admitted == 0 && refused.isEmpty()
            ? 0
            : Math.max(number(before, LimitRow.ITEM_COUNT), number(after, LimitRow.ITEM_COUNT));
    return new Counts(admitted, refused, peak, Map.of());
  }

  private static Counts tokens(
      Action action, Map<String, String> before, Map<String, String> after) {
    long minted = difference(before, after, LimitRow.MINTED);
    long taken = minted - difference(before, after, LimitRow.LEVEL);
    return minted == 0 && taken == 0
        ? Counts.NONE
        : new Counts(0, Map.of(), 0, Map.of(action, new Tokens(minted, taken)));
  }

  private static long difference(
      Map<String, String> before, Map<String, String> after, String name) {
    return number(after, name) - number(before, name);
  }

  private static long number(Map<String, String> row, String name) {
    return Long.parseLong(row.getOrDefault(name, "0"));
  }

  private static String text(Map<String, String> row, String name) {
    return row.getOrDefault(name, "");
  }
}
