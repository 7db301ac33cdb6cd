package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.dynamodb.Attribute;
import software.amazon.awscdk.services.dynamodb.AttributeType;
import software.amazon.awscdk.services.dynamodb.BillingMode;
import software.amazon.awscdk.services.dynamodb.GlobalSecondaryIndexProps;
import software.amazon.awscdk.services.dynamodb.PointInTimeRecoverySpecification;
import software.amazon.awscdk.services.dynamodb.ProjectionType;
import software.amazon.awscdk.services.dynamodb.StreamViewType;
import software.amazon.awscdk.services.dynamodb.Table;
import software.amazon.awscdk.services.dynamodb.TableEncryption;
import software.amazon.awscdk.services.iam.AccountRootPrincipal;
import software.amazon.awscdk.services.iam.AnyPrincipal;
import software.amazon.awscdk.services.iam.ArnPrincipal;
import software.amazon.awscdk.services.iam.Effect;
import software.amazon.awscdk.services.iam.IPrincipal;
import software.amazon.awscdk.services.iam.PolicyDocument;
import software.amazon.awscdk.services.iam.PolicyStatement;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.kms.Key;
import software.constructs.Construct;

/**
 * The tables. Functions get a table's name in a variable that is named after the id of its
 * construct: {@code TENANT_TABLE} for {@code Tenant}.
 */
final class Tables extends Construct {
  /**
   * What copies the rows of a table: a stream and a replica ({@code UpdateTable}), a backup, an
   * export, a restored table and a Kinesis stream. A table's policy may name each of them.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/rbac-iam-actions.html">DynamoDB
   *     API operations supported by resource-based policies</a>
   */
  private static final String[] COPIES = {
    "CreateBackup",
    "EnableKinesisStreamingDestination",
    "ExportTableToPointInTime",
    "RestoreTableToPointInTime",
    "UpdateContinuousBackups",
    "UpdateTable"
  };

  /** The actions on a key that neither use it nor grant its use. */
  private static final String[] ADMINISTRATION = {
    "CancelKeyDeletion",
    "DescribeKey",
    "DisableKey",
    "DisableKeyRotation",
    "EnableKey",
    "EnableKeyRotation",
    "GetKeyPolicy",
    "GetKeyRotationStatus",
    "ListGrants",
    "ListResourceTags",
    "PutKeyPolicy",
    "RevokeGrant",
    "ScheduleKeyDeletion",
    "TagResource",
    "UntagResource",
    "UpdateKeyDescription"
  };

  private final RemovalPolicy removalPolicy;
  private final Table tenant;
  private final Table tier;
  private final Table session;
  private final Table limit;
  private final Table idempotency;
  private final Optional<Shared> credentials;
  private final Table history;
  private final Table audit;

  /** The Credentials table and its key. */
  private record Shared(Table table, Key key) {}

  Tables(Construct scope, TollgateProps props) {
    super(scope, "Tables");
    this.removalPolicy = props.removalPolicy();
    tenant =
        table("Tenant").partitionKey(text("tenantId")).stream(StreamViewType.NEW_AND_OLD_IMAGES)
            .build();
    tenant.addGlobalSecondaryIndex(
        GlobalSecondaryIndexProps.builder()
            .indexName("byTier")
            .partitionKey(text("tier"))
            .sortKey(text("tenantId"))
            .projectionType(ProjectionType.ALL)
            .build());
    // Only tenants with pending changes have the attribute.
    tenant.addGlobalSecondaryIndex(
        GlobalSecondaryIndexProps.builder()
            .indexName("pending")
            .partitionKey(text("pending"))
            .sortKey(text("tenantId"))
            .projectionType(ProjectionType.KEYS_ONLY)
            .build());
    // Only tenants with scheduled limits of their own have the attributes.
    tenant.addGlobalSecondaryIndex(
        GlobalSecondaryIndexProps.builder()
            .indexName("scheduled")
            .partitionKey(text("scheduled"))
            .sortKey(Attribute.builder().name("dueAt").type(AttributeType.NUMBER).build())
            .projectionType(ProjectionType.KEYS_ONLY)
            .build());
    tier =
        table("Tier").partitionKey(text("tier")).stream(StreamViewType.NEW_AND_OLD_IMAGES).build();
    session =
        table("Session")
            .partitionKey(text("tenantId"))
            .sortKey(text("sessionId"))
            .timeToLiveAttribute("sessionTTL")
            .stream(StreamViewType.NEW_AND_OLD_IMAGES)
            .build();
    // Only the rows of processed messages have the attribute.
    limit =
        table("Limit")
            .partitionKey(text("tenantId"))
            .sortKey(text("key"))
            .timeToLiveAttribute("expiresAt")
            .stream(StreamViewType.NEW_AND_OLD_IMAGES)
            .build();
    history =
        table("History")
            .partitionKey(text("key"))
            .sortKey(text("at"))
            .timeToLiveAttribute("expiresAt")
            .build();
    audit = newAudit();
    idempotency =
        table("Idempotency").partitionKey(text("key")).timeToLiveAttribute("expiresAt").build();
    credentials = props.shareCredentials() ? Optional.of(newCredentials()) : Optional.empty();
    // Only the row with a tenant's rate of session creations has the attribute, and only while the
    // tenant may have sessions.
    limit.addGlobalSecondaryIndex(
        GlobalSecondaryIndexProps.builder()
            .indexName("live")
            .partitionKey(text("live"))
            .sortKey(text("tenantId"))
            .projectionType(ProjectionType.KEYS_ONLY)
            .build());
    // Only buckets that belong to a shard have the attributes.
    limit.addGlobalSecondaryIndex(
        GlobalSecondaryIndexProps.builder()
            .indexName("shard")
            .partitionKey(text("shard"))
            .sortKey(Attribute.builder().name("turnAt").type(AttributeType.NUMBER).build())
            .projectionType(ProjectionType.KEYS_ONLY)
            .build());
  }

  Table tenant() {
    return tenant;
  }

  Table tier() {
    return tier;
  }

  Table session() {
    return session;
  }

  Table limit() {
    return limit;
  }

  Table idempotency() {
    return idempotency;
  }

  Table history() {
    return history;
  }

  Table audit() {
    return audit;
  }

  /** The table in which functions share credentials, if they do. */
  Optional<Table> credentials() {
    return credentials.map(Shared::table);
  }

  /**
   * Denies everybody but these roles the rows of the Credentials table and the use of its key, and
   * everybody to copy the rows. They are secrets: an account's administrators, auditors and backups
   * read tables too. Each role's own policy allows its rows alone.
   */
  void closeCredentials(List<Role> functions) {
    credentials.ifPresent(
        shared -> {
          close(shared.table(), functions);
          shared
              .table()
              .addToResourcePolicy(
                  Policies.statement(List.of("*"), "dynamodb", COPIES)
                      .effect(Effect.DENY)
                      .principals(List.of(new AnyPrincipal()))
                      .build());
          // DynamoDB decrypts the table's key on behalf of the role that sends a request.
          shared
              .key()
              .addToResourcePolicy(
                  throughDynamoDb("Decrypt")
                      .principals(
                          functions.stream()
                              .map(role -> (IPrincipal) new ArnPrincipal(role.getRoleArn()))
                              .toList())
                      .build());
        });
  }

  /** A statement about the key for requests that DynamoDB sends on behalf of a caller. */
  private PolicyStatement.Builder throughDynamoDb(String... actions) {
    return Policies.statement(List.of("*"), "kms", actions)
        .conditions(
            Map.of(
                "StringEquals",
                Map.of(
                    "kms:ViaService",
                    "dynamodb." + Stack.of(this).getRegion() + ".amazonaws.com")));
  }

  /** Denies everybody but these roles the rows of a table. */
  static void close(Table table, List<Role> roles) {
    table.addToResourcePolicy(
        Policies.statement(
                List.of("*"),
                "dynamodb",
                "BatchGetItem",
                "BatchWriteItem",
                "ConditionCheckItem",
                "DeleteItem",
                "GetItem",
                "PartiQLDelete",
                "PartiQLInsert",
                "PartiQLSelect",
                "PartiQLUpdate",
                "PutItem",
                "Query",
                "Scan",
                "UpdateItem")
            .effect(Effect.DENY)
            .principals(List.of(new AnyPrincipal()))
            .conditions(
                Map.of(
                    "StringNotEquals",
                    Map.of("aws:PrincipalArn", roles.stream().map(Role::getRoleArn).toList())))
            .build());
  }

  /**
   * Denies everybody to change or delete entries of the audit, and everybody but this role to add
   * some. DynamoDB itself deletes those that expired.
   */
  void closeAudit(Role writer) {
    audit.addToResourcePolicy(
        Policies.statement(
                List.of("*"),
                "dynamodb",
                "BatchWriteItem",
                "DeleteItem",
                "PartiQLDelete",
                "PartiQLInsert",
                "PartiQLUpdate",
                "UpdateItem")
            .effect(Effect.DENY)
            .principals(List.of(new AnyPrincipal()))
            .build());
    audit.addToResourcePolicy(
        Policies.statement(List.of("*"), "dynamodb", "PutItem")
            .effect(Effect.DENY)
            .principals(List.of(new AnyPrincipal()))
            .conditions(
                Map.of("StringNotEquals", Map.of("aws:PrincipalArn", List.of(writer.getRoleArn()))))
            .build());
  }

  /** The environment variable with a table's name. */
  static String variable(Table table) {
    return table.getNode().getId().toUpperCase(Locale.ROOT) + "_TABLE";
  }

  /**
   * Encrypted at rest with a key that DynamoDB owns, the default. With a KMS key, DynamoDB would
   * call KMS for every new principal, and here each tenant is a principal.
   */
  private Table.Builder table(String id) {
    return Table.Builder.create(this, id)
        .billingMode(BillingMode.PAY_PER_REQUEST)
        .pointInTimeRecoverySpecification(
            PointInTimeRecoverySpecification.builder().pointInTimeRecoveryEnabled(true).build())
        .removalPolicy(removalPolicy);
  }

  /** Who changed what. Kept when the stack is deleted, whatever becomes of the other tables. */
  private Table newAudit() {
    Table table =
        table("Audit")
            .partitionKey(text("subject"))
            .sortKey(text("at"))
            .timeToLiveAttribute("expiresAt")
            .stream(StreamViewType.NEW_AND_OLD_IMAGES)
            .removalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
            .build();
    table.addGlobalSecondaryIndex(
        GlobalSecondaryIndexProps.builder()
            .indexName("byDay")
            .partitionKey(text("day"))
            .sortKey(text("at"))
            .projectionType(ProjectionType.ALL)
            .build());
    return table;
  }

  /**
   * Tenants' credentials, which the instances of a function share. They expire within an hour, so
   * the table is neither backed up nor kept.
   *
   * <p>The table's key is no other table's. The account's own policies may allow to administer the
   * key and to create a table with it, but not to decrypt.
   */
  private Shared newCredentials() {
    Key key =
        Key.Builder.create(this, "CredentialsKey")
            .description("Encrypts the credentials that the functions of Tollgate share.")
            .enableKeyRotation(true)
            .pendingWindow(Duration.days(7))
            .removalPolicy(RemovalPolicy.DESTROY)
            .policy(
                PolicyDocument.Builder.create()
                    .statements(
                        List.of(
                            Policies.statement(List.of("*"), "kms", ADMINISTRATION)
                                .principals(List.of(new AccountRootPrincipal()))
                                .build(),
                            throughDynamoDb("CreateGrant", "GenerateDataKey*")
                                .principals(List.of(new AccountRootPrincipal()))
                                .build()))
                    .build())
            .build();
    Table table =
        Table.Builder.create(this, "Credentials")
            .partitionKey(text("key"))
            .timeToLiveAttribute("endsAt")
            .billingMode(BillingMode.PAY_PER_REQUEST)
            .encryption(TableEncryption.CUSTOMER_MANAGED)
            .encryptionKey(key)
            .removalPolicy(RemovalPolicy.DESTROY)
            .build();
    NagSuppressions.addResourceSuppressions(
        table,
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-DDB3")
                .reason(
                    "A backup would be a copy of credentials. A function that finds none asks STS.")
                .build()));
    return new Shared(table, key);
  }

  private static Attribute text(String name) {
    return Attribute.builder().name(name).type(AttributeType.STRING).build();
  }
}
