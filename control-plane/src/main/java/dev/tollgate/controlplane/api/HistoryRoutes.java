package dev.tollgate.controlplane.api;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Hours;
import dev.tollgate.core.history.Span;
import dev.tollgate.core.history.Timeline;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Response;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Answers the requests for what happened to tenants. */
final class HistoryRoutes {
  private static final Duration HOUR = Duration.ofHours(1);

  /** A minute of all tenants has a few rows, and a request reads some 100,000 of them at most. */
  private static final Duration MINUTES_OF_ALL = Duration.ofDays(7);

  /** Which minutes of single tenants can be ranked, see {@link History#active}. */
  private static final Duration TENANTS_RANKED = Duration.ofHours(26);

  private static final int RANKED = 20;

  private final History history;
  private final Hours hours;
  private final Tenants tenants;
  private final InstantSource clock;

  HistoryRoutes(History history, Tenants tenants, InstantSource clock) {
    this.history = history;
    this.hours = new Hours(history, clock);
    this.tenants = tenants;
    this.clock = clock;
  }

  /** Shows the steps of a tenant. The history of an offboarded tenant stays. */
  Response ofTenant(ApiRequest request) {
    TenantId id = request.tenantId();
    Span span = span(request);
    boolean hourly = beginsBeforeMinutes(span);
    Duration step = step(request, span, hourly);
    SortedMap<Instant, Counts> counts = hourly ? hours.of(id, span) : history.of(id, span);
    if (counts.isEmpty() && tenants.find(id).isEmpty()) {
      return Problem.notFound(
              "No tenant named `" + id + "`, and no history of one from " + span.from() + " on.")
          .response();
    }
    return timeline(counts, span, step);
  }

  /** Shows the steps of all tenants together. */
  Response ofAll(ApiRequest request) {
    Span span = span(request);
    boolean hourly =
        beginsBeforeMinutes(span) || span.from().plus(MINUTES_OF_ALL).isBefore(span.to());
    Duration step = step(request, span, hourly);
    return timeline(hourly ? hours.ofAll(span) : history.ofAll(span), span, step);
  }

  private boolean beginsBeforeMinutes(Span span) {
    return span.from().isBefore(clock.instant().minus(Hours.MINUTES_KEPT));
  }

  private Span span(ApiRequest request) {
    Instant to =
        request
            .instant("to")
            .orElseGet(() -> clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60));
    return new Span(request.instant("from").orElseGet(() -> to.minus(HOUR)), to);
  }

  private static Duration step(ApiRequest request, Span span, boolean hourly) {
    Duration step = request.duration("step").orElse(hourly ? HOUR : Duration.ofMinutes(1));
    Timeline.check(span, step);
    InvalidValue.unless(
        !hourly || step.equals(Duration.ofHours(step.toHours())),
        "step",
        step,
        "a multiple of 1h: only hours are kept from more than 31 days ago, and read for more than 7"
            + " days of all tenants");
    return step;
  }

  private static Response timeline(SortedMap<Instant, Counts> counts, Span span, Duration step) {
    Map<String, Object> document = document(span);
    document.put("stepSeconds", step.toSeconds());
    document.put(
        "steps",
        Timeline.of(counts, span, step).entrySet().stream()
            .map(
                each -> {
                  Map<String, Object> one = new LinkedHashMap<>();
                  one.put("at", each.getKey().toString());
                  one.putAll(counts(each.getValue()));
                  return one;
                })
            .toList());
    return Response.json(200, document);
  }

  /** Shows the tenants to which most happened in some minutes. */
  Response ranking(ApiRequest request) {
    Ranking ranking = request.oneOf("sort", Ranking.class).orElse(Ranking.REFUSED);
    Duration window = request.duration("window").orElse(Duration.ofMinutes(5));
    int limit = request.limit(RANKED);
    Span span = Span.lately(rankedUntil(request), window);
    Map<TenantId, Counts> active = history.active(span);
    Comparator<Map.Entry<TenantId, Counts>> first =
        Comparator.comparingLong(each -> -ranking.of(each.getValue()));
    Map<String, Object> document = document(span);
    document.put("activeTenants", active.size());
    document.put(
        "tenants",
        active.entrySet().stream()
            .filter(each -> ranking.of(each.getValue()) > 0)
            .sorted(first.thenComparing(each -> each.getKey().value()))
            .limit(limit)
            .map(
                each -> {
                  Map<String, Object> one = new LinkedHashMap<>();
                  one.put("tenantId", each.getKey().value());
                  one.putAll(counts(each.getValue()));
                  return one;
                })
            .toList());
    return Response.json(200, document);
  }

  /** The end of the minutes that are ranked: {@code to}, or the end of the current minute. */
  private Instant rankedUntil(ApiRequest request) {
    Instant now = clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    Instant to = request.instant("to").orElse(now);
    InvalidValue.unless(
        !to.isBefore(now.minus(TENANTS_RANKED)) && !to.isAfter(now),
        "to",
        to,
        "an instant of the last %d hours".formatted(TENANTS_RANKED.toHours()));
    return to;
  }

  private static Map<String, Object> document(Span span) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("from", span.from().toString());
    document.put("to", span.to().toString());
    return document;
  }

  private static Map<String, Object> counts(Counts counts) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("admitted", counts.admitted());
    document.put("refused", counts.refusedInAll());
    document.put("refusedFor", new TreeMap<>(counts.refused()));
    document.put("wouldRefuse", counts.wouldRefuseInAll());
    document.put("wouldRefuseFor", new TreeMap<>(counts.wouldRefuse()));
    document.put("peakConnections", counts.peak());
    document.put(
        "tokens",
        new TreeMap<>(counts.tokens())
            .entrySet().stream()
                .map(each -> tokens(each.getKey().value(), each.getValue()))
                .toList());
    return document;
  }

  private static Map<String, Object> tokens(String action, Counts.Tokens tokens) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("action", action);
    document.put("minted", tokens.minted());
    document.put("taken", tokens.taken());
    return document;
  }

  /** By what tenants are ranked. */
  enum Ranking {
    REFUSED,
    WOULD_REFUSE,
    ADMITTED,
    CONNECTIONS,
    TOKENS;

    private long of(Counts counts) {
      return switch (this) {
        case REFUSED -> counts.refusedInAll();
        case WOULD_REFUSE -> counts.wouldRefuseInAll();
        case ADMITTED -> counts.admitted();
        case CONNECTIONS -> counts.peak();
        case TOKENS -> counts.tokens().values().stream().mapToLong(Counts.Tokens::taken).sum();
      };
    }
  }
}
