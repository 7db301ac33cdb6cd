package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.history.Hours;
import dev.tollgate.core.tenant.TenantFilter;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.Cursor;
import dev.tollgate.http.JsonFields;
import dev.tollgate.http.Request;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A request with its path, query parameters and headers parsed. Every method throws {@link
 * InvalidValue} if the value that it returns is malformed.
 */
final class ApiRequest {
  /**
   * The part of the invocation's time in which no work starts. A slow step may take as long, and
   * the function must still respond.
   */
  private static final Duration MARGIN = Duration.ofSeconds(8);

  private static final Pattern DURATION = Pattern.compile("[1-9][0-9]{0,3}[mhd]");
  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,4}");
  private static final int MAX_LIMIT = 100;

  /**
   * The most tenants or resources that are read in detail for one response. Each costs several
   * requests, and a repair may wait a second for a new queue.
   */
  static final int MAX_DETAILED = 25;

  private static final String TENANT_IDS = "tenantIds";
  private static final String TENANT_IDS_EXPECTED =
      "1 to " + MAX_DETAILED + " tenant ids, separated by commas";
  private static final String DRY_RUN = "dryRun";
  private static final String REPLAY = "replay";

  /** A day less than minutes are kept: the pages of a dry run take a while. */
  private static final Duration LONGEST_REPLAY = Hours.MINUTES_KEPT.minusDays(1);

  private final Request request;
  private final InstantSource clock;

  ApiRequest(Request request, InstantSource clock) {
    this.request = request;
    this.clock = clock;
  }

  Request http() {
    return request;
  }

  JsonFields body() {
    return request.body();
  }

  /** The time and the log of the work for this request. */
  Invocation invocation() {
    return Invocation.of(clock, request.remaining().minus(MARGIN), request::log);
  }

  TenantId tenantId() {
    return new TenantId(request.path("tenantId"));
  }

  TierName tierName() {
    return new TierName(request.path("tier"));
  }

  IfMatch ifMatch() {
    return IfMatch.of(request.header("if-match"));
  }

  /** Whether the change must only be previewed. */
  boolean isDryRun() {
    return flag(DRY_RUN);
  }

  /** The time whose minutes a dry run replays; empty if it replays none. */
  Optional<Duration> replay() {
    Optional<Duration> span = duration(REPLAY);
    String text = request.query(REPLAY).orElse("");
    InvalidValue.unless(span.isEmpty() || isDryRun(), REPLAY, text, "no value without dryRun=true");
    InvalidValue.unless(
        span.orElse(LONGEST_REPLAY).compareTo(LONGEST_REPLAY) <= 0,
        REPLAY,
        text,
        "at most " + LONGEST_REPLAY.toDays() + "d, because minutes are not kept longer");
    return span;
  }

  /** Refuses {@code dryRun=true}, because an operation without preview would make the change. */
  void requireNoDryRun() {
    String text = request.query(DRY_RUN).orElse("false");
    InvalidValue.unless(
        text.equals("false"), DRY_RUN, text, "false, because this operation has no dry run");
  }

  TenantFilter tenantFilter() {
    return new TenantFilter(
        request.query("prefix"), request.query("tier").map(TierName::new), flag("pending"));
  }

  /** The tenants in {@code tenantIds}, without duplicates. */
  Set<TenantId> tenantIds() {
    String text = request.query(TENANT_IDS).orElse("");
    String[] ids = text.split(",", -1);
    try {
      Set<TenantId> tenants =
          Arrays.stream(ids)
              .map(TenantId::new)
              .collect(Collectors.toCollection(LinkedHashSet::new));
      InvalidValue.unless(ids.length <= MAX_DETAILED, TENANT_IDS, text, TENANT_IDS_EXPECTED);
      return tenants;
    } catch (InvalidValue invalid) {
      throw new InvalidValue(TENANT_IDS, text, TENANT_IDS_EXPECTED);
    }
  }

  /** The position in {@code cursor}; empty for the first page. */
  Optional<String> cursor(String listing) {
    return request.query("cursor").map(cursor -> Cursor.decode(listing, cursor));
  }

  /** The most items on a page: {@code limit}, or 100. */
  int limit() {
    return limit(MAX_LIMIT);
  }

  /** The most items on a page: {@code limit}, or the default. */
  int limit(int standard) {
    return request.query("limit").map(ApiRequest::limit).orElse(standard);
  }

  private static int limit(String text) {
    InvalidValue.unless(DIGITS.matcher(text).matches(), "limit", text, "1 to " + MAX_LIMIT);
    return (int) InvalidValue.inRange("limit", Long.parseLong(text), 1, MAX_LIMIT);
  }

  /** The instant in a parameter; empty without it. */
  Optional<Instant> instant(String name) {
    return request
        .query(name)
        .map(
            text -> {
              try {
                return Instant.parse(text);
              } catch (DateTimeParseException other) {
                throw new InvalidValue(name, text, "an instant such as 2026-01-01T00:00:00Z");
              }
            });
  }

  /** The duration in a parameter, such as {@code 5m}; empty without it. */
  Optional<Duration> duration(String name) {
    return request
        .query(name)
        .map(
            text -> {
              InvalidValue.unless(
                  DURATION.matcher(text).matches(),
                  name,
                  text,
                  "minutes, hours or days: 5m, 1h, 7d");
              return Duration.parse(
                  text.endsWith("d") ? "P" + text : "PT" + text.toUpperCase(Locale.ROOT));
            });
  }

  /** The constant that a parameter names in lower case; empty without it. */
  <E extends Enum<E>> Optional<E> oneOf(String name, Class<E> type) {
    return request
        .query(name)
        .map(
            text ->
                Stream.of(type.getEnumConstants())
                    .filter(each -> lowerCase(each).equals(text))
                    .findAny()
                    .orElseThrow(
                        () ->
                            new InvalidValue(
                                name,
                                text,
                                Stream.of(type.getEnumConstants())
                                    .map(ApiRequest::lowerCase)
                                    .collect(Collectors.joining(", ")))));
  }

  private static String lowerCase(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private boolean flag(String name) {
    String text = request.query(name).orElse("false");
    InvalidValue.unless(text.equals("true") || text.equals("false"), name, text, "true or false");
    return text.equals("true");
  }
}
