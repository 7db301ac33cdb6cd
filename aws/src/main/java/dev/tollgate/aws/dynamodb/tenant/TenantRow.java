package dev.tollgate.aws.dynamodb.tenant;

import static dev.tollgate.aws.dynamodb.Attribute.map;
import static dev.tollgate.aws.dynamodb.Attribute.nanos;
import static dev.tollgate.aws.dynamodb.Attribute.number;
import static dev.tollgate.aws.dynamodb.Attribute.text;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Refill;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.TierName;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Reads and writes tenants as rows of the Tenant table. */
public final class TenantRow {
  /** The key: the tenant's id. */
  public static final String ID = "tenantId";

  static final String TIER = "tier";
  static final String VERSION = "version";
  static final String OBSERVED_VERSION = "observedVersion";

  /**
   * Marks tenants whose desired state is not in effect yet. Only they are in the index of this
   * name.
   */
  static final String PENDING = "pending";

  /** What an operator did last for the tenant beside its settings; only the audit reads it. */
  static final String NOTE = "note";

  /** The type of a note's change. */
  static final String NOTED = "what";

  /** The value of {@link #PENDING}. */
  static final AttributeValue IS_PENDING = text("1");

  /** Marks a bucket whose line is switched off. Rows of older releases have no such mark. */
  public static final String NO_LINE = "noLine";

  /** How a bucket is filled. */
  public static final String FILL_MODE = "fillMode";

  /**
   * Marks tenants with scheduled limits of their own. Only they are in the index of this name, in
   * the order of {@link #DUE_AT}.
   */
  static final String SCHEDULED = "scheduled";

  /** When the next window of a tenant's own scheduled limits opens or closes. */
  static final String DUE_AT = "dueAt";

  /** The value of {@link #SCHEDULED}. */
  static final AttributeValue IS_SCHEDULED = text("1");

  /** The scheduled limits of a tier or a tenant, a map by their ids. */
  static final String SCHEDULES = "schedules";

  /** Whether the window of scheduled limits is open. */
  static final String OPEN = "open";

  /** Whether refused callers wait in line: a tier's setting, or a tenant's override of it. */
  static final String LINE = "line";

  /** The rate of a bucket. */
  public static final String RATE = "rate";

  /** The calendar of a bucket, a map; a bucket has this or a rate. */
  public static final String REFILL = "refill";

  /** Rows of older releases have none. */
  static final String ONBOARDED_AT = "onboardedAt";

  private static final String LIMITS = "limits";
  private static final String MODES = "modes";
  private static final String OVERRIDDEN_MODES = "overriddenModes";

  private TenantRow() {}

  /** The key of a tenant. */
  public static Map<String, AttributeValue> key(TenantId id) {
    return Map.of(ID, text(id.value()));
  }

  static Map<String, AttributeValue> write(Tenant tenant) {
    Map<String, AttributeValue> row = Row.withSchema(key(tenant.id()));
    row.put(TIER, text(tenant.tier().value()));
    row.put("overrides", limits(tenant.overrides().limits()));
    putModes(row, OVERRIDDEN_MODES, tenant.overrides().modes());
    tenant.overrides().line().ifPresent(on -> row.put(LINE, AttributeValue.fromBool(on)));
    row.put("status", text(tenant.status().name()));
    putLimits(row, tenant.limits());
    row.put("isolation", text(tenant.isolation().name()));
    row.put("buckets", map(tenant.buckets(), Action::value, spec -> map(spec(spec))));
    row.put("onUnavailable", text(tenant.onUnavailable().name()));
    row.put(VERSION, number(tenant.version()));
    row.put(OBSERVED_VERSION, number(tenant.observedVersion()));
    tenant.onboardedAt().ifPresent(at -> row.put(ONBOARDED_AT, nanos(at)));
    if (!tenant.isSettled()) {
      row.put(PENDING, IS_PENDING);
    }
    LimitSchedules schedules = tenant.overrides().schedules();
    putSchedules(row, schedules);
    schedules
        .nextChange()
        .filter(due -> tenant.status() != TenantStatus.OFFBOARDING)
        .ifPresent(
            due -> {
              row.put(SCHEDULED, IS_SCHEDULED);
              row.put(DUE_AT, nanos(due));
            });
    return row;
  }

  /** The tenant in a row. */
  public static Tenant read(Row stored) {
    return stored.read("tenant", stored.text(ID), TenantRow::tenant);
  }

  private static Tenant tenant(Row row) {
    return new Tenant(
        new TenantId(row.text(ID)),
        new TierName(row.text(TIER)),
        new Overrides(
            limits(row, "overrides"),
            modes(row, OVERRIDDEN_MODES),
            row.optional(LINE, row::flag),
            schedules(row)),
        TenantStatus.valueOf(row.text("status")),
        readLimits(row),
        Isolation.valueOf(row.text("isolation")),
        new TreeMap<>(row.map("buckets", Action::new, (map, name) -> spec(map.map(name)))),
        OnUnavailable.valueOf(row.text("onUnavailable")),
        row.number(VERSION),
        row.number(OBSERVED_VERSION),
        row.optional(ONBOARDED_AT, row::nanos));
  }

  /** Puts scheduled limits, if there are any. */
  static void putSchedules(Map<String, AttributeValue> row, LimitSchedules schedules) {
    if (!schedules.all().isEmpty()) {
      Map<String, AttributeValue> written = new HashMap<>();
      schedules.all().forEach(schedule -> written.put(schedule.id(), map(schedule(schedule))));
      row.put(SCHEDULES, map(written));
    }
  }

  private static Map<String, AttributeValue> schedule(LimitSchedule schedule) {
    return Map.of(
        "factor",
        AttributeValue.fromN(schedule.factor().toString()),
        "from",
        text(schedule.from().toString()),
        "to",
        text(schedule.to().toString()),
        "zone",
        text(schedule.zone().getId()),
        OPEN,
        AttributeValue.fromBool(schedule.isOpen()));
  }

  /** Scheduled limits; rows of older releases have none. */
  static LimitSchedules schedules(Row row) {
    return row.has(SCHEDULES)
        ? new LimitSchedules(
            List.copyOf(row.map(SCHEDULES, id -> id, (map, id) -> schedule(map.map(id))).values()))
        : LimitSchedules.NONE;
  }

  private static LimitSchedule schedule(Row row) {
    LimitSchedule schedule =
        LimitSchedule.of(row.decimal("factor"), row.text("from"), row.text("to"), row.text("zone"));
    return row.flag(OPEN) ? schedule.at(schedule.opensAt()) : schedule;
  }

  /** Puts limits and their modes. */
  static void putLimits(Map<String, AttributeValue> row, Limits limits) {
    row.put(LIMITS, limits(limits.values()));
    putModes(row, MODES, limits.modes());
  }

  /** Limits and their modes; rows of older releases have no modes. */
  static Limits readLimits(Row row) {
    return new Limits(limits(row, LIMITS), modes(row, MODES));
  }

  private static void putModes(
      Map<String, AttributeValue> row, String name, Map<Limit, LimitMode> modes) {
    if (!modes.isEmpty()) {
      row.put(name, map(modes, Limit::key, mode -> text(mode.name())));
    }
  }

  private static Map<Limit, LimitMode> modes(Row row, String name) {
    return row.has(name)
        ? row.map(name, Limit::named, (map, key) -> LimitMode.valueOf(map.text(key)))
        : Map.of();
  }

  private static AttributeValue limits(Map<Limit, Long> limits) {
    return map(limits, Limit::key, Attribute::number);
  }

  private static Map<Limit, Long> limits(Row row, String name) {
    return row.map(name, Limit::named, Row::number);
  }

  /** The attributes of a bucket's refill, capacity, fill policy and switch of the line. */
  public static Map<String, AttributeValue> spec(BucketSpec spec) {
    Map<String, AttributeValue> written = new HashMap<>(fillPolicy(spec.fillPolicy()));
    written.putAll(refill(spec.refill()));
    written.put("capacity", number(spec.capacity()));
    if (!spec.line()) {
      written.put(NO_LINE, AttributeValue.fromBool(true));
    }
    return written;
  }

  /** A bucket's refill, capacity, fill policy and switch of the line. */
  public static BucketSpec spec(Row row) {
    return new BucketSpec(refill(row), row.number("capacity"), fillPolicy(row), !row.has(NO_LINE));
  }

  static Map<String, AttributeValue> fillPolicy(FillPolicy fillPolicy) {
    return Map.of(
        FILL_MODE,
        text(fillPolicy.mode().name()),
        "hibernateAfterMinutes",
        number(fillPolicy.hibernateAfterMinutes()));
  }

  static FillPolicy fillPolicy(Row row) {
    return new FillPolicy(
        FillMode.valueOf(row.text(FILL_MODE)), row.number("hibernateAfterMinutes"));
  }

  /** The attribute of a rate, in tokens a minute with decimals, or of a calendar. */
  static Map<String, AttributeValue> refill(Refill refill) {
    if (refill instanceof Rate rate) {
      return Map.of(RATE, AttributeValue.fromN(rate.tokensPerMinute().toPlainString()));
    }
    Calendar calendar = (Calendar) refill;
    Map<String, AttributeValue> written = new HashMap<>();
    written.put("every", text(calendar.every().name()));
    calendar.day().ifPresent(day -> written.put("day", text(day.name())));
    written.put("at", text(calendar.at().toString()));
    written.put("zone", text(calendar.zone().getId()));
    written.put("carryOver", AttributeValue.fromBool(calendar.carryOver()));
    return Map.of(REFILL, map(written));
  }

  /** A rate or a calendar. */
  static Refill refill(Row row) {
    if (!row.has(REFILL)) {
      return Rate.perMinute(row.decimal(RATE));
    }
    Row calendar = row.map(REFILL);
    return Calendar.of(
        calendar.text("every"),
        calendar.optional("day", calendar::text),
        calendar.text("at"),
        calendar.text("zone"),
        calendar.flag("carryOver"));
  }

  /** A note with its author. */
  static AttributeValue note(ChangeType what, Map<String, String> details, Author author) {
    Map<String, AttributeValue> note = new HashMap<>();
    details.forEach((name, value) -> note.put(name, text(value)));
    note.put(NOTED, text(what.label()));
    return map(Authorship.sign(note, author));
  }
}
