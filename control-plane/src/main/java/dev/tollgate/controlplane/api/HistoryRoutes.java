package dev.tollgate.controlplane.api;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
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
  private static final Duration LONGEST_OF_ALL = Duration.ofDays(7);

  private static final int RANKED = 20;

  private final History history;
  private final Tenants tenants;
  private final InstantSource clock;

  HistoryRoutes(History history, Tenants tenants, InstantSource clock) {
    this.history = history;
    this.tenants = tenants;
    this.clock = clock;
  }

  /** Shows the steps of a tenant. The history of an offboarded tenant stays. */
  Response ofTenant(ApiRequest request) {
    TenantId id = request.tenantId();
    Span span = span(request);
    Duration step = step(request, span);
    SortedMap<Instant, Counts> minutes = history.of(id, span);
    if (minutes.isEmpty() && tenants.find(id).isEmpty()) {
      return Problem.notFound(
              "No tenant named `" + id + "`, and no history of one from " + span.from() + " on.")
          .response();
    }
    return timeline(minutes, span, step);
  }

  /** Shows the steps of all tenants together. */
  Response ofAll(ApiRequest request) {
    Span span = span(request);
    InvalidValue.unless(
        !span.from().plus(LONGEST_OF_ALL).isBefore(span.to()),
        "from",
        span.from(),
        "at most 7 days before to, " + span.to() + "; a tenant's own history has 31");
    Duration step = step(request, span);
    return timeline(history.ofAll(span), span, step);
  }

  private Span span(ApiRequest request) {
    Instant to =
        request
            .instant("to")
            .orElseGet(() -> clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60));
    return new Span(request.instant("from").orElseGet(() -> to.minus(HOUR)), to);
  }

  private static Duration step(ApiRequest request, Span span) {
    Duration step = request.duration("step").orElse(Duration.ofMinutes(1));
    Timeline.check(span, step);
    return step;
  }

  private static Response timeline(SortedMap<Instant, Counts> minutes, Span span, Duration step) {
    Map<String, Object> document = document(span);
    document.put("stepSeconds", step.toSeconds());
    document.put(
        "steps",
        Timeline.of(minutes, span, step).entrySet().stream()
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

  /** Shows the tenants to which most happened lately. */
  Response ranking(ApiRequest request) {
    Ranking ranking = request.oneOf("sort", Ranking.class).orElse(Ranking.REFUSED);
    Duration window = request.duration("window").orElse(Duration.ofMinutes(5));
    int limit = request.limit(RANKED);
    Span span = lately(window);
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

  private Span lately(Duration window) {
    Instant to = clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    return Span.lately(to, window);
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
    ADMITTED,
    CONNECTIONS,
    TOKENS;

    private long of(Counts counts) {
      return switch (this) {
        case REFUSED -> counts.refusedInAll();
        case ADMITTED -> counts.admitted();
        case CONNECTIONS -> counts.peak();
        case TOKENS -> counts.tokens().values().stream().mapToLong(Counts.Tokens::taken).sum();
      };
    }
  }
}
