package dev.tollgate.aws.dynamodb.tenant;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.RowAudit;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Changes of rows of the Tenant and Tier tables.
 *
 * <p>Each write of Tollgate raises a row's version or is marked as a removal. The author of any
 * other write is unknown: somebody edited the table, and the row still names an earlier author.
 */
public final class OperatorChanges implements RowAudit {
  private static final Set<String> NOT_SET_BY_OPERATORS =
      Set.of(
          "schema",
          TenantRow.VERSION,
          TenantRow.OBSERVED_VERSION,
          TenantRow.PENDING,
          TenantRow.ONBOARDED_AT,
          TenantRow.SCHEDULED,
          TenantRow.DUE_AT,
          TierRow.ROLLED_OUT,
          Authorship.CHANGED_BY,
          Authorship.CHANGED_IN,
          Authorship.REMOVING);

  /** Fields that rows have in nanoseconds. */
  private static final Set<String> TIMES = Set.of("since", "until", TierRow.RETREATED_AT);

  /** How the flat fields of a note begin. */
  private static final String NOTE = TenantRow.NOTE + ".";

  /** How the flat fields of scheduled limits begin. */
  private static final String SCHEDULE = TenantRow.SCHEDULES + ".";

  /** Streams round times down to the second, and clocks differ. */
  private static final Duration SKEW = Duration.ofSeconds(5);

  private static final String STATUS = "status";
  private static final String OFFBOARDING = "OFFBOARDING";

  @Override
  public Optional<AuditEntry> of(
      String id, Map<String, String> before, Map<String, String> after, Instant at) {
    Map<String, String> either = after.isEmpty() ? before : after;
    try {
      return either.containsKey(TenantRow.ID)
          ? ofTenant(id, new TenantId(either.get(TenantRow.ID)), before, after, at)
          : ofTierTable(id, either.getOrDefault(TierRow.NAME, ""), before, after, at);
    } catch (InvalidValue handmade) {
      // The key is no valid name, so the row belongs to no tenant and no tier.
      return Optional.empty();
    }
  }

  private static Optional<AuditEntry> ofTenant(
      String id,
      TenantId tenant,
      Map<String, String> before,
      Map<String, String> after,
      Instant at) {
    String noted = after.getOrDefault(NOTE + Authorship.CHANGED_IN, "");
    if (!noted.equals(before.getOrDefault(NOTE + Authorship.CHANGED_IN, "")) && !noted.isEmpty()) {
      return ofNote(id, tenant, noteOf(after), at);
    }
    Map<String, String> from = fields(before, TenantRow.ID);
    Map<String, String> to = fields(after, TenantRow.ID);
    ChangeType what =
        before.isEmpty()
            ? ChangeType.TENANT_ONBOARDED
            : after.isEmpty()
                ? ChangeType.TENANT_REMOVED
                : !isLeaving(before) && isLeaving(after)
                    ? ChangeType.TENANT_OFFBOARDED
                    : from.equals(to)
                        ? ChangeType.TENANT_RECONCILED
                        : ofSchedules(from, to, at).orElse(ChangeType.TENANT_CHANGED);
    boolean isOurs = after.isEmpty() ? isLeaving(before) : isNextVersion(before, after);
    if (what == ChangeType.TENANT_RECONCILED && !isOurs) {
      return Optional.empty();
    }
    Author author = author(after.isEmpty() ? before : after, isOurs);
    boolean isRepair = what == ChangeType.TENANT_RECONCILED && author.isRepairing();
    return Optional.of(
        AuditEntry.of(
            id,
            at,
            Subject.tenant(tenant),
            isRepair ? ChangeType.DRIFT_REPAIRED : what,
            author,
            from,
            to));
  }

  private static Map<String, String> noteOf(Map<String, String> row) {
    Map<String, String> note = new TreeMap<>();
    row.forEach(
        (name, value) -> {
          if (name.startsWith(NOTE)) {
            note.put(name.substring(NOTE.length()), value);
          }
        });
    return note;
  }

  private static Optional<AuditEntry> ofNote(
      String id, TenantId tenant, Map<String, String> note, Instant at) {
    Author author = author(note, true);
    ChangeType what = ChangeType.labelled(note.getOrDefault(TenantRow.NOTED, ""));
    note.keySet().removeAll(Set.of(TenantRow.NOTED, Authorship.CHANGED_BY, Authorship.CHANGED_IN));
    return Optional.of(AuditEntry.of(id, at, Subject.tenant(tenant), what, author, Map.of(), note));
  }

  private static boolean isLeaving(Map<String, String> tenant) {
    return OFFBOARDING.equals(tenant.get(STATUS));
  }

  private static Optional<AuditEntry> ofTierTable(
      String id, String key, Map<String, String> before, Map<String, String> after, Instant at) {
    if (key.equals(TierRow.ADMIT_ALL)) {
      return ofSwitch(id, before, after, at);
    }
    if (key.startsWith(TierRow.CONDITION)) {
      return ofCondition(id, DynamoDbConditions.tenant(key), before, after, at);
    }
    return key.startsWith("#")
        ? Optional.empty()
        : ofTier(id, new TierName(key), before, after, at);
  }

  private static Optional<AuditEntry> ofSwitch(
      String id, Map<String, String> before, Map<String, String> after, Instant at) {
    Map<String, String> from = isOver(before, at) ? Map.of() : fields(before, TierRow.NAME);
    Map<String, String> to = fields(after, TierRow.NAME);
    if (from.equals(to) || isMarked(after)) {
      return Optional.empty();
    }
    boolean isOff = after.isEmpty();
    return Optional.of(
        AuditEntry.of(
            id,
            at,
            Subject.DEPLOYMENT,
            isOff ? ChangeType.ADMIT_ALL_TURNED_OFF : ChangeType.ADMIT_ALL_TURNED_ON,
            author(
                isOff ? before : after, isOff ? isMarked(before) : isOfNewRequest(before, after)),
            from,
            to));
  }

  /** Whether the switch had turned itself off. */
  private static boolean isOver(Map<String, String> before, Instant at) {
    Map<String, String> fields = fields(before, TierRow.NAME);
    try {
      return !Instant.parse(fields.getOrDefault("until", "")).isAfter(at);
    } catch (DateTimeParseException handmade) {
      return false;
    }
  }

  private static Optional<AuditEntry> ofCondition(
      String id,
      TenantId tenant,
      Map<String, String> before,
      Map<String, String> after,
      Instant at) {
    Map<String, String> from = fields(before, TierRow.NAME);
    Map<String, String> to = fields(after, TierRow.NAME);
    boolean wasThrottled = from.containsKey(DynamoDbConditions.REFUSED);
    boolean isThrottled = to.containsKey(DynamoDbConditions.REFUSED);
    Optional<ChangeType> what =
        wasThrottled == isThrottled
            ? Optional.of(ChangeType.LIMIT_NEAR)
                .filter(near -> !from.keySet().containsAll(to.keySet()))
            : Optional.of(isThrottled ? ChangeType.TENANT_THROTTLED : ChangeType.TENANT_RECOVERED);
    return what.map(
        type ->
            AuditEntry.of(
                id,
                at,
                Subject.tenant(tenant),
                type,
                author(after.isEmpty() ? before : after, true),
                from,
                to));
  }

  private static Optional<AuditEntry> ofTier(
      String id, TierName name, Map<String, String> before, Map<String, String> after, Instant at) {
    // A default tier has no row until it changes.
    Map<String, String> stored = before.isEmpty() ? initial(name) : before;
    Map<String, String> from = isRemoved(stored) ? Map.of() : fields(stored, TierRow.NAME);
    Map<String, String> to = isRemoved(after) ? Map.of() : fields(after, TierRow.NAME);
    if (from.equals(to)) {
      return Optional.empty();
    }
    boolean isOurs =
        after.isEmpty()
            ? isMarked(before)
            : isRemoved(after) ? isOfNewRequest(before, after) : isNextVersion(before, after);
    return Optional.of(
        AuditEntry.of(
            id,
            at,
            Subject.tier(name),
            to.isEmpty()
                ? ChangeType.TIER_REMOVED
                : from.isEmpty()
                    ? ChangeType.TIER_CREATED
                    : retreated(before, after)
                        ? ChangeType.RETREAT_BEGUN
                        : ofSchedules(from, to, at).orElse(ChangeType.TIER_CHANGED),
            author(after.isEmpty() ? before : after, isOurs),
            from,
            to));
  }

  /**
   * How the scheduled limits of a tier or a tenant changed; empty if they did not. If one window
   * closes when the next one opens, the entry of the next one shows both.
   */
  private static Optional<ChangeType> ofSchedules(
      Map<String, String> from, Map<String, String> to, Instant at) {
    Set<String> before = scheduleIds(from);
    Set<String> after = scheduleIds(to);
    if (after.stream().anyMatch(id -> isOpen(id, to) && !isOpen(id, from))) {
      return Optional.of(ChangeType.WINDOW_OPENED);
    }
    Optional<String> gone = before.stream().filter(id -> !after.contains(id)).findAny();
    if (gone.isPresent()) {
      return Optional.of(
          isClosed(gone.get(), from, at)
              ? ChangeType.WINDOW_CLOSED
              : ChangeType.SCHEDULE_CANCELLED);
    }
    return before.containsAll(after) ? Optional.empty() : Optional.of(ChangeType.LIMITS_SCHEDULED);
  }

  private static Set<String> scheduleIds(Map<String, String> row) {
    return row.keySet().stream()
        .filter(name -> name.startsWith(SCHEDULE))
        .map(name -> name.substring(SCHEDULE.length()).split("\\.", 2)[0])
        .collect(Collectors.toSet());
  }

  private static boolean isOpen(String id, Map<String, String> row) {
    return "true".equals(row.get(SCHEDULE + id + "." + TenantRow.OPEN));
  }

  private static boolean isClosed(String id, Map<String, String> row, Instant at) {
    Function<String, String> field = name -> row.getOrDefault(SCHEDULE + id + "." + name, "");
    try {
      LimitSchedule schedule =
          LimitSchedule.of(
              new BigDecimal(field.apply("factor")),
              field.apply("from"),
              field.apply("to"),
              field.apply("zone"));
      return !schedule.closesAt().isAfter(at.plus(SKEW));
    } catch (InvalidValue | NumberFormatException handmade) {
      return false;
    }
  }

  private static boolean retreated(Map<String, String> before, Map<String, String> after) {
    return after.containsKey(TierRow.RETREATED_AT)
        && !after.get(TierRow.RETREATED_AT).equals(before.getOrDefault(TierRow.RETREATED_AT, ""));
  }

  private static boolean isRemoved(Map<String, String> tier) {
    return tier.isEmpty() || tier.containsKey(TierRow.REMOVED);
  }

  private static Map<String, String> initial(TierName name) {
    return Tier.DEFAULTS.stream()
        .filter(tier -> tier.name().equals(name))
        .findAny()
        .map(tier -> flat("", TierRow.write(tier)))
        .orElse(Map.of());
  }

  private static Map<String, String> flat(String prefix, Map<String, AttributeValue> row) {
    Map<String, String> fields = new TreeMap<>();
    row.forEach(
        (name, value) -> {
          if (value.hasM()) {
            fields.putAll(flat(prefix + name + ".", value.m()));
          } else {
            Optional.ofNullable(value.s())
                .or(() -> Optional.ofNullable(value.n()))
                .or(() -> Optional.ofNullable(value.bool()).map(String::valueOf))
                .ifPresent(text -> fields.put(prefix + name, text));
          }
        });
    return fields;
  }

  private static boolean isMarked(Map<String, String> row) {
    return row.containsKey(Authorship.REMOVING);
  }

  /** A row that is edited by hand still names the request of before. */
  private static boolean isOfNewRequest(Map<String, String> before, Map<String, String> after) {
    return !after
        .getOrDefault(Authorship.CHANGED_IN, "")
        .equals(before.getOrDefault(Authorship.CHANGED_IN, ""));
  }

  private static boolean isNextVersion(Map<String, String> before, Map<String, String> after) {
    return !after
        .getOrDefault(TenantRow.VERSION, "")
        .equals(before.getOrDefault(TenantRow.VERSION, ""));
  }

  private static Author author(Map<String, String> row, boolean isOurs) {
    return isOurs
        ? Author.of(
            row.getOrDefault(Authorship.CHANGED_BY, ""),
            row.getOrDefault(Authorship.CHANGED_IN, ""))
        : Author.UNKNOWN;
  }

  /** The fields that operators set, without the key. */
  private static Map<String, String> fields(Map<String, String> row, String key) {
    Map<String, String> fields = new TreeMap<>(row);
    Predicate<String> isLeftOut =
        name ->
            name.equals(key)
                || NOT_SET_BY_OPERATORS.contains(name)
                || name.startsWith(NOTE)
                || name.startsWith(RollOutRow.ROLL_OUT + ".");
    fields.keySet().removeIf(isLeftOut);
    TIMES.forEach(name -> fields.computeIfPresent(name, (field, nanos) -> time(nanos)));
    return fields;
  }

  private static String time(String nanos) {
    try {
      return Attribute.instant(Long.parseLong(nanos)).toString();
    } catch (NumberFormatException handmade) {
      return nanos;
    }
  }
}
