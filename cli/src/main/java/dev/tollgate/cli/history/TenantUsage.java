package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.history.MinutesReader.Tenant;
import dev.tollgate.cli.history.Usage.Verdict;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * How a tenant used its limits.
 *
 * @param usages the limits of which the use is known
 * @param unknown the other limits, each with the reason
 */
record TenantUsage(String tenantId, List<Usage> usages, List<String> unknown) {
  private static final String PER_MINUTE = "tenantPerMinute";
  private static final String CONNECTIONS = "tenantConnections";

  /** The bucket that {@code tenantPerMinute} fills. Attempts say more than its tokens. */
  private static final String CONNECT = "connect";

  private static final Set<Verdict> ADVICE = Set.of(Verdict.TIGHT, Verdict.LARGE);

  TenantUsage {
    usages = List.copyOf(usages);
    unknown = List.copyOf(unknown);
  }

  /**
   * Works out how a tenant used its limits.
   *
   * @param all the number of all minutes since it was onboarded; empty if nothing is recorded
   * @param margin the percentage to add for a limit that fits
   */
  static TenantUsage of(Tenant tenant, OptionalLong all, int margin) {
    if (all.isEmpty()) {
      return new TenantUsage(tenant.id(), List.of(), List.of("all limits: no minute is recorded"));
    }
    List<JsonNode> minutes = tenant.minutes();
    long zeros = all.getAsLong() - minutes.size();
    List<Usage> usages = new ArrayList<>();
    List<String> unknown = new ArrayList<>();
    JsonNode limits = tenant.document().path("limits");
    usages.add(
        Usage.of(
            PER_MINUTE,
            limit(limits, PER_MINUTE),
            values(minutes, TenantUsage::attempts),
            zeros,
            refused(minutes, "TENANT_RATE"),
            margin));
    List<Long> peaks =
        values(minutes, minute -> minute.path("peakConnections").asLong()).stream()
            .filter(peak -> peak > 0)
            .toList();
    if (peaks.isEmpty()) {
      unknown.add(CONNECTIONS + ": no connection was admitted or refused");
    } else {
      usages.add(
          Usage.of(
              CONNECTIONS,
              limit(limits, CONNECTIONS),
              peaks,
              0,
              refused(minutes, "TENANT_CONNECTIONS"),
              margin));
    }
    for (JsonNode bucket : tenant.document().path("buckets")) {
      String action = bucket.path("action").asText();
      String name = action + ".ratePerMinute";
      if (bucket.has("refill")) {
        unknown.add(action + ": a calendar fills it, not a rate");
      } else if (bucket.path("fillMode").asText().equals("DIRECT")) {
        unknown.add(name + ": tokens of buckets in fill mode DIRECT are not counted");
      } else if (!action.equals(CONNECT)) {
        usages.add(
            Usage.of(
                name,
                limit(bucket, "ratePerMinute"),
                values(minutes, minute -> Tenant.taken(minute, action)),
                zeros,
                OptionalLong.empty(),
                margin));
      }
    }
    return new TenantUsage(tenant.id(), usages, unknown);
  }

  private static BigDecimal limit(JsonNode document, String name) {
    return new BigDecimal(document.path(name).asText());
  }

  private static List<Long> values(List<JsonNode> minutes, ToLongFunction<JsonNode> value) {
    return minutes.stream().mapToLong(value).boxed().toList();
  }

  private static long attempts(JsonNode minute) {
    return minute.path("admitted").asLong() + minute.path("refused").asLong();
  }

  private static OptionalLong refused(List<JsonNode> minutes, String reason) {
    return OptionalLong.of(
        minutes.stream()
            .mapToLong(minute -> minute.path("refusedFor").path(reason).asLong())
            .sum());
  }

  /** The same with limits that are TIGHT or LARGE only. */
  TenantUsage unfitting() {
    return new TenantUsage(
        tenantId,
        usages.stream().filter(usage -> ADVICE.contains(usage.verdict())).toList(),
        unknown);
  }

  /** Whether a limit has too few minutes to tell whether it fits. */
  boolean hasTooFewMinutes() {
    return usages.isEmpty()
        || usages.stream().anyMatch(usage -> usage.verdict() == Verdict.TOO_FEW_MINUTES);
  }

  /** The connections that its limits refused. */
  long refused() {
    return usages.stream().mapToLong(usage -> usage.refused().orElse(0)).sum();
  }
}
