package dev.tollgate.bench.contenders;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.Tag;

/**
 * The requests of the AWS sample's admitted handshake, one after another as its functions send
 * them: AssumeRole and GetItem in the authorizer; AssumeRole, two GetItem, two UpdateItem and a
 * TransactWriteItems of two writes in {@code $connect}. Better than the sample, it keeps its
 * connections open, and nothing starts cold.
 */
public final class SampleHandshake implements AutoCloseable {
  /** The requests of a handshake. */
  public static final int REQUESTS = 8;

  private final PeerTable table;
  private final DynamoDbClient database;
  private final StsClient roles;
  private final String tenantId;
  private final String tenant = UUID.randomUUID().toString();

  /**
   * Opens the clients.
   *
   * @param tenantId an existing tenant, for the role's session
   */
  public SampleHandshake(PeerTable table, String tenantId) {
    this.table = table;
    this.tenantId = tenantId;
    this.database = table.client();
    this.roles = table.roles();
  }

  /** Sends the eight requests. */
  public void connect() {
    assumeRole();
    read("session");
    assumeRole();
    read("tenant-count");
    read("session");
    add("tenant-minute");
    add("session-minute");
    var unused =
        database.transactWriteItems(
            transaction ->
                transaction.transactItems(
                    List.of(
                        write("session", "SET lastConnection = :one"),
                        write("tenant-count", "ADD connections :one"))));
  }

  private TransactWriteItem write(String row, String update) {
    return TransactWriteItem.builder()
        .update(
            write ->
                write
                    .tableName(PeerTable.NAME)
                    .key(key(row))
                    .updateExpression(update)
                    .expressionAttributeValues(Map.of(":one", one())))
        .build();
  }

  private void assumeRole() {
    var unused =
        roles.assumeRole(
            role ->
                role.roleArn(table.variable("TENANT_ROLE_ARN"))
                    .roleSessionName("sample")
                    .tags(List.of(Tag.builder().key("tenantId").value(tenantId).build())));
  }

  private void read(String row) {
    var unused = database.getItem(read -> read.tableName(PeerTable.NAME).key(key(row)));
  }

  private void add(String row) {
    var unused =
        database.updateItem(
            write ->
                write
                    .tableName(PeerTable.NAME)
                    .key(key(row))
                    .updateExpression("ADD connections :one")
                    .expressionAttributeValues(Map.of(":one", one())));
  }

  private Map<String, AttributeValue> key(String row) {
    return Map.of(PeerTable.KEY, AttributeValue.fromS(tenant + "/" + row));
  }

  private static AttributeValue one() {
    return AttributeValue.fromN("1");
  }

  @Override
  public void close() {
    database.close();
    roles.close();
  }
}
