package dev.tollgate.aws.dynamodb.tenant;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.tenant.RollOut;
import dev.tollgate.core.tenant.TenantRange;
import dev.tollgate.core.tenant.Tier;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * The progress of a roll-out in a tier's row. A new version of the tier replaces the row, and so
 * the progress ends with the version that it belongs to.
 */
final class RollOutRow {
  /** The attribute, a map; absent until the roll-out has begun. */
  static final String ROLL_OUT = "rollOut";

  private static final String WALKED_TO = "walkedTo";
  private static final String WALKED = "walked";
  private static final String HANDED_OUT = "handedOut";
  private static final String FAILED = "failed";

  private RollOutRow() {}

  static RollOut read(Tier tier, Row row) {
    if (!row.has(ROLL_OUT)) {
      return RollOut.of(tier);
    }
    Row progress = row.map(ROLL_OUT);
    return new RollOut(
        tier,
        progress.optional(WALKED_TO, progress::text).map(TenantId::new),
        progress.flag(WALKED),
        progress.map(HANDED_OUT, TenantRange::parse, Row::nanos),
        progress.map(FAILED, TenantRange::parse, Row::number));
  }

  /** See {@link dev.tollgate.core.tenant.Tiers#moveOn}. */
  static Update moveOn(
      RollOut read,
      Optional<TenantId> walkedTo,
      boolean walked,
      Optional<TenantRange> handedOut,
      Map<TenantRange, Long> failed,
      Instant now) {
    Update update = new Update(read.tier());
    if (read.walkedTo().isEmpty()) {
      Map<String, AttributeValue> progress = new HashMap<>();
      walkedTo.ifPresent(id -> progress.put(WALKED_TO, Attribute.text(id.value())));
      progress.put(WALKED, AttributeValue.fromBool(walked));
      progress.put(
          HANDED_OUT,
          Attribute.map(
              handedOut
                  .map(range -> Map.of(range.toString(), Attribute.nanos(now)))
                  .orElse(Map.of())));
      progress.put(FAILED, Attribute.map(failed, TenantRange::toString, Attribute::number));
      return update
          .set(List.of(ROLL_OUT), Attribute.map(progress))
          .onlyIf("attribute_not_exists(" + update.path(List.of(ROLL_OUT)) + ")");
    }
    update.onlyIf(
        update.path(List.of(ROLL_OUT, WALKED_TO))
            + " = "
            + update.value(Attribute.text(read.walkedTo().get().value())));
    update.onlyIf(
        update.path(List.of(ROLL_OUT, WALKED))
            + " = "
            + update.value(AttributeValue.fromBool(false)));
    walkedTo.ifPresent(id -> update.set(List.of(ROLL_OUT, WALKED_TO), Attribute.text(id.value())));
    update.set(List.of(ROLL_OUT, WALKED), AttributeValue.fromBool(walked));
    handedOut.ifPresent(range -> update.set(handedOut(range), Attribute.nanos(now)));
    return update.setFailed(failed);
  }

  /** See {@link dev.tollgate.core.tenant.Tiers#handOutAgain}. */
  static Update handOutAgain(Tier tier, TenantRange range, Instant now) {
    Update update = new Update(tier);
    return update
        .onlyIf(
            "(attribute_exists("
                + update.path(handedOut(range))
                + ") OR attribute_exists("
                + update.path(failed(range))
                + "))")
        .set(handedOut(range), Attribute.nanos(now))
        .remove(failed(range));
  }

  /** See {@link dev.tollgate.core.tenant.Tiers#close}. */
  static Update close(Tier tier, TenantRange range, Map<TenantRange, Long> failed) {
    Update update = new Update(tier);
    return update
        .onlyIf("attribute_exists(" + update.path(handedOut(range)) + ")")
        .remove(handedOut(range))
        .setFailed(failed);
  }

  private static List<String> handedOut(TenantRange range) {
    return List.of(ROLL_OUT, HANDED_OUT, range.toString());
  }

  private static List<String> failed(TenantRange range) {
    return List.of(ROLL_OUT, FAILED, range.toString());
  }

  /** A write of a tier's row that results in {@link WriteResult#CONFLICT} at another version. */
  static final class Update {
    private final Map<String, String> names = new HashMap<>();
    private final Map<String, AttributeValue> values = new HashMap<>();
    private final List<String> sets = new ArrayList<>();
    private final List<String> removes = new ArrayList<>();
    private final List<String> conditions = new ArrayList<>();

    private Update(Tier tier) {
      onlyIf(path(List.of(TierRow.VERSION)) + " = " + value(Attribute.number(tier.version())));
    }

    private Update onlyIf(String condition) {
      conditions.add(condition);
      return this;
    }

    private Update set(List<String> path, AttributeValue value) {
      sets.add(path(path) + " = " + value(value));
      return this;
    }

    private Update remove(List<String> path) {
      removes.add(path(path));
      return this;
    }

    private Update setFailed(Map<TenantRange, Long> failed) {
      failed.forEach((range, tenants) -> set(RollOutRow.failed(range), Attribute.number(tenants)));
      return this;
    }

    /** The path of an attribute, with placeholders for the names. */
    private String path(List<String> path) {
      return String.join(".", path.stream().map(this::name).toList());
    }

    private String name(String name) {
      return names.entrySet().stream()
          .filter(entry -> entry.getValue().equals(name))
          .map(Map.Entry::getKey)
          .findAny()
          .orElseGet(
              () -> {
                String placeholder = "#n" + names.size();
                names.put(placeholder, name);
                return placeholder;
              });
    }

    private String value(AttributeValue value) {
      String placeholder = ":v" + values.size();
      values.put(placeholder, value);
      return placeholder;
    }

    UpdateItemRequest.Builder applied(UpdateItemRequest.Builder request) {
      String set = sets.isEmpty() ? "" : "SET " + String.join(", ", sets);
      String remove = removes.isEmpty() ? "" : " REMOVE " + String.join(", ", removes);
      return request
          .updateExpression(set + remove)
          .conditionExpression(String.join(" AND ", conditions))
          .expressionAttributeNames(names)
          .expressionAttributeValues(values);
    }
  }
}
