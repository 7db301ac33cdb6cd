package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.history.MinutesReader.Tenant;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.Properties;

/**
 * What operations cost on AWS, in billionths of a US dollar: list prices of us-east-1, as {@code
 * docs/reference/costs.md} explains.
 */
final class UnitCosts {
  private static final String DIRECT = "DIRECT";

  private final Properties costs = new Properties();

  /** The costs of this release. */
  UnitCosts() {
    try (InputStream file =
        Objects.requireNonNull(UnitCosts.class.getResourceAsStream("unit-costs.properties"))) {
      costs.load(file);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /**
   * What a tenant cost.
   *
   * @param connections its admitted connections
   * @param refusals its refused ones
   * @param messages its messages, as if each came alone
   * @param fills the fills of its buckets
   * @param history its minutes in the history
   * @param saved what its buckets would have cost in addition without hibernation
   */
  record Cost(
      long connections, long refusals, long messages, long fills, long history, long saved) {
    static final Cost NONE = new Cost(0, 0, 0, 0, 0, 0);

    long sum() {
      return connections + refusals + messages + fills + history;
    }

    Cost plus(Cost other) {
      return new Cost(
          connections + other.connections,
          refusals + other.refusals,
          messages + other.messages,
          fills + other.fills,
          history + other.history,
          saved + other.saved);
    }

    /** The same in a longer or shorter time. */
    Cost in(long minutes, long of) {
      return new Cost(
          connections * minutes / of,
          refusals * minutes / of,
          messages * minutes / of,
          fills * minutes / of,
          history * minutes / of,
          saved * minutes / of);
    }
  }

  /**
   * What a tenant cost in some minutes.
   *
   * @param tenant its document
   * @param minutes those in which something happened
   * @param all the number of all minutes
   */
  Cost of(JsonNode tenant, List<JsonNode> minutes, long all) {
    long admitted = 0;
    long refused = 0;
    long messages = 0;
    for (JsonNode minute : minutes) {
      admitted += Math.max(0, minute.path("admitted").asLong());
      refused += minute.path("refused").asLong();
      messages += Math.max(0, Tenant.taken(minute, "message"));
    }
    long fills = 0;
    long saved = 0;
    for (JsonNode bucket : tenant.path("buckets")) {
      String mode = bucket.path("fillMode").asText();
      long unit = unit("fill." + mode);
      // A schedule that fills directly fires each minute unless the bucket sleeps, and leaves no
      // record.
      long used =
          mode.equals(DIRECT)
              ? all
              : minutes.stream()
                  .filter(minute -> isFilled(minute, bucket.path("action").asText()))
                  .count();
      fills += used * unit;
      saved += (all - used) * unit;
    }
    return new Cost(
        admitted * unit("admitted"),
        refused * unit("refused"),
        messages * unit("message"),
        fills,
        minutes.size() * unit("history"),
        saved);
  }

  private static boolean isFilled(JsonNode minute, String action) {
    return minute
        .path("tokens")
        .valueStream()
        .anyMatch(bucket -> bucket.path("action").asText().equals(action));
  }

  private long unit(String name) {
    return Long.parseLong(costs.getProperty(name, "0"));
  }
}
