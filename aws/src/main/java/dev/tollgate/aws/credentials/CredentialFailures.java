package dev.tollgate.aws.credentials;

import dev.tollgate.core.MetricLine;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Publishes how many requests for tenants' credentials failed. A failure of each tenant's request
 * would be a line, so each source has one line a minute at most: it counts all failures since the
 * line before.
 */
public final class CredentialFailures {
  private final InstantSource clock;
  private final Consumer<String> log;
  private final Map<Source, Integer> counts = new EnumMap<>(Source.class);
  private final Map<Source, Instant> published = new EnumMap<>(Source.class);

  /** What is asked for credentials. */
  public enum Source {
    /** STS, which issues them. */
    STS,
    /** The table in which instances share them. */
    TABLE
  }

  /** No failures yet; {@code log} receives the lines. */
  public CredentialFailures(InstantSource clock, Consumer<String> log) {
    this.clock = clock;
    this.log = log;
  }

  /** Counts a failure. */
  synchronized void count(Source source, String reason) {
    Instant now = clock.instant();
    Instant minute = now.truncatedTo(ChronoUnit.MINUTES);
    int count = counts.merge(source, 1, Integer::sum);
    if (!minute.equals(published.put(source, minute))) {
      counts.remove(source);
      log.accept(MetricLine.credentialFailures(now, source.name(), count, reason));
    }
  }
}
