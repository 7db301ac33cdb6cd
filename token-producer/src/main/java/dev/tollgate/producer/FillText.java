package dev.tollgate.producer;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.fill.BucketFill.Conflict;
import dev.tollgate.core.bucket.fill.BucketFill.FillResult;
import dev.tollgate.core.bucket.fill.BucketFill.Filled;
import dev.tollgate.core.bucket.fill.BucketFill.NotFilled;
import dev.tollgate.core.bucket.fill.BucketFill.Skipped;
import dev.tollgate.core.bucket.fill.BucketMaintenance.MaintenanceResult;
import dev.tollgate.core.bucket.fill.ShardMaintenance;
import dev.tollgate.core.bucket.fill.ShardTurn;
import java.util.Locale;

/** The results of fills in words, for the log. */
final class FillText {
  private FillText() {}

  /** Such as {@code bucket connect: 9 minted, level 9}. */
  static String of(BucketId bucket, MaintenanceResult result) {
    return "bucket %s: %s%s"
        .formatted(
            bucket.action(),
            of(result.fill()),
            result.newState().map(state -> "; now " + lower(state)).orElse(""));
  }

  private static String of(FillResult result) {
    if (result instanceof Filled filled) {
      return "%d minted%s%s, level %d"
          .formatted(
              filled.minted(),
              filled.unsent() == 0 ? "" : ", " + filled.unsent() + " not accepted by the queue",
              filled.trimmed() == 0 ? "" : ", " + filled.trimmed() + " above the capacity removed",
              filled.level());
    }
    if (result instanceof NotFilled other) {
      return "no fill due, " + lower(other.state());
    }
    if (result instanceof Skipped skipped) {
      return "skipped, " + skipped.reason();
    }
    return result instanceof Conflict ? "filled by another process" : "no such bucket";
  }

  /** Such as {@code shard-3: 40 buckets maintained, 0 failed, last one after 0.8 s}. */
  static String of(ShardTurn turn, ShardMaintenance.Report report) {
    String rest =
        switch (report.rest()) {
          case NONE -> "";
          case HANDED_OVER -> "; another invocation maintains the rest";
          case LEFT -> "; the rest is left for the next turn";
        };
    return String.format(
        Locale.ROOT,
        "%s: %d buckets maintained, %d failed, last one after %.1f s%s",
        turn.shard(),
        report.done(),
        report.failed(),
        report.lag().toMillis() / 1000.0,
        rest);
  }

  private static String lower(Enum<?> state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
