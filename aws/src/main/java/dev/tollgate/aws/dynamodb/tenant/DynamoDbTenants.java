package dev.tollgate.aws.dynamodb.tenant;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.BatchGet;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.aws.dynamodb.VersionCondition;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantFilter;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.TierName;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/**
 * Tenants in the Tenant table, with the function's own role, because the control plane acts for no
 * single tenant.
 */
public final class DynamoDbTenants implements Tenants, AuditNotes {
  private static final String BY_TIER = "byTier";

  /**
   * Tenants that one request of a search scans: a thousand are close to the 1 MB that DynamoDB
   * scans at most.
   */
  private static final int SCANNED_AT_ONCE = 1_000;

  /** The most requests for one page of a search. */
  private static final int MAX_REQUESTS = 5;

  private final DynamoDbClient dynamoDb;
  private final Table table;
  private final Supplier<Author> author;
  private final int scannedAtOnce;

  /**
   * Tenants in this table.
   *
   * @param author who makes the changes
   */
  public DynamoDbTenants(DynamoDbClient dynamoDb, String table, Supplier<Author> author) {
    this(dynamoDb, table, author, SCANNED_AT_ONCE);
  }

  /**
   * Tenants in this table.
   *
   * @param author who makes the changes
   * @param scannedAtOnce how many tenants one request of a search scans
   */
  public DynamoDbTenants(
      DynamoDbClient dynamoDb, String table, Supplier<Author> author, int scannedAtOnce) {
    this.dynamoDb = dynamoDb;
    this.table = new Table(dynamoDb, table);
    this.author = author;
    this.scannedAtOnce = scannedAtOnce;
  }

  @Override
  public Optional<Tenant> find(TenantId id) {
    return table
        .get("tenant " + id, request -> request.key(TenantRow.key(id)))
        .map(TenantRow::read);
  }

  @Override
  public WriteResult create(Tenant tenant) {
    return table.put(
        "tenant " + tenant.id(),
        request ->
            request
                .item(signed(tenant))
                .conditionExpression("attribute_not_exists(#id)")
                .expressionAttributeNames(Map.of("#id", TenantRow.ID)));
  }

  @Override
  public WriteResult replace(Tenant next) {
    return table.put(
        "tenant " + next.id(),
        request -> VersionCondition.replacing(request, next.version()).item(signed(next)));
  }

  private Map<String, AttributeValue> signed(Tenant tenant) {
    return Authorship.sign(TenantRow.write(tenant), author.get());
  }

  @Override
  public void markObserved(TenantId id, long version) {
    table.update(
        "tenant " + id,
        request ->
            request
                .key(TenantRow.key(id))
                .updateExpression("SET #observed = :version REMOVE #pending")
                .conditionExpression("#version = :version")
                .expressionAttributeNames(
                    Map.of(
                        "#observed", TenantRow.OBSERVED_VERSION,
                        "#pending", TenantRow.PENDING,
                        "#version", TenantRow.VERSION))
                .expressionAttributeValues(Map.of(":version", Attribute.number(version))));
  }

  /**
   * {@inheritDoc}
   *
   * <p>The note is an attribute of the tenant's row, from whose stream the audit is written. The
   * next note or change of the tenant replaces it.
   */
  @Override
  public void note(TenantId id, ChangeType what, Map<String, String> details) {
    table.update(
        "tenant " + id,
        request ->
            request
                .key(TenantRow.key(id))
                .updateExpression("SET #note = :note")
                .conditionExpression("attribute_exists(#id)")
                .expressionAttributeNames(Map.of("#note", TenantRow.NOTE, "#id", TenantRow.ID))
                .expressionAttributeValues(
                    Map.of(":note", TenantRow.note(what, details, author.get()))));
  }

  @Override
  public WriteResult remove(TenantId id, long version) {
    return table.delete(
        "tenant " + id,
        request ->
            VersionCondition.deleting(request, TenantRow.ID, version).key(TenantRow.key(id)));
  }

  @Override
  public Page<Tenant> list(Optional<String> cursor, int max) {
    Map<String, AttributeValue> start =
        cursor.map(after -> TenantRow.key(tenantAt(after))).orElse(Map.of());
    ScanResponse part =
        ask(
            "DynamoDB Scan of tenants",
            () ->
                dynamoDb.scan(
                    request ->
                        request
                            .tableName(table.name())
                            .limit(max)
                            .consistentRead(true)
                            .exclusiveStartKey(start.isEmpty() ? null : start)));
    return page(part.items(), part.lastEvaluatedKey());
  }

  /**
   * {@inheritDoc}
   *
   * <p>Tiers and pending tenants have an index each; any other search scans the table. DynamoDB's
   * limit counts the items that it scans and not those that it finds, so one page may take several
   * requests.
   */
  @Override
  public Page<Tenant> search(TenantFilter filter, Optional<String> cursor, int max) {
    List<Tenant> found = new ArrayList<>();
    List<UnreadableRow> unreadable = new ArrayList<>();
    Optional<String> end = cursor;
    for (int i = 0; i < MAX_REQUESTS; i++) {
      Page<Tenant> results = searchOnce(filter, end, max - found.size());
      found.addAll(results.items());
      unreadable.addAll(results.unreadable());
      if (found.size() > max) {
        List<Tenant> page = found.subList(0, max);
        return new Page<>(page, Optional.of(page.get(max - 1).id().value()), unreadable);
      }
      end = results.next();
      if (found.size() == max || end.isEmpty()) {
        break;
      }
    }
    return new Page<>(found, end, unreadable);
  }

  /** The results of one request, which may be more than {@code left}. */
  private Page<Tenant> searchOnce(TenantFilter filter, Optional<String> cursor, int left) {
    if (filter.tier().isPresent()) {
      return inTier(filter.tier().get(), filter, cursor, filter.pending() ? scannedAtOnce : left);
    }
    if (filter.pending()) {
      return pending(filter, cursor, left);
    }
    if (filter.prefix().isEmpty()) {
      return list(cursor, left);
    }
    ScanResponse part =
        ask(
            "DynamoDB Scan for tenants",
            () ->
                dynamoDb.scan(
                    request ->
                        request
                            .tableName(table.name())
                            .limit(scannedAtOnce)
                            .consistentRead(true)
                            .filterExpression("begins_with(#id, :prefix)")
                            .expressionAttributeNames(Map.of("#id", TenantRow.ID))
                            .expressionAttributeValues(
                                Map.of(":prefix", Attribute.text(filter.prefix().get())))
                            .exclusiveStartKey(
                                cursor.map(after -> TenantRow.key(tenantAt(after))).orElse(null))));
    return page(part.items(), part.lastEvaluatedKey());
  }

  @Override
  public Page<Tenant> inTier(TierName tier, Optional<String> cursor, int max) {
    return inTier(tier, TenantFilter.ALL, cursor, max);
  }

  private Page<Tenant> inTier(
      TierName tier, TenantFilter filter, Optional<String> cursor, int max) {
    AttributeValue name = Attribute.text(tier.value());
    QueryRequest.Builder request = byName(BY_TIER, TenantRow.TIER, name, filter, cursor, max);
    if (filter.pending()) {
      request.filterExpression("attribute_exists(" + TenantRow.PENDING + ")");
    }
    QueryResponse part =
        ask("DynamoDB Query of the tenants in " + tier, () -> dynamoDb.query(request.build()));
    return page(part.items(), part.lastEvaluatedKey());
  }

  /** The tenants of the index that are still pending. */
  private Page<Tenant> pending(TenantFilter filter, Optional<String> cursor, int max) {
    QueryRequest request =
        byName(TenantRow.PENDING, TenantRow.PENDING, TenantRow.IS_PENDING, filter, cursor, max)
            .build();
    QueryResponse part = ask("DynamoDB Query of pending tenants", () -> dynamoDb.query(request));
    List<Map<String, AttributeValue>> keys =
        part.items().stream().map(item -> Map.of(TenantRow.ID, item.get(TenantRow.ID))).toList();
    List<Row> rows =
        BatchGet.read(dynamoDb, "tenants", Map.of(table.name(), keys), 2, noOptions -> {})
            .getOrDefault(table.name(), List.of());
    Page<Tenant> found = page(rows.stream().map(Row::attributes).toList(), part.lastEvaluatedKey());
    return new Page<>(
        found.items().stream().filter(filter::matches).toList(), found.next(), found.unreadable());
  }

  /** A query of an index that is sorted by tenant id. */
  private QueryRequest.Builder byName(
      String index,
      String key,
      AttributeValue value,
      TenantFilter filter,
      Optional<String> cursor,
      int max) {
    Map<String, String> names = new HashMap<>(Map.of("#key", key));
    Map<String, AttributeValue> values = new HashMap<>(Map.of(":key", value));
    filter
        .prefix()
        .ifPresent(
            prefix -> {
              names.put("#id", TenantRow.ID);
              values.put(":prefix", Attribute.text(prefix));
            });
    return QueryRequest.builder()
        .tableName(table.name())
        .indexName(index)
        .keyConditionExpression(
            "#key = :key" + (filter.prefix().isPresent() ? " AND begins_with(#id, :prefix)" : ""))
        .expressionAttributeNames(names)
        .expressionAttributeValues(values)
        .limit(max)
        .exclusiveStartKey(
            cursor
                .map(
                    after ->
                        Map.of(TenantRow.ID, Attribute.text(tenantAt(after).value()), key, value))
                .orElse(null));
  }

  @Override
  public List<TenantId> listPending(Optional<TenantId> after, int max) {
    Optional<Map<String, AttributeValue>> start =
        after.map(
            id ->
                Map.of(
                    TenantRow.ID,
                    Attribute.text(id.value()),
                    TenantRow.PENDING,
                    TenantRow.IS_PENDING));
    return ask(
        "DynamoDB Query of pending tenants",
        () ->
            dynamoDb
                .queryPaginator(
                    request ->
                        request
                            .tableName(table.name())
                            .indexName(TenantRow.PENDING)
                            .keyConditionExpression("#pending = :pending")
                            .expressionAttributeNames(Map.of("#pending", TenantRow.PENDING))
                            .expressionAttributeValues(Map.of(":pending", TenantRow.IS_PENDING))
                            .exclusiveStartKey(start.orElse(null))
                            .limit(max))
                .items()
                .stream()
                .limit(max)
                .map(item -> new TenantId(new Row(item).text(TenantRow.ID)))
                .toList());
  }

  @Override
  public List<TenantId> listDue(Instant now, int max) {
    return ask(
            "DynamoDB Query of tenants with due windows",
            () ->
                dynamoDb.query(
                    request ->
                        request
                            .tableName(table.name())
                            .indexName(TenantRow.SCHEDULED)
                            .keyConditionExpression("#scheduled = :scheduled AND #due <= :now")
                            .expressionAttributeNames(
                                Map.of("#scheduled", TenantRow.SCHEDULED, "#due", TenantRow.DUE_AT))
                            .expressionAttributeValues(
                                Map.of(
                                    ":scheduled",
                                    TenantRow.IS_SCHEDULED,
                                    ":now",
                                    Attribute.nanos(now)))
                            .limit(max)))
        .items()
        .stream()
        .map(item -> new TenantId(new Row(item).text(TenantRow.ID)))
        .toList();
  }

  /** Decodes a cursor, which is the id of the last tenant of the previous page. */
  private static TenantId tenantAt(String cursor) {
    try {
      return new TenantId(cursor);
    } catch (InvalidValue invalid) {
      throw new InvalidValue("cursor", cursor, "the cursor of the previous page");
    }
  }

  private static Page<Tenant> page(
      List<Map<String, AttributeValue>> items, Map<String, AttributeValue> last) {
    List<Tenant> tenants = new ArrayList<>();
    List<UnreadableRow> unreadable = new ArrayList<>();
    for (Map<String, AttributeValue> item : items) {
      try {
        tenants.add(TenantRow.read(new Row(item)));
      } catch (UnreadableRow found) {
        unreadable.add(found);
      }
    }
    return new Page<>(
        tenants,
        last.isEmpty() ? Optional.empty() : Optional.of(new Row(last).text(TenantRow.ID)),
        unreadable);
  }
}
