package dev.tollgate.aws.dynamodb.tenant;

import static dev.tollgate.aws.dynamodb.Attribute.map;
import static dev.tollgate.aws.dynamodb.Attribute.number;
import static dev.tollgate.aws.dynamodb.Attribute.text;

import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.Action;
import dev.tollgate.core.provisioning.Release;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** A tier as a row of the Tier table. */
public final class TierRow {
  public static final String NAME = "tier";
  static final String VERSION = "version";
  static final String ROLLED_OUT = "rolledOut";

  /** The row of the release that was rolled out; no tier has such a name. */
  public static final String RELEASE = "#release";

  /** Stands, alone, in the row of a default tier that was removed. */
  static final String REMOVED = "removed";

  private TierRow() {}

  public static Map<String, AttributeValue> key(TierName name) {
    return Map.of(NAME, text(name.value()));
  }

  /** The row that says which release was rolled out. */
  static Map<String, AttributeValue> release(Release release) {
    return Row.withSchema(Map.of(NAME, text(RELEASE), "release", text(release.value())));
  }

  static Release release(Row row) {
    return row.read("the rolled-out", "release", found -> new Release(found.text("release")));
  }

  static boolean isTier(Row row) {
    return !row.text(NAME).equals(RELEASE);
  }

  static Map<String, AttributeValue> removed(TierName name) {
    return Row.withSchema(Map.of(NAME, text(name.value()), REMOVED, AttributeValue.fromBool(true)));
  }

  static Map<String, AttributeValue> write(Tier tier) {
    Map<String, AttributeValue> row = Row.withSchema(key(tier.name()));
    row.put("isolation", text(tier.isolation().name()));
    row.put("limits", TenantRow.limits(tier.limits().values()));
    row.put("buckets", map(tier.buckets(), Action::value, TierRow::terms));
    row.putAll(TenantRow.filling(tier.fillPolicy()));
    row.put("onUnavailable", text(tier.onUnavailable().name()));
    row.put(VERSION, number(tier.version()));
    row.put(ROLLED_OUT, number(tier.rolledOut()));
    return row;
  }

  /** The tier that a row holds; empty if the row says that the tier was removed. */
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
        new Limits(TenantRow.limits(row, "limits")),
        row.map("buckets", Action::new, (map, name) -> terms(map.map(name))),
        TenantRow.filling(row),
        OnUnavailable.valueOf(row.text("onUnavailable")),
        row.number(VERSION),
        row.number(ROLLED_OUT));
  }

  private static AttributeValue terms(BucketTerms terms) {
    Map<String, AttributeValue> written = new HashMap<>();
    terms.rate().ifPresent(rate -> written.put("rate", TenantRow.rate(rate)));
    terms.capacity().ifPresent(capacity -> written.put("capacity", number(capacity)));
    return map(written);
  }

  private static BucketTerms terms(Row row) {
    return new BucketTerms(
        row.optional("rate", name -> TenantRow.rate(row)), row.optional("capacity", row::number));
  }
}
