package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.iam.Grant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeAction;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.AttributeValueUpdate;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.FlexibleTimeWindow;
import software.amazon.awssdk.services.scheduler.model.FlexibleTimeWindowMode;
import software.amazon.awssdk.services.scheduler.model.Target;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.Credentials;
import software.amazon.awssdk.services.sts.model.Tag;

/**
 * Attacks with one tenant's credentials of each function: reading, writing, querying, batching,
 * transacting on and scanning another tenant's rows, receiving from its buckets, sending to its
 * queues, changing its schedules and its function. The tenant ids are such that a policy with a
 * prefix or wildcard would match.
 */
final class IsolationIT {
  private static final LocalDeployment DEPLOYMENT =
      LocalDeployment.sharingCredentials(FaultPlan.none());

  /** The tenant whose credentials the attacker has. */
  private static final String OWN = "acme";

  private static final List<String> VICTIMS = List.of("acme2", "acme-2", "an-acme");

  /** The tenant that an administrator attacks, to show that the attacks work. */
  private static final String SACRIFICE = "sacrifice";

  private static final String PREFIX = "https://sqs.us-east-1.amazonaws.com/000000000000/";
  private static final String FUNCTIONS = "arn:aws:lambda:us-east-1:000000000000:function:";
  private static final Map<String, List<String>> TABLES =
      Map.of(
          "TablesTenant", List.of("tenantId"),
          "TablesSession", List.of("tenantId", "sessionId"),
          "TablesLimit", List.of("tenantId", "key"));

  /** The tenant role of programs that claim tokens. */
  private static final String CLAIMS = "Claims";

  private static int attacks;

  /** Clients with an attacker's credentials. */
  private record Attacker(
      DynamoDbClient rows, SqsClient queues, SchedulerClient schedules, LambdaClient functions) {
    static Attacker with(AwsSessionCredentials credentials) {
      return new Attacker(
          DEPLOYMENT.client(DynamoDbClient.builder(), credentials),
          DEPLOYMENT.client(SqsClient.builder(), credentials),
          DEPLOYMENT.client(SchedulerClient.builder(), credentials),
          DEPLOYMENT.client(LambdaClient.builder(), credentials));
    }
  }

  @BeforeAll
  static void tenants() throws Exception {
    for (String tenant : Stream.concat(Stream.of(OWN, SACRIFICE), VICTIMS.stream()).toList()) {
      assertThat(DEPLOYMENT.onboard(tenant, "gold", "{}").status()).isEqualTo(201);
      DEPLOYMENT.open(tenant);
    }
    DEPLOYMENT.cloud().settle();
  }

  @AfterAll
  static void close() {
    DEPLOYMENT.close();
  }

  static Stream<String> tenantRoles() {
    return DEPLOYMENT.cloud().policies().uses().keySet().stream()
        .map(Grant::role)
        .filter(role -> role.endsWith("Tenant") || role.equals(CLAIMS))
        .distinct();
  }

  @ParameterizedTest
  @MethodSource("tenantRoles")
  void credentials_of_one_tenant_cannot_access_another(String role) {
    Attacker attacker = Attacker.with(assumed(role));
    Map<String, String> before = victims();
    for (String victim : VICTIMS) {
      attacksOn(victim)
          .forEach(
              (name, attack) -> {
                assertThat(outcome(attack, attacker)).as("%s: %s", victim, name).isEqualTo(DENIED);
                attacks++;
              });
    }
    assertThat(victims()).isEqualTo(before);
    System.out.printf("%s: %d attacks refused so far%n", role, attacks);
  }

  /** Without this test, an attack could be refused because it is malformed, and prove nothing. */
  @Test
  void the_attacks_succeed_with_administrator_rights() {
    Attacker administrator =
        Attacker.with(LocalDeployment.credentials(DEPLOYMENT.cloud().accessKey("administrator")));
    Map<String, String> outcomes = new TreeMap<>();
    attacksOn(SACRIFICE)
        .forEach((name, attack) -> outcomes.put(name, outcome(attack, administrator)));

    // An attack deletes a target only after all other attacks on it.
    outcomes.values().removeIf("done"::equals);
    assertThat(outcomes).isEmpty();
  }

  /**
   * Attributes of a bucket's row, of the count and of a silo that no claimant has a reason to
   * write.
   */
  private static final Map<String, List<String>> LEDGER_ATTRIBUTES =
      Map.of(
          "bucket:connect",
          List.of(
              "mintedThrough",
              "carried",
              "aheadFrom",
              "level",
              "capacity",
              "rate",
              "turnAt",
              "version"),
          "connections",
          List.of("stolen", "limits"),
          "silo",
          List.of("version", "state"));

  static Stream<String> claimants() {
    return tenantRoles().filter(role -> !role.matches("(ControlPlane|Sweep)Tenant"));
  }

  /** Each request names the attribute in another of the possible ways. */
  @ParameterizedTest
  @MethodSource("claimants")
  void a_claimant_cannot_create_tokens_for_its_own_tenant(String role) {
    Attacker attacker = Attacker.with(assumed(role));
    String before = limitsOf(OWN);
    LEDGER_ATTRIBUTES.forEach(
        (key, attributes) ->
            attributes.forEach(
                attribute ->
                    writesThatCreateTokens(OWN, key, attribute)
                        .forEach(
                            (name, attack) -> {
                              assertThat(outcome(attack, attacker)).as(name).isEqualTo(DENIED);
                              attacks++;
                            })));
    assertThat(limitsOf(OWN)).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"AuthorizerTenant"})
  void a_role_that_counts_no_connections_cannot_lower_the_count(String role) {
    Attacker attacker = Attacker.with(assumed(role));
    String before = limitsOf(OWN);

    writesThatCreateTokens(OWN, "connections", "itemCount")
        .forEach((name, attack) -> assertThat(outcome(attack, attacker)).isEqualTo(DENIED));

    assertThat(limitsOf(OWN)).isEqualTo(before);
  }

  /** Without this test, an attack could be refused because it is malformed, and prove nothing. */
  @Test
  void the_writes_that_create_tokens_succeed_with_administrator_rights() {
    Attacker administrator =
        Attacker.with(LocalDeployment.credentials(DEPLOYMENT.cloud().accessKey("administrator")));

    writesThatCreateTokens(SACRIFICE, "connections", "itemCount")
        .forEach(
            (name, attack) ->
                assertThat(outcome(attack, administrator)).as(name).isEqualTo("done"));
  }

  private static Map<String, Consumer<Attacker>> writesThatCreateTokens(
      String tenant, String key, String attribute) {
    String table = "TablesLimit";
    Map<String, AttributeValue> row = Map.of("tenantId", text(tenant), "key", text(key));
    Map<String, AttributeValue> zero = Map.of(":n", AttributeValue.fromN("0"));
    Map<String, AttributeValue> whole = new TreeMap<>(row);
    whole.put(attribute, AttributeValue.fromN("0"));
    Map<String, Consumer<Attacker>> writesThatCreateTokens = new LinkedHashMap<>();
    writesThatCreateTokens.put(
        "set " + attribute,
        a ->
            a.rows()
                .updateItem(
                    r ->
                        r.tableName(table)
                            .key(row)
                            .updateExpression("SET " + attribute + " = :n")
                            .expressionAttributeValues(zero)));
    writesThatCreateTokens.put(
        "add to " + attribute + " by another name",
        a ->
            a.rows()
                .updateItem(
                    r ->
                        r.tableName(table)
                            .key(row)
                            .updateExpression("ADD #version :n")
                            .expressionAttributeNames(Map.of("#version", attribute))
                            .expressionAttributeValues(zero)));
    writesThatCreateTokens.put(
        "set " + attribute + " in a transaction",
        a ->
            a.rows()
                .transactWriteItems(
                    r ->
                        r.transactItems(
                            TransactWriteItem.builder()
                                .update(
                                    u ->
                                        u.tableName(table)
                                            .key(row)
                                            .updateExpression("SET #a = :n")
                                            .expressionAttributeNames(Map.of("#a", attribute))
                                            .expressionAttributeValues(zero))
                                .build())));
    writesThatCreateTokens.put(
        "set " + attribute + " as it was done once",
        a ->
            a.rows()
                .updateItem(
                    r ->
                        r.tableName(table)
                            .key(row)
                            .attributeUpdates(
                                Map.of(
                                    attribute,
                                    AttributeValueUpdate.builder()
                                        .action(AttributeAction.PUT)
                                        .value(AttributeValue.fromN("0"))
                                        .build()))));
    writesThatCreateTokens.put(
        "put a row with " + attribute, a -> a.rows().putItem(r -> r.tableName(table).item(whole)));
    writesThatCreateTokens.put(
        "put a row with " + attribute + " in a batch",
        a ->
            a.rows()
                .batchWriteItem(
                    r ->
                        r.requestItems(
                            Map.of(
                                table,
                                List.of(
                                    WriteRequest.builder()
                                        .putRequest(put -> put.item(whole))
                                        .build())))));
    return writesThatCreateTokens;
  }

  private static String limitsOf(String tenant) {
    return DEPLOYMENT
        .inspect(DynamoDbClient.builder())
        .query(
            r ->
                r.tableName("TablesLimit")
                    .keyConditionExpression("tenantId = :t")
                    .expressionAttributeValues(Map.of(":t", text(tenant))))
        .items()
        .stream()
        .map(TreeMap::new)
        .toList()
        .toString();
  }

  /** What the token producer's own role, which has the buckets of all tenants, cannot do. */
  private static Map<String, Consumer<Attacker>> beyondBuckets() {
    Map<String, Consumer<Attacker>> attacks = new LinkedHashMap<>();
    for (String table :
        List.of("TablesSession", "TablesLimit", "TablesCredentials", "TablesTier")) {
      attacks.put("scan " + table, a -> a.rows().scan(r -> r.tableName(table)));
    }
    attacks.put(
        "read a session",
        a -> a.rows().getItem(r -> r.tableName("TablesSession").key(key("TablesSession", OWN))));
    attacks.put(
        "delete a session",
        a -> a.rows().deleteItem(r -> r.tableName("TablesSession").key(key("TablesSession", OWN))));
    writesThatCreateTokens(OWN, "connections", "itemCount").forEach(attacks::put);
    writesThatCreateTokens(OWN, "sessions", "arrival").forEach(attacks::put);
    attacks.put(
        "delete a bucket's row",
        a ->
            a.rows()
                .deleteItem(
                    r ->
                        r.tableName("TablesLimit")
                            .key(Map.of("tenantId", text(OWN), "key", text("bucket:connect")))));
    for (String queue :
        List.of(
            "silo_" + OWN + ".fifo",
            "silo_" + OWN + "_dead.fifo",
            "tollgate_pool.fifo",
            "tollgate_pool_dead.fifo",
            "b_connect_" + OWN + "_token_bucket")) {
      attacks.put(
          "receive from " + queue, a -> a.queues().receiveMessage(r -> r.queueUrl(PREFIX + queue)));
      attacks.put(
          "send to " + queue,
          a -> a.queues().sendMessage(r -> r.queueUrl(PREFIX + queue).messageBody("-")));
    }
    attacks.put(
        "delete a bucket's queue",
        a -> a.queues().deleteQueue(r -> r.queueUrl(PREFIX + "connect_" + OWN + "_token_bucket")));
    for (String schedule : List.of("housekeeper", "sweep", "shard-1")) {
      attacks.put(
          "delete schedule " + schedule,
          a -> a.schedules().deleteSchedule(r -> r.groupName("tollgate").name(schedule)));
    }
    attacks.put(
        "invoke the housekeeper",
        a -> a.functions().invoke(r -> r.functionName(FUNCTIONS + "Housekeeper:live")));
    return attacks;
  }

  @ParameterizedTest
  @ValueSource(strings = {"Housekeeper", "SessionEnd"})
  void housekeeping_for_all_tenants_reaches_no_bucket(String function) {
    Attacker attacker = Attacker.with(ofFunction(function));
    String before = limitsOf(OWN);
    Map<String, Consumer<Attacker>> attacks = beyondBuckets();
    // Both correct counts. A single attribute of a count is allowed, a put of the whole row is not.
    attacks.keySet().removeIf(name -> name.contains("itemCount") && !name.startsWith("put a row"));
    if (function.equals("Housekeeper")) {
      // It ends sessions, removes tenants from the index, and asks itself for help.
      attacks
          .keySet()
          .removeAll(
              List.of("delete a session", "delete a bucket's row", "invoke the housekeeper"));
    }
    writesThatCreateTokens(OWN, "bucket:connect", "level").forEach(attacks::put);

    attacks.forEach(
        (name, attack) ->
            assertThat(outcome(attack, attacker)).as("%s: %s", function, name).isEqualTo(DENIED));

    assertThat(limitsOf(OWN)).isEqualTo(before);
  }

  @Test
  void the_token_producer_reaches_buckets_and_nothing_else() {
    Attacker attacker = Attacker.with(ofFunction("TokenProducer"));
    String before = limitsOf(OWN);

    beyondBuckets()
        .forEach(
            (name, attack) -> assertThat(outcome(attack, attacker)).as(name).isEqualTo(DENIED));

    assertThat(limitsOf(OWN)).isEqualTo(before);
    for (String tenant : List.of(OWN, VICTIMS.get(0))) {
      String bucket = PREFIX + "connect_" + tenant + "_token_bucket";
      assertThat(
              outcome(
                  a ->
                      a.queues()
                          .getQueueAttributes(
                              r -> r.queueUrl(bucket).attributeNames(QueueAttributeName.ALL)),
                  attacker))
          .isEqualTo("done");
    }
    refused(() -> assume(sts("TokenProducerAllTenants"), "ConnectTenant", tag("tenantId", OWN)));
  }

  /** The findings about tables' policies. */
  private static List<JsonNode> ofPolicies(UnaryOperator<String> send) {
    return LocalDeployment.allFindings(send).stream()
        .filter(finding -> finding.path("resource").asText().equals("table-policy"))
        .toList();
  }

  private static List<JsonNode> drift() {
    return ofPolicies(query -> DEPLOYMENT.control("GET", "/drift" + query).body().toString());
  }

  /** The stack and the doctor have lists of what must be denied; here they are compared. */
  @org.junit.jupiter.api.Tag("nightly")
  @Test
  void doctor_finds_a_changed_policy_of_the_shared_credentials() {
    String table = "arn:aws:dynamodb:us-east-1:000000000000:table/TablesCredentials";
    try (DynamoDbClient operator = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      String deployed = operator.getResourcePolicy(r -> r.resourceArn(table)).policy();
      assertThat(drift()).isEmpty();
      try {
        operator.deleteResourcePolicy(r -> r.resourceArn(table));
        assertThat(operator.scan(r -> r.tableName("TablesCredentials")).hasItems()).isTrue();
        assertThat(drift())
            .singleElement()
            .satisfies(
                finding -> {
                  assertThat(finding.path("kind").asText()).isEqualTo("MISSING");
                  assertThat(finding.path("name").asText()).isEqualTo("TablesCredentials");
                });
        // It denies none of the actions that the deployed policy denies.
        operator.putResourcePolicy(
            r ->
                r.resourceArn(table)
                    .policy(deployed.replaceAll("dynamodb:\\w+", "dynamodb:DeleteTable")));
        assertThat(
                ofPolicies(
                    query ->
                        DEPLOYMENT.control("POST", "/repairs" + query, "{}").body().toString()))
            .singleElement()
            .satisfies(
                finding -> {
                  assertThat(finding.path("kind").asText()).isEqualTo("DIFFERS");
                  assertThat(finding.path("repaired").asBoolean()).isFalse();
                  assertThat(finding.path("detail").asText())
                      .startsWith(
                          Pattern.compile("dynamodb:(\\w+)")
                              .matcher(deployed)
                              .results()
                              .map(action -> action.group(1))
                              .collect(Collectors.joining(", ", "no denial of ", " (")));
                });
      } finally {
        operator.putResourcePolicy(r -> r.resourceArn(table).policy(deployed));
      }
      assertThat(drift()).isEmpty();
    }
  }

  /** Each function's row is tried with the roles of another function, a tenant, and an operator. */
  @Test
  void shared_credentials_are_readable_by_their_own_function_alone() throws Exception {
    Handshake open = DEPLOYMENT.connect(OWN, DEPLOYMENT.open(OWN));
    assertThat(open.status()).isEqualTo(101);
    DEPLOYMENT.close(open);
    Map<String, AttributeValue> row = Map.of("key", text("ConnectTenant/" + OWN));
    Consumer<Attacker> read =
        a -> {
          if (!a.rows().getItem(r -> r.tableName("TablesCredentials").key(row)).hasItem()) {
            throw new AssertionError("no row " + row);
          }
        };
    Map<String, Consumer<Attacker>> others = new LinkedHashMap<>();
    others.put("read", read);
    others.put("scan", a -> a.rows().scan(r -> r.tableName("TablesCredentials")));
    others.put(
        "batch",
        a ->
            a.rows()
                .batchGetItem(
                    r ->
                        r.requestItems(
                            Map.of(
                                "TablesCredentials",
                                KeysAndAttributes.builder().keys(List.of(row)).build()))));
    others.put("plant", a -> a.rows().putItem(r -> r.tableName("TablesCredentials").item(row)));

    assertThat(outcome(read, Attacker.with(ofFunction("Connect")))).isEqualTo("done");
    Map<String, AwsSessionCredentials> attackers = new LinkedHashMap<>();
    for (String function : List.of("Disconnect", "Authorizer", "TokenProducer", "Housekeeper")) {
      attackers.put(function, ofFunction(function));
    }
    attackers.put("the tenant", assumed("ConnectTenant"));
    attackers.put(
        "an administrator",
        LocalDeployment.credentials(DEPLOYMENT.cloud().accessKey("administrator")));
    attackers.forEach(
        (who, credentials) ->
            others.forEach(
                (name, attack) ->
                    assertThat(outcome(attack, Attacker.with(credentials)))
                        .as("%s: %s", who, name)
                        .isEqualTo(DENIED)));
    assertThat(
            outcome(
                a -> a.rows().scan(r -> r.tableName("TablesCredentials")),
                Attacker.with(ofFunction("Connect"))))
        .isEqualTo(DENIED);
  }

  private static AwsSessionCredentials ofFunction(String function) {
    boolean ofAll = List.of("TokenProducer", "Housekeeper", "SessionEnd").contains(function);
    return LocalDeployment.credentials(
        DEPLOYMENT.cloud().accessKeyOf(ofAll ? function + "AllTenants" : function));
  }

  @Test
  void a_functions_own_role_cannot_access_tenant_rows() {
    for (String function : List.of("Authorizer", "Connect", "Disconnect", "TokenProducer")) {
      Attacker attacker = Attacker.with(ofFunction(function));
      assertThat(
              outcome(
                  a ->
                      a.rows()
                          .getItem(
                              get -> get.tableName("TablesSession").key(key("TablesSession", OWN))),
                  attacker))
          .as(function)
          .isEqualTo(DENIED);
    }
  }

  @Test
  void a_program_that_claims_tokens_cannot_access_its_own_tenants_sessions() {
    Attacker attacker = Attacker.with(assumed(CLAIMS));

    TABLES.keySet().stream()
        .filter(table -> !table.equals("TablesLimit"))
        .forEach(
            table -> {
              Map<String, Consumer<Attacker>> onOwnRows = new LinkedHashMap<>();
              onTable(table, OWN, onOwnRows);
              onOwnRows.forEach(
                  (name, attack) ->
                      assertThat(outcome(attack, attacker)).as(name).isEqualTo(DENIED));
            });
  }

  /** The attributes that a program that claims tokens may write. */
  @ParameterizedTest
  @ValueSource(strings = {"line", "emptySince", "emptyUntil", "emptyHeld", "emptyVersion", "freed"})
  void a_program_that_claims_tokens_cannot_stop_admission_by_an_unreadable_value(String attribute)
      throws Exception {
    Map<String, AttributeValue> bucket =
        Map.of("tenantId", text(OWN), "key", text("bucket:connect"));
    Attacker.with(assumed(CLAIMS))
        .rows()
        .updateItem(
            r ->
                r.tableName("TablesLimit")
                    .key(bucket)
                    .updateExpression("SET #a = :x")
                    .expressionAttributeNames(Map.of("#a", attribute))
                    .expressionAttributeValues(Map.of(":x", text("x"))));

    Handshake handshake = DEPLOYMENT.connect(OWN, DEPLOYMENT.open(OWN));

    assertThat(handshake.status()).isEqualTo(101);
    DEPLOYMENT.close(handshake);
  }

  @ParameterizedTest
  @ValueSource(strings = {"connections", "sessions"})
  void a_program_that_claims_tokens_cannot_stop_admission_by_a_row_without_room(String row)
      throws Exception {
    DEPLOYMENT.close(DEPLOYMENT.connect(OWN, DEPLOYMENT.open(OWN)));
    DynamoDbClient rows = Attacker.with(assumed(CLAIMS)).rows();
    // An item has at most 400 KB, and the rest of this one at most 2 KB.
    int least = 398 * 1024;
    int fits = least;
    for (int step = 1024; step > 0; step /= 2) {
      AttributeValue longer = text("x".repeat(fits + step));
      try {
        rows.updateItem(
            r ->
                r.tableName("TablesLimit")
                    .key(Map.of("tenantId", text(OWN), "key", text(row)))
                    .updateExpression("SET #line = :longer")
                    .expressionAttributeNames(Map.of("#line", "line"))
                    .expressionAttributeValues(Map.of(":longer", longer)));
        fits += step;
      } catch (DynamoDbException tooLarge) {
        assertThat(tooLarge).hasMessageContaining("Item size");
      }
    }
    assertThat(fits).isGreaterThan(least);

    Handshake handshake = DEPLOYMENT.connect(OWN, DEPLOYMENT.open(OWN));

    assertThat(handshake.status()).isEqualTo(101);
    DEPLOYMENT.close(handshake);
  }

  @Test
  void a_tenant_role_can_be_assumed_only_by_its_function_and_for_one_tenant() {
    StsClient connect = sts("Connect");
    StsClient disconnect = sts("Disconnect");
    StsClient tenant = DEPLOYMENT.client(StsClient.builder(), assumed("ConnectTenant"));

    assertThat(assume(connect, "ConnectTenant", tag("tenantId", OWN))).isNotNull();
    refused(() -> assume(disconnect, "ConnectTenant", tag("tenantId", OWN)));
    refused(() -> assume(connect, "ConnectTenant"));
    refused(() -> assume(connect, "ConnectTenant", tag("tenantid", "")));
    refused(() -> assume(connect, "ConnectTenant", tag("tenantId", OWN), tag("other", "value")));
    refused(() -> assume(connect, "ConnectTenant", tag("tenantId", "connect_" + OWN)));
    refused(() -> assume(connect, "ControlPlaneTenant", tag("tenantId", OWN)));
    refused(() -> assume(connect, "Filling"));
    refused(() -> assume(tenant, "ConnectTenant", tag("tenantId", "acme2")));
    assertThatThrownBy(() -> assume(connect, "ConnectTenant", tag("tenantId", "*")))
        .asInstanceOf(type(AwsServiceException.class))
        .extracting(e -> e.awsErrorDetails().errorCode())
        .isEqualTo("ValidationError");
  }

  private static final String DENIED = "denied";

  private static Map<String, Consumer<Attacker>> attacksOn(String victim) {
    Map<String, Consumer<Attacker>> attacks = new LinkedHashMap<>();
    TABLES.forEach((table, keys) -> onTable(table, victim, attacks));
    attacks.put(
        "query an index",
        a ->
            a.rows()
                .query(
                    q ->
                        q.tableName("TablesTenant")
                            .indexName("byTier")
                            .keyConditionExpression("tier = :tier")
                            .expressionAttributeValues(Map.of(":tier", text("gold")))));
    for (String queue :
        List.of("connect_" + victim + "_token_bucket", "message_" + victim + "_token_bucket")) {
      onQueue(PREFIX + queue, false, attacks);
    }
    onQueue(PREFIX + "silo_" + victim + ".fifo", true, attacks);
    onSchedule("connect_" + victim, attacks);
    onFunction("silo_" + victim, attacks);
    return attacks;
  }

  private static void onTable(String table, String victim, Map<String, Consumer<Attacker>> to) {
    Map<String, AttributeValue> theirs = key(table, victim);
    Map<String, AttributeValue> own = key(table, OWN);
    to.put("get from " + table, a -> a.rows().getItem(r -> r.tableName(table).key(theirs)));
    to.put("scan " + table, a -> a.rows().scan(r -> r.tableName(table).limit(1)));
    to.put(
        "query " + table,
        a ->
            a.rows()
                .query(
                    r ->
                        r.tableName(table)
                            .keyConditionExpression("#t = :t")
                            .expressionAttributeNames(Map.of("#t", "tenantId"))
                            .expressionAttributeValues(Map.of(":t", text(victim)))));
    to.put(
        "batch get from " + table + " with own",
        a ->
            a.rows()
                .batchGetItem(
                    r ->
                        r.requestItems(
                            Map.of(
                                table,
                                KeysAndAttributes.builder().keys(List.of(own, theirs)).build()))));
    to.put(
        "transact get from " + table + " with own",
        a ->
            a.rows()
                .transactGetItems(
                    r ->
                        r.transactItems(
                            TransactGetItem.builder().get(g -> g.tableName(table).key(own)).build(),
                            TransactGetItem.builder()
                                .get(g -> g.tableName(table).key(theirs))
                                .build())));
    to.put(
        "select from " + table,
        a ->
            a.rows()
                .executeStatement(
                    r ->
                        r.statement("SELECT * FROM \"" + table + "\" WHERE tenantId = ?")
                            .parameters(text(victim))));
    to.put(
        "update " + table,
        a ->
            a.rows()
                .updateItem(
                    r ->
                        r.tableName(table)
                            .key(theirs)
                            .updateExpression("SET stolen = :s")
                            .expressionAttributeValues(Map.of(":s", text("x")))));
    to.put("put into " + table, a -> a.rows().putItem(r -> r.tableName(table).item(theirs)));
    to.put(
        "transact write to " + table,
        a ->
            a.rows()
                .transactWriteItems(
                    r ->
                        r.transactItems(
                            TransactWriteItem.builder()
                                .delete(d -> d.tableName(table).key(theirs))
                                .build())));
    to.put(
        "batch write to " + table,
        a ->
            a.rows()
                .batchWriteItem(
                    r ->
                        r.requestItems(
                            Map.of(
                                table,
                                List.of(
                                    WriteRequest.builder()
                                        .deleteRequest(d -> d.key(theirs))
                                        .build())))));
    to.put("delete from " + table, a -> a.rows().deleteItem(r -> r.tableName(table).key(theirs)));
  }

  private static void onQueue(String url, boolean fifo, Map<String, Consumer<Attacker>> to) {
    String queue = url.substring(PREFIX.length());
    to.put(
        "send to " + queue,
        a ->
            a.queues()
                .sendMessage(
                    r ->
                        r.queueUrl(url)
                            .messageBody("x")
                            .messageGroupId(fifo ? "g" : null)
                            .messageDeduplicationId(fifo ? "d" : null)));
    to.put(
        "send a batch to " + queue,
        a ->
            a.queues()
                .sendMessageBatch(
                    r ->
                        r.queueUrl(url)
                            .entries(
                                SendMessageBatchRequestEntry.builder()
                                    .id("1")
                                    .messageBody("x")
                                    .messageGroupId(fifo ? "g" : null)
                                    .messageDeduplicationId(fifo ? "d2" : null)
                                    .build())));
    to.put("receive from " + queue, a -> a.queues().receiveMessage(r -> r.queueUrl(url)));
    to.put(
        "look at " + queue,
        a ->
            a.queues()
                .getQueueAttributes(r -> r.queueUrl(url).attributeNames(QueueAttributeName.ALL)));
    to.put(
        "change " + queue,
        a ->
            a.queues()
                .setQueueAttributes(
                    r ->
                        r.queueUrl(url)
                            .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "1"))));
    to.put("purge " + queue, a -> a.queues().purgeQueue(r -> r.queueUrl(url)));
    to.put("delete " + queue, a -> a.queues().deleteQueue(r -> r.queueUrl(url)));
  }

  private static void onSchedule(String name, Map<String, Consumer<Attacker>> to) {
    to.put(
        "look at schedule " + name,
        a -> a.schedules().getSchedule(r -> r.groupName("tollgate").name(name)));
    to.put(
        "change schedule " + name,
        a ->
            a.schedules()
                .updateSchedule(
                    r ->
                        r.groupName("tollgate")
                            .name(name)
                            .scheduleExpression("cron(0 0 1 1 ? 2099)")
                            .flexibleTimeWindow(
                                FlexibleTimeWindow.builder()
                                    .mode(FlexibleTimeWindowMode.OFF)
                                    .build())
                            .target(
                                Target.builder()
                                    .arn(FUNCTIONS + "TokenProducerFunction:live")
                                    .roleArn("arn:aws:iam::000000000000:role/Filling")
                                    .build())));
    to.put(
        "delete schedule " + name,
        a -> a.schedules().deleteSchedule(r -> r.groupName("tollgate").name(name)));
  }

  private static void onFunction(String name, Map<String, Consumer<Attacker>> to) {
    to.put("look at " + name, a -> a.functions().getFunction(r -> r.functionName(name)));
    to.put(
        "invoke " + name,
        a ->
            a.functions()
                .invoke(
                    r ->
                        r.functionName(FUNCTIONS + name)
                            .payload(SdkBytes.fromUtf8String("{\"Records\":[]}"))));
    to.put(
        "change " + name,
        a -> a.functions().updateFunctionConfiguration(r -> r.functionName(name).timeout(1)));
    to.put("delete " + name, a -> a.functions().deleteFunction(r -> r.functionName(name)));
  }

  /** The outcome of an attack: done, denied, or another error code. */
  private static String outcome(Consumer<Attacker> attack, Attacker attacker) {
    try {
      attack.accept(attacker);
      return "done";
    } catch (AwsServiceException e) {
      return e.awsErrorDetails().errorCode().matches("AccessDenied(Exception)?")
          ? DENIED
          : e.toString();
    }
  }

  /** The rows and the queue attributes of the attacked tenants. */
  private static Map<String, String> victims() {
    DynamoDbClient rows = DEPLOYMENT.inspect(DynamoDbClient.builder());
    SqsClient queues = DEPLOYMENT.inspect(SqsClient.builder());
    Map<String, String> all = new TreeMap<>();
    for (String victim : VICTIMS) {
      TABLES.forEach(
          (table, keys) -> {
            List<Object> found = new ArrayList<>();
            rows.query(
                    r ->
                        r.tableName(table)
                            .keyConditionExpression("tenantId = :t")
                            .expressionAttributeValues(Map.of(":t", text(victim))))
                .items()
                .forEach(item -> found.add(new TreeMap<>(item)));
            all.put(victim + " " + table, found.toString());
          });
      for (String queue :
          List.of("connect_" + victim + "_token_bucket", "silo_" + victim + ".fifo")) {
        all.put(
            queue,
            new TreeMap<>(
                    queues
                        .getQueueAttributes(
                            r -> r.queueUrl(PREFIX + queue).attributeNames(QueueAttributeName.ALL))
                        .attributesAsStrings())
                .toString());
      }
    }
    return all;
  }

  private static Map<String, AttributeValue> key(String table, String tenant) {
    Map<String, AttributeValue> key = new TreeMap<>();
    TABLES
        .getOrDefault(table, List.of())
        .forEach(name -> key.put(name, text(name.equals("tenantId") ? tenant : "connections")));
    return key;
  }

  private static AttributeValue text(String value) {
    return AttributeValue.fromS(value);
  }

  private static StsClient sts(String role) {
    return DEPLOYMENT.client(
        StsClient.builder(), LocalDeployment.credentials(DEPLOYMENT.cloud().accessKeyOf(role)));
  }

  /** The tenant's credentials, as a function gets them that may assume the tenant role. */
  private static AwsSessionCredentials assumed(String tenantRole) {
    Credentials credentials = assume(sts(principal(tenantRole)), tenantRole, tag("tenantId", OWN));
    return AwsSessionCredentials.create(
        credentials.accessKeyId(), credentials.secretAccessKey(), credentials.sessionToken());
  }

  private static String principal(String tenantRole) {
    return tenantRole.equals(CLAIMS) ? "Application" : tenantRole.replaceFirst("Tenant$", "");
  }

  private static Credentials assume(StsClient as, String role, Tag... tags) {
    return as.assumeRole(
            r ->
                r.roleArn("arn:aws:iam::000000000000:role/" + role)
                    .roleSessionName("attack")
                    .tags(tags))
        .credentials();
  }

  private static Tag tag(String key, String value) {
    return Tag.builder().key(key).value(value).build();
  }

  private static void refused(ThrowingCallable attempt) {
    assertThatThrownBy(attempt)
        .asInstanceOf(type(AwsServiceException.class))
        .extracting(e -> e.awsErrorDetails().errorCode())
        .isEqualTo("AccessDenied");
    attacks++;
  }
}
