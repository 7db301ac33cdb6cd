package dev.tollgate.aws.dynamodb.tenant;

import static dev.tollgate.aws.dynamodb.Attribute.map;
import static dev.tollgate.aws.dynamodb.Attribute.number;
import static dev.tollgate.aws.dynamodb.Attribute.text;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.Action;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Retreat;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Reads and writes tiers as rows of the Tier table. */
final class TierRow {
  /** The key: the tier's name. */
  static final String NAME = "tier";

  static final String VERSION = "version";
  static final String ROLLED_OUT = "rolledOut";

  /** The key of the row that holds the rolled-out release; it is no valid tier name. */
  static final String RELEASE = "#release";

  /** The key of the row that lifts all limits; it is no valid tier name, either. */
  static final String ADMIT_ALL = "#admit-all";

  /** The beginning of the keys of rows with tenants' conditions; they are no valid tier names. */
  static final String CONDITION = "#condition/";

  /** When the tier last stopped enforcing its limits by itself. */
  static final String RETREATED_AT = "retreatedAt";

  private static final String RETREAT_ABOVE = "retreatAbovePercent";

  /** Marks the row of a removed default tier. */
  static final String REMOVED = "removed";

  private TierRow() {}

  static Map<String, AttributeValue> key(TierName name) {
    return Map.of(NAME, text(name.value()));
  }

  /** The row of the rolled-out release. */
  static Map<String, AttributeValue> release(Release release) {
    return Row.withSchema(Map.of(NAME, text(RELEASE), "release", text(release.value())));
  }

  static Release release(Row row) {
    return row.read("the rolled-out", "release", found -> new Release(found.text("release")));
  }

  static boolean isTier(Row row) {
    return !row.text(NAME).startsWith("#");
  }

  static Map<String, AttributeValue> removed(TierName name) {
    return Row.withSchema(Map.of(NAME, text(name.value()), REMOVED, AttributeValue.fromBool(true)));
  }

  static Map<String, AttributeValue> write(Tier tier) {
    Map<String, AttributeValue> row = Row.withSchema(key(tier.name()));
    row.put("isolation", text(tier.isolation().name()));
    TenantRow.putLimits(row, tier.limits());
    row.put("buckets", map(tier.buckets(), Action::value, TierRow::terms));
    row.putAll(TenantRow.fillPolicy(tier.fillPolicy()));
    row.put("onUnavailable", text(tier.onUnavailable().name()));
    row.put(TenantRow.LINE, AttributeValue.fromBool(tier.line()));
    tier.retreat()
        .ifPresent(
            rule -> {
              row.put(RETREAT_ABOVE, number(rule.abovePercent()));
              rule.at().ifPresent(at -> row.put(RETREATED_AT, Attribute.nanos(at)));
            });
    TenantRow.putSchedules(row, tier.schedules());
    row.put(VERSION, number(tier.version()));
    row.put(ROLLED_OUT, number(tier.rolledOut()));
    return row;
  }

  /** The tier in a row; empty if the row marks a removed default tier. */
  static Optional<Tier> find(Row stored) {
    return stored.read(
        "tier",
        stored.text(NAME),
        row -> row.has(REMOVED) ? Optional.empty() : Optional.of(read(row)));
  }

  private static Tier read(Row row) {
    return new Tier(
        new TierName(row.text(NAME)),
        Isolation.valueOf(row.text("isolation")),
        TenantRow.readLimits(row),
        row.map("buckets", Action::new, (map, name) -> terms(map.map(name))),
        TenantRow.fillPolicy(row),
        OnUnavailable.valueOf(row.text("onUnavailable")),
        row.optional(TenantRow.LINE, row::flag).orElse(true),
        row.optional(RETREAT_ABOVE, row::number)
            .map(above -> new Retreat(above, row.optional(RETREATED_AT, row::nanos))),
        TenantRow.schedules(row),
        row.number(VERSION),
        row.number(ROLLED_OUT));
  }

  private static AttributeValue terms(BucketTerms terms) {
    Map<String, AttributeValue> written = new HashMap<>();
    terms.refill().ifPresent(refill -> written.putAll(TenantRow.refill(refill)));
    terms.capacity().ifPresent(capacity -> written.put("capacity", number(capacity)));
    return map(written);
  }

  private static BucketTerms terms(Row row) {
    return new BucketTerms(
        row.has(TenantRow.RATE) || row.has(TenantRow.REFILL)
            ? Optional.of(TenantRow.refill(row))
            : Optional.empty(),
        row.optional("capacity", row::number));
  }
}
