package dev.tollgate.core.history;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/** The hours of the history: sums of minutes, which are kept longer. */
public final class Hours {
  /**
   * How long minutes are kept. Commands ask for the last 31 days, and the requests of a command for
   * many tenants take a while.
   */
  public static final Duration MINUTES_KEPT = Duration.ofDays(32);

  /** How long hours are kept. */
  public static final Duration KEPT = Duration.ofDays(400);

  /**
   * How long after its end an hour is summed. Refusals are written up to an hour late, and minutes
   * up to two minutes late.
   */
  static final Duration SETTLED = Duration.ofMinutes(65);

  /** How many of the latest settled hours are written if they are missing. */
  static final int CATCH_UP = 24;

  private static final Duration HOUR = Duration.ofHours(1);

  private final History history;
  private final InstantSource clock;

  /** The hours of this history. */
  public Hours(History history, InstantSource clock) {
    this.history = history;
    this.clock = clock;
  }

  /**
   * Writes each settled hour of the last day that is missing, the earliest first. May be repeated,
   * also after a failure or while it runs: it writes the same rows.
   *
   * @param until no hour is begun later; the next run continues
   * @throws Unavailable if the store fails
   */
  public void write(Instant until) {
    Span day = open(clock.instant());
    Set<Instant> written = history.hoursOfAll(day).keySet();
    for (Instant hour = day.from();
        hour.isBefore(day.to()) && clock.instant().isBefore(until);
        hour = hour.plus(HOUR)) {
      if (!written.contains(hour)) {
        write(new Span(hour, hour.plus(HOUR)));
      }
    }
  }

  private void write(Span hour) {
    Counts all = history.ofAll(hour).values().stream().reduce(Counts.NONE, Counts::plus);
    if (!all.isNothing()) {
      history.putHour(hour.from(), history.active(hour), all);
    }
  }

  /** The hours that {@link #write} may still write. */
  private static Span open(Instant now) {
    Instant to = now.minus(SETTLED).truncatedTo(ChronoUnit.HOURS);
    return new Span(to.minus(HOUR.multipliedBy(CATCH_UP)), to);
  }

  /**
   * The hours of a tenant that begin in the span. Those that are not written yet are summed from
   * minutes.
   */
  public SortedMap<Instant, Counts> of(TenantId tenant, Span span) {
    return whole(span)
        .map(whole -> join(history.hours(tenant, whole), whole, part -> history.of(tenant, part)))
        .orElseGet(TreeMap::new);
  }

  /** The hours of all tenants together, in the same way. */
  public SortedMap<Instant, Counts> ofAll(Span span) {
    return whole(span)
        .map(whole -> join(history.hoursOfAll(whole), whole, history::ofAll))
        .orElseGet(TreeMap::new);
  }

  /** The hours that begin in a span, each as a whole; empty if none does. */
  private static Optional<Span> whole(Span span) {
    Instant from = nextHour(span.from());
    Instant to = nextHour(span.to());
    return from.isBefore(to) ? Optional.of(new Span(from, to)) : Optional.empty();
  }

  private static Instant nextHour(Instant instant) {
    return instant.plus(HOUR).minusNanos(1).truncatedTo(ChronoUnit.HOURS);
  }

  private SortedMap<Instant, Counts> join(
      SortedMap<Instant, Counts> written,
      Span span,
      Function<Span, SortedMap<Instant, Counts>> minutes) {
    SortedMap<Instant, Counts> hours = new TreeMap<>(written);
    Instant open = open(clock.instant()).from();
    Instant from = span.from().isAfter(open) ? span.from() : open;
    if (from.isBefore(span.to())) {
      Span part = new Span(from, span.to());
      Timeline.of(minutes.apply(part), part, HOUR).forEach(hours::putIfAbsent);
    }
    return hours;
  }
}
