package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.tenants.TenantPatch;
import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Refill;
import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Retreat;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.JsonFields;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Parses the JSON bodies of requests. Every method throws {@link InvalidValue} if a field is
 * unknown, missing or invalid.
 */
final class RequestBodies {
  private static final String RATE = "tokens a minute, such as 0.2";
  private static final String CAPACITY = "a whole number, 1 to " + BucketSpec.MAX_CAPACITY;
  private static final String MINUTES = "a whole number, 0 for never to " + FillPolicy.MAX_MINUTES;
  private static final String VERSION = "a whole number, as GET returns it";

  private static final String REASON = "1 to 200 characters on one line";
  private static final String LIFTED_MINUTES =
      "a whole number, 1 to " + AdmitAll.LONGEST.toMinutes();

  private static final String LINE = "line";
  private static final String MODES = "modes";
  private static final String RETREAT = "retreatAbovePercent";
  private static final String PERCENT = "a whole number, 1 to 99";

  /** The limits that can refuse. */
  private static final List<Limit> WITH_MODE =
      Arrays.stream(Limit.values()).filter(limit -> limit.modes().size() > 1).toList();

  private static final String FACTOR = "a number, such as 2 or 0.5";
  private static final String LOCAL_TIME = "a local time such as 2026-11-27T18:00";
  private static final String ZONE = "a time zone such as Europe/Berlin";

  private static final String TENANT_ID = "the id of the tenant";
  private static final String TIER = "the name of a tier";

  private RequestBodies() {}

  /** A request to onboard a tenant. */
  record Onboarding(TenantId id, TierName tier, Overrides overrides) {}

  static Onboarding onboarding(JsonFields fields) {
    fields.only("tenantId", "tier", "overrides");
    return new Onboarding(
        new TenantId(fields.text("tenantId", TENANT_ID)),
        new TierName(fields.text("tier", TIER)),
        overrides(fields).orElse(Overrides.NONE));
  }

  static TenantPatch tenantPatch(JsonFields fields) {
    fields.only("tier", "overrides", "status");
    return new TenantPatch(
        fields.optionalText("tier", TIER).map(TierName::new),
        overrides(fields),
        fields.optionalOneOf("status", List.of(TenantStatus.ACTIVE, TenantStatus.SUSPENDED)));
  }

  /**
   * The overrides; empty if the field is missing.
   *
   * @throws InvalidValue if an override is unknown or out of range
   */
  private static Optional<Overrides> overrides(JsonFields fields) {
    return fields
        .optionalObject("overrides")
        .map(
            overrides ->
                new Overrides(
                    limits(overrides, "overrides", MODES, LINE),
                    modes(overrides),
                    overrides.optionalFlag(LINE)));
  }

  /** The modes of limits in an object; none if it has no field for them. */
  private static Map<Limit, LimitMode> modes(JsonFields fields) {
    Map<Limit, LimitMode> modes = new EnumMap<>(Limit.class);
    Optional<JsonFields> given = fields.optionalObject(MODES);
    given.ifPresent(of -> of.only(WITH_MODE.stream().map(Limit::key).toArray(String[]::new)));
    for (Limit limit : WITH_MODE) {
      given
          .flatMap(of -> of.optionalOneOf(limit.key(), limit.modes()))
          .ifPresent(mode -> modes.put(limit, mode));
    }
    return modes;
  }

  /** The limits in an object, which may have the fields {@code others} as well. */
  private static Map<Limit, Long> limits(JsonFields fields, String parent, String... others) {
    Stream<String> limitNames = Arrays.stream(Limit.values()).map(Limit::key);
    fields.only(Stream.concat(limitNames, Stream.of(others)).toArray(String[]::new));
    Map<Limit, Long> limits = new EnumMap<>(Limit.class);
    for (Limit limit : Limit.values()) {
      fields
          .optionalWholeNumber(limit.key(), limit.expected())
          .ifPresent(value -> limits.put(limit, checked(limit, value, parent)));
    }
    return limits;
  }

  private static long checked(Limit limit, long value, String parent) {
    try {
      return limit.checkedInRequest(value);
    } catch (InvalidValue invalid) {
      throw invalid.within(parent);
    }
  }

  /**
   * The requested tier, with versions 0.
   *
   * @throws InvalidValue if a field is unknown, missing or invalid
   */
  static Tier tier(TierName name, JsonFields fields) {
    fields.only(
        "tier",
        "isolation",
        "limits",
        "buckets",
        "fillMode",
        "hibernateAfterMinutes",
        "onUnavailable",
        MODES,
        LINE,
        RETREAT,
        "version",
        // Accepted and ignored, so that the document that GET returns can be put.
        "rollout",
        "retreatedAt",
        "schedules");
    Optional<String> stated = fields.optionalText("tier", name.value());
    InvalidValue.unless(
        stated.isEmpty() || stated.get().equals(name.value()),
        "tier",
        stated.orElse(""),
        name.value());
    return new Tier(
        name,
        oneOf(fields, "isolation", Isolation.values())
            .orElseThrow(() -> fields.missing("isolation", "SILO or POOL")),
        limits(fields.object("limits"), modes(fields)),
        fields.optionalObject("buckets").map(RequestBodies::buckets).orElse(Map.of()),
        fillPolicy(fields),
        oneOf(fields, "onUnavailable", OnUnavailable.values()).orElse(OnUnavailable.ADMIT),
        fields.optionalFlag(LINE).orElse(true),
        fields
            .optionalWholeNumber(RETREAT, PERCENT)
            .map(above -> new Retreat(above, Optional.empty())),
        0,
        0);
  }

  private static FillPolicy fillPolicy(JsonFields fields) {
    return new FillPolicy(
        oneOf(fields, "fillMode", FillMode.values()).orElse(FillPolicy.DEFAULT.mode()),
        fields
            .optionalWholeNumber("hibernateAfterMinutes", MINUTES)
            .orElse(FillPolicy.DEFAULT.hibernateAfterMinutes()));
  }

  /**
   * The version of the tier that the request may replace; empty for any version.
   *
   * @throws InvalidValue if it is not a whole number
   */
  static Optional<Long> tierVersion(JsonFields fields) {
    return fields.optionalWholeNumber("version", VERSION);
  }

  private static <E extends Enum<E>> Optional<E> oneOf(
      JsonFields fields, String name, E[] constants) {
    return fields.optionalOneOf(name, List.of(constants));
  }

  private static Limits limits(JsonFields fields, Map<Limit, LimitMode> modes) {
    Map<Limit, Long> limits = limits(fields, "limits");
    for (Limit limit : Limit.values()) {
      if (!limits.containsKey(limit) && limit.defaultValue().isEmpty()) {
        throw fields.missing(limit.key(), limit.expected());
      }
    }
    try {
      return new Limits(limits, modes);
    } catch (InvalidValue invalid) {
      throw invalid.within("limits");
    }
  }

  /**
   * Scheduled limits.
   *
   * @throws InvalidValue also if their window has closed
   */
  static LimitSchedule schedule(JsonFields fields, Instant now) {
    fields.only("factor", "from", "to", "zone");
    LimitSchedule window =
        LimitSchedule.of(
            fields
                .optionalNumber("factor", FACTOR)
                .orElseThrow(() -> fields.missing("factor", FACTOR)),
            fields.text("from", LOCAL_TIME),
            fields.text("to", LOCAL_TIME),
            fields.text("zone", ZONE));
    InvalidValue.unless(window.closesAt().isAfter(now), "to", window.to(), "a time in the future");
    return window;
  }

  /** A request to lift all limits. */
  record Lifting(String reason, Duration time) {}

  static Lifting lifting(JsonFields fields) {
    fields.only("reason", "minutes");
    String reason = fields.text("reason", REASON);
    long minutes = fields.wholeNumber("minutes", LIFTED_MINUTES);
    InvalidValue.inRange("minutes", minutes, 1, AdmitAll.LONGEST.toMinutes());
    return new Lifting(reason, Duration.ofMinutes(minutes));
  }

  private static Map<Action, BucketTerms> buckets(JsonFields fields) {
    Map<Action, BucketTerms> buckets = new LinkedHashMap<>();
    for (String name : fields.names()) {
      JsonFields terms = fields.object(name).only("ratePerMinute", "refill", "capacity");
      try {
        buckets.put(action(name), terms(terms));
      } catch (InvalidValue invalid) {
        throw invalid.field().startsWith("buckets.") ? invalid : invalid.within("buckets." + name);
      }
    }
    return buckets;
  }

  private static Action action(String name) {
    try {
      return new Action(name);
    } catch (InvalidValue invalid) {
      throw new InvalidValue("buckets." + name, name, invalid.expected());
    }
  }

  private static BucketTerms terms(JsonFields fields) {
    Optional<BigDecimal> rate = fields.optionalNumber("ratePerMinute", RATE);
    Optional<Long> capacity = fields.optionalWholeNumber("capacity", CAPACITY);
    capacity.ifPresent(max -> InvalidValue.inRange("capacity", max, 1, BucketSpec.MAX_CAPACITY));
    Optional<Refill> refill = fields.optionalObject("refill").map(RequestBodies::calendar);
    InvalidValue.unless(
        rate.isEmpty() || refill.isEmpty(),
        "refill",
        "given beside ratePerMinute",
        "either ratePerMinute or refill");
    return new BucketTerms(refill.or(() -> rate.map(Rate::perMinute)), capacity);
  }

  private static Calendar calendar(JsonFields fields) {
    fields.only("every", "day", "at", "zone", "carryOver");
    try {
      return Calendar.of(
          fields.text("every", "DAY or WEEK"),
          fields.optionalText("day", "a day such as MONDAY"),
          fields.text("at", "a time such as 00:00"),
          fields.text("zone", ZONE),
          fields.optionalFlag("carryOver").orElse(false));
    } catch (InvalidValue invalid) {
      throw invalid.within("refill");
    }
  }
}
