package dev.tollgate.aws.dynamodb.tenant;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.aws.dynamodb.VersionCondition;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.RollOut;
import dev.tollgate.core.tenant.TenantRange;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Tiers in the Tier table, with the function's own role. A default tier has no row until it is
 * changed. A removed default tier has a row that marks it as removed.
 */
public final class DynamoDbTiers implements Tiers {
  private static final Map<TierName, Tier> DEFAULTS =
      Tier.DEFAULTS.stream().collect(Collectors.toMap(Tier::name, Function.identity()));

  private final DynamoDbClient dynamoDb;
  private final Table table;
  private final Supplier<Author> author;

  /**
   * Tiers in this table.
   *
   * @param author who makes the changes
   */
  public DynamoDbTiers(DynamoDbClient dynamoDb, String table, Supplier<Author> author) {
    this.dynamoDb = dynamoDb;
    this.table = new Table(dynamoDb, table);
    this.author = author;
  }

  @Override
  public Optional<Tier> find(TierName name) {
    return row(name).map(TierRow::find).orElseGet(() -> Optional.ofNullable(DEFAULTS.get(name)));
  }

  private Optional<Row> row(TierName name) {
    return table.get("tier " + name, request -> request.key(TierRow.key(name)));
  }

  @Override
  public Page<Tier> list() {
    TreeMap<String, Tier> tiers = new TreeMap<>();
    List<UnreadableRow> unreadable = new ArrayList<>();
    Tier.DEFAULTS.forEach(tier -> tiers.put(tier.name().value(), tier));
    ask(
            "DynamoDB Scan of tiers",
            () ->
                dynamoDb
                    .scanPaginator(request -> request.tableName(table.name()).consistentRead(true))
                    .items()
                    .stream()
                    .map(Row::new)
                    .filter(TierRow::isTier)
                    .toList())
        .forEach(
            row -> {
              String name = row.text(TierRow.NAME);
              tiers.remove(name);
              try {
                TierRow.find(row).ifPresent(tier -> tiers.put(name, tier));
              } catch (UnreadableRow found) {
                unreadable.add(found);
              }
            });
    return new Page<>(List.copyOf(tiers.values()), Optional.empty(), unreadable);
  }

  @Override
  public WriteResult put(Tier next) {
    boolean first = next.version() == 1;
    return table.put(
        "tier " + next.name(),
        request ->
            request
                .item(Authorship.sign(TierRow.write(next), author.get()))
                .conditionExpression(
                    first ? "attribute_not_exists(#version)" : "#version = :before")
                .expressionAttributeNames(Map.of("#version", TierRow.VERSION))
                .expressionAttributeValues(
                    first ? null : Map.of(":before", Attribute.number(next.version() - 1))));
  }

  @Override
  public void markRolledOut(TierName name, long version) {
    table.update(
        "tier " + name,
        request ->
            request
                .key(TierRow.key(name))
                .updateExpression("SET #rolledOut = :version REMOVE #rollOut")
                .conditionExpression("#version = :version")
                .expressionAttributeNames(
                    Map.of(
                        "#rolledOut", TierRow.ROLLED_OUT,
                        "#rollOut", RollOutRow.ROLL_OUT,
                        "#version", TierRow.VERSION))
                .expressionAttributeValues(Map.of(":version", Attribute.number(version))));
  }

  @Override
  public Optional<RollOut> rollOut(TierName name) {
    return row(name)
        .map(
            row ->
                TierRow.find(row)
                    .map(tier -> row.read("roll-out", name, found -> RollOutRow.read(tier, found))))
        .orElseGet(() -> Optional.ofNullable(DEFAULTS.get(name)).map(RollOut::of));
  }

  @Override
  public WriteResult moveOn(
      RollOut read,
      Optional<TenantId> walkedTo,
      boolean walked,
      Optional<TenantRange> handedOut,
      Map<TenantRange, Long> failed,
      Instant now) {
    return update(read.tier(), RollOutRow.moveOn(read, walkedTo, walked, handedOut, failed, now));
  }

  @Override
  public WriteResult handOutAgain(Tier tier, TenantRange range, Instant now) {
    return update(tier, RollOutRow.handOutAgain(tier, range, now));
  }

  @Override
  public WriteResult close(Tier tier, TenantRange range, Map<TenantRange, Long> failed) {
    return update(tier, RollOutRow.close(tier, range, failed));
  }

  private WriteResult update(Tier tier, RollOutRow.Update update) {
    return table.update(
        "the roll-out of tier " + tier.name(),
        request -> update.applied(request).key(TierRow.key(tier.name())));
  }

  @Override
  public Optional<Release> rolledOutRelease() {
    return table
        .get(
            "the release",
            request -> request.key(Map.of(TierRow.NAME, Attribute.text(TierRow.RELEASE))))
        .map(TierRow::release);
  }

  @Override
  public void markRolledOut(Release release) {
    table.put("the release", request -> request.item(TierRow.release(release)));
  }

  @Override
  public WriteResult remove(TierName name, long version) {
    return DEFAULTS.containsKey(name) ? removeDefault(name, version) : removeOwn(name, version);
  }

  private WriteResult removeDefault(TierName name, long version) {
    String unchanged = version == 0 ? "attribute_not_exists(#version)" : "#version = :version";
    return table.put(
        "tier " + name,
        request ->
            request
                .item(Authorship.sign(TierRow.removed(name), author.get()))
                .conditionExpression("attribute_exists(#removed) OR " + unchanged)
                .expressionAttributeNames(
                    Map.of("#removed", TierRow.REMOVED, "#version", TierRow.VERSION))
                .expressionAttributeValues(
                    version == 0 ? null : Map.of(":version", Attribute.number(version))));
  }

  /** The author is written first: a deleted row cannot name who deleted it. */
  private WriteResult removeOwn(TierName name, long version) {
    table.update(
        "tier " + name,
        request ->
            Authorship.signRemoval(
                    request, author.get(), TierRow.VERSION, Attribute.number(version))
                .key(TierRow.key(name)));
    return table.delete(
        "tier " + name,
        request ->
            VersionCondition.deleting(request, TierRow.NAME, version).key(TierRow.key(name)));
  }
}
