package dev.tollgate.infra;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.apigatewayv2.CfnIntegrationResponse;
import software.amazon.awscdk.services.cognito.UserPool;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;

class TollgateTest {
  private static final Synthesis STACK = Synthesis.of(Map.of());

  /** The stack with other values of settings that change no permission and no route. */
  private static final Synthesis CHANGED =
      Synthesis.of(
          Map.of(
              "removal", "destroy",
              "accountLogRole", "set",
              "connectionQuota", "2000",
              "messageHandler", Synthesis.HANDLER,
              "authorizerConcurrency", "100",
              "connectConcurrency", "50",
              "producerConcurrency", "20",
              "socketChecksPerMinute", "600"));

  /** The stack whose functions share credentials. */
  private static final Synthesis SHARED = Synthesis.of(Map.of("shareCredentials", "true"));

  /** The prefix of the logical id of the console's API. */
  private static final String CONSOLE = "TollgateConsole";

  /** All functions but the console's. */
  private static final List<String> FUNCTIONS =
      List.of(
          "AuditEvents",
          "AuditWriter",
          "Authorizer",
          "Connect",
          "ControlPlane",
          "Disconnect",
          "HistoryWriter",
          "Housekeeper",
          "PoolProcessor",
          "SessionApi",
          "SessionEnd",
          "Sweep",
          "TenantPusher",
          "TokenProducer");

  private static final String CODE =
      "PROCESSOR_CODE_BUCKET PROCESSOR_CODE_KEY PROCESSOR_FUNCTION_ARN";

  private static final String SCHEDULING =
      "QUEUE_URL_PREFIX SCHEDULE_DEAD_LETTER_ARN SCHEDULE_GROUP SCHEDULE_ROLE_ARN SESSION_TABLE";

  private static final String PROVISIONING_REST =
      " TENANT_ROLE_ARN TENANT_TABLE TIER_TABLE TOKEN_PRODUCER_ARN WEBSOCKET_URL";

  private static final String OWN_PROVISIONING =
      "dynamodb:DeleteItem TollgateTablesTenant; dynamodb:DeleteItem TollgateTablesTier;"
          + " dynamodb:GetItem TollgateTablesTenant; dynamodb:GetItem TollgateTablesTier;"
          + " dynamodb:PutItem TollgateTablesTenant; dynamodb:PutItem TollgateTablesTier;"
          + " dynamodb:UpdateItem TollgateTablesTenant; dynamodb:UpdateItem TollgateTablesTier;"
          + " dynamodb:Query TollgateTablesLimit; dynamodb:UpdateItem TollgateTablesLimit;"
          + " dynamodb:Query TollgateTablesTenant/index/byTier;"
          + " dynamodb:Scan TollgateTablesTier;";

  private static final String OWN_REST =
      "execute-api:ManageConnections TollgateWebSocketApi/production/DELETE/@connections/*;"
          + " iam:PassRole TollgateFillingRole; scheduler:CreateSchedule schedule/tollgate/shard-*;"
          + " lambda:GetFunction TollgatePoolProcessorFunction:*;"
          + " lambda:ListEventSourceMappings *; sqs:SendMessage TollgateMessagesPoolDead";

  /** Actions that Lambda grants without a resource, or before the resource has a name. */
  private static final Set<String> WITHOUT_RESOURCE =
      Set.of(
          "lambda:GetAccountSettings",
          "lambda:ListEventSourceMappings",
          "lambda:CreateEventSourceMapping",
          "dynamodb:ListStreams",
          "sqs:ListQueues",
          "scheduler:ListSchedules");

  static List<String> functions() {
    return FUNCTIONS;
  }

  /** The functions that act on no stranger's request, and whose own roles have all grants. */
  private static final List<String> FOR_ALL_TENANTS =
      List.of(
          "AuditEvents",
          "AuditWriter",
          "Housekeeper",
          "HistoryWriter",
          "SessionEnd",
          "TokenProducer");

  /** The kind of the role that a function runs as. */
  private static String ownRole(String id) {
    return FOR_ALL_TENANTS.contains(id) ? "AllTenantsRole" : "Role";
  }

  static List<String> functionsWithTenantRole() {
    return FUNCTIONS.stream().filter(id -> !FOR_ALL_TENANTS.contains(id)).toList();
  }

  @Test
  void the_stack_has_no_cdk_nag_findings() {
    assertThat(STACK.findings()).isEmpty();
  }

  // Tables

  @ParameterizedTest
  @CsvSource({
    "Tenant, tenantId,",
    "Tier, tier,",
    "Session, tenantId, sessionId",
    "Limit, tenantId, key",
    "Idempotency, key,"
  })
  void a_table_has_its_keys_and_point_in_time_recovery(String table, String hash, String range) {
    JsonNode properties = table(table);
    assertThat(keys(properties)).isEqualTo(range == null ? List.of(hash) : List.of(hash, range));
    assertThat(properties.path("BillingMode").asText()).isEqualTo("PAY_PER_REQUEST");
    assertThat(
            properties
                .path("PointInTimeRecoverySpecification")
                .path("PointInTimeRecoveryEnabled")
                .asBoolean())
        .isTrue();
    assertThat(properties.has("TableName")).isFalse();
  }

  @Test
  void the_tenant_table_has_indexes_by_tier_of_pending_tenants_and_of_due_windows() {
    JsonNode indexes = table("Tenant").path("GlobalSecondaryIndexes");
    assertThat(indexes).hasSize(3);
    assertThat(indexes.get(0).path("IndexName").asText()).isEqualTo("byTier");
    assertThat(keys(indexes.get(0))).containsExactly("tier", "tenantId");
    assertThat(indexes.get(0).at("/Projection/ProjectionType").asText()).isEqualTo("ALL");
    assertThat(indexes.get(1).path("IndexName").asText()).isEqualTo("pending");
    assertThat(keys(indexes.get(1))).containsExactly("pending", "tenantId");
    assertThat(indexes.get(1).at("/Projection/ProjectionType").asText()).isEqualTo("KEYS_ONLY");
    assertThat(indexes.get(2).path("IndexName").asText()).isEqualTo("scheduled");
    assertThat(keys(indexes.get(2))).containsExactly("scheduled", "dueAt");
    assertThat(indexes.get(2).at("/Projection/ProjectionType").asText()).isEqualTo("KEYS_ONLY");
  }

  @Test
  void the_limit_table_has_indexes_of_live_tenants_and_of_due_buckets() {
    JsonNode indexes = table("Limit").path("GlobalSecondaryIndexes");
    assertThat(indexes).hasSize(2);
    assertThat(indexes.get(0).path("IndexName").asText()).isEqualTo("live");
    assertThat(keys(indexes.get(0))).containsExactly("live", "tenantId");
    assertThat(indexes.get(0).at("/Projection/ProjectionType").asText()).isEqualTo("KEYS_ONLY");
    assertThat(indexes.get(1).path("IndexName").asText()).isEqualTo("shard");
    assertThat(keys(indexes.get(1))).containsExactly("shard", "turnAt");
    assertThat(indexes.get(1).at("/Projection/ProjectionType").asText()).isEqualTo("KEYS_ONLY");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Idempotency", "Limit"})
  void idempotency_keys_and_message_log_rows_expire(String table) {
    JsonNode timeToLive = table(table).path("TimeToLiveSpecification");
    assertThat(timeToLive.path("AttributeName").asText()).isEqualTo("expiresAt");
    assertThat(timeToLive.path("Enabled").asBoolean()).isTrue();
  }

  @Test
  void sessions_expire_and_have_a_stream() {
    JsonNode session = table("Session");
    assertThat(session.at("/TimeToLiveSpecification/AttributeName").asText())
        .isEqualTo("sessionTTL");
    assertThat(session.at("/TimeToLiveSpecification/Enabled").asBoolean()).isTrue();
    assertThat(session.at("/StreamSpecification/StreamViewType").asText())
        .isEqualTo("NEW_AND_OLD_IMAGES");
  }

  static List<Arguments> removals() {
    return List.of(
        Arguments.of(STACK, "RetainExceptOnCreate", "Retain"),
        Arguments.of(CHANGED, "Delete", "Delete"));
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("removals")
  void the_removal_setting_is_the_deletion_policy_of_tables_logs_and_operators(
      Synthesis stack, String policy, String onReplacement) {
    assertThat(stack.resources("AWS::DynamoDB::Table").values())
        .hasSize(7)
        .allMatch(table -> table.at("/Properties").has("PointInTimeRecoverySpecification"))
        .filteredOn(
            table -> !table.at("/Properties/KeySchema/0/AttributeName").asText().equals("subject"))
        .allMatch(table -> table.path("DeletionPolicy").asText().equals(policy));
    assertThat(stack.resources("AWS::Logs::LogGroup").values())
        // The log groups of the console's pages and of four APIs.
        .hasSize(FUNCTIONS.size() + 1 + 4)
        .allMatch(log -> log.path("DeletionPolicy").asText().equals(policy));
    assertThat(stack.resources("AWS::Cognito::UserPool").values())
        .hasSize(1)
        .allMatch(pool -> pool.path("DeletionPolicy").asText().equals(policy));
    assertThat(stack.template().path("Resources"))
        .filteredOn(resource -> resource.path("DeletionPolicy").asText().equals(policy))
        .allMatch(kept -> kept.path("UpdateReplacePolicy").asText().equals(onReplacement));
  }

  /**
   * An upgrade that changes one of these lines replaces the resource: data is lost, or an address
   * changes. {@code docs/deployment.md} must then describe how to upgrade.
   */
  @Test
  void an_upgrade_replaces_no_data_and_no_address() {
    Map<String, List<String>> replacing =
        Map.of(
            "AWS::ApiGatewayV2::Api", List.of("ProtocolType"),
            "AWS::Cognito::UserPool", List.of("AliasAttributes", "UsernameConfiguration"),
            "AWS::DynamoDB::Table", List.of("TableName", "KeySchema"),
            "AWS::SQS::Queue", List.of("QueueName"),
            "AWS::Scheduler::ScheduleGroup", List.of("Name"));
    List<String> identities = new ArrayList<>();
    replacing.forEach(
        (type, properties) ->
            STACK
                .resources(type)
                .forEach(
                    (id, resource) ->
                        identities.add(
                            id
                                + " "
                                + ((ObjectNode) resource.path("Properties"))
                                    .deepCopy()
                                    .retain(properties))));
    assertThat(identities)
        .containsExactlyInAnyOrderElementsOf(
            """
            TollgateConsole18950696 {"ProtocolType":"HTTP"}
            TollgateConsoleSignInPoolE40EE57F {"AliasAttributes":["email"],"UsernameConfiguration":{"CaseSensitive":false}}
            TollgateFillingDeadLettersC25C32F9 {}
            TollgateFillingGroupD0DFF0A9 {"Name":"tollgate"}
            TollgateHttpControlF1141EEB {"ProtocolType":"HTTP"}
            TollgateHttpSession48CED7CE {"ProtocolType":"HTTP"}
            TollgateMessagesPool9D52AA57 {"QueueName":"tollgate_pool.fifo"}
            TollgateMessagesPoolDead64678C66 {"QueueName":"tollgate_pool_dead.fifo"}
            TollgatePushesDead9CB024C0 {"QueueName":"tollgate_push_dead.fifo"}
            TollgatePushesQueue823BA14C {"QueueName":"tollgate_push.fifo"}
            TollgateRemovedSessionsFailures26BFAF2F {}
            TollgateAuditEntriesFailuresBF9615CC {}
            TollgateChangedTenantsFailuresE3AFEF40 {}
            TollgateChangedTiersFailures156B83D7 {}
            TollgateTablesAudit81EB7D56 {"KeySchema":[{"AttributeName":"subject","KeyType":"HASH"},{"AttributeName":"at","KeyType":"RANGE"}]}
            TollgateTablesHistory587338E5 {"KeySchema":[{"AttributeName":"key","KeyType":"HASH"},{"AttributeName":"at","KeyType":"RANGE"}]}
            TollgateChangesFailures186CC64D {}
            TollgateTablesIdempotency797FA344 {"KeySchema":[{"AttributeName":"key","KeyType":"HASH"}]}
            TollgateTablesLimit6AEACD98 {"KeySchema":[{"AttributeName":"tenantId","KeyType":"HASH"},{"AttributeName":"key","KeyType":"RANGE"}]}
            TollgateTablesSession789B16C9 {"KeySchema":[{"AttributeName":"tenantId","KeyType":"HASH"},{"AttributeName":"sessionId","KeyType":"RANGE"}]}
            TollgateTablesTenant4EDDC3F0 {"KeySchema":[{"AttributeName":"tenantId","KeyType":"HASH"}]}
            TollgateTablesTier164C2BE1 {"KeySchema":[{"AttributeName":"tier","KeyType":"HASH"}]}
            TollgateWebSocketApiE2A876D9 {"ProtocolType":"WEBSOCKET"}
            """
                .lines()
                .toList());
  }

  @Test
  void messages_survive_the_replacement_of_their_queue_but_not_the_deletion_of_the_stack() {
    assertThat(STACK.resources("AWS::SQS::Queue").values())
        .filteredOn(queue -> queue.at("/Properties/FifoQueue").asBoolean())
        .hasSize(4)
        .allSatisfy(
            queue -> {
              assertThat(queue.path("UpdateReplacePolicy").asText()).isEqualTo("Retain");
              assertThat(queue.path("DeletionPolicy").asText()).isEqualTo("Delete");
            });
  }

  static List<Arguments> logRoles() {
    return List.of(
        Arguments.of(STACK, ""), Arguments.of(CHANGED, "AWS::ApiGateway::Account, AWS::IAM::Role"));
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("logRoles")
  void a_failed_creation_leaves_nothing_but_the_accounts_log_role_if_the_stack_sets_it(
      Synthesis stack, String kept) {
    assertThat(
            stack.template().path("Resources").properties().stream()
                .filter(
                    resource ->
                        resource.getValue().path("DeletionPolicy").asText().equals("Retain"))
                .map(resource -> resource.getValue().path("Type").asText())
                .sorted()
                .collect(Collectors.joining(", ")))
        .isEqualTo(kept);
  }

  @Test
  void the_accounts_log_role_is_not_changed_unless_requested() {
    assertThat(STACK.resources("AWS::ApiGateway::Account")).isEmpty();
    assertThat(TollgateProps.builder().build().setsAccountLogRole())
        .as("default of the construct")
        .isFalse();
  }

  @Test
  void the_doctor_knows_a_quota_of_new_connections_that_aws_has_raised() {
    assertThat(environment(STACK, "ControlPlane")).doesNotContainKey("CONNECTION_QUOTA");
    assertThat(environment(CHANGED, "ControlPlane"))
        .containsEntry("CONNECTION_QUOTA", TextNode.valueOf("2000"));
  }

  @Test
  void the_housekeeper_knows_how_many_sockets_it_may_check() {
    assertThat(environment(STACK, "Housekeeper")).doesNotContainKey("SOCKET_CHECKS");
    assertThat(environment(CHANGED, "Housekeeper"))
        .containsEntry("SOCKET_CHECKS", TextNode.valueOf("600"));
  }

  /** The control plane may not import this module, so its source is read. */
  @Test
  void the_doctor_counts_as_many_functions_as_the_stack_has() throws IOException {
    String check =
        Files.readString(
            Path.of(
                "../control-plane/src/main/java/dev/tollgate/controlplane/doctor/QuotaCheck.java"));
    assertThat(check)
        .contains(
            "int STACK_FUNCTIONS = %d;".formatted(STACK.resources("AWS::Lambda::Function").size()));
  }

  // Functions

  @Test
  void the_functions_match_the_design() {
    assertThat(STACK.resources("AWS::Lambda::Function")).hasSize(FUNCTIONS.size() + 1);
  }

  @ParameterizedTest
  @CsvSource({
    "AuditEvents, dev.tollgate.handlers.audit.AuditEvents, 60, 512",
    "AuditWriter, dev.tollgate.handlers.audit.AuditWriter, 60, 512",
    "Authorizer, dev.tollgate.handlers.connect.ConnectAuthorizer, 25, 1024",
    "Connect, dev.tollgate.handlers.connect.Connect, 25, 1024",
    "ControlPlane, dev.tollgate.controlplane.ControlPlaneApi, 29, 512",
    "Disconnect, dev.tollgate.handlers.connect.Disconnect, 25, 512",
    "HistoryWriter, dev.tollgate.handlers.history.HistoryWriter, 900, 512",
    "Housekeeper, dev.tollgate.handlers.housekeeping.Housekeeper, 50, 512",
    "PoolProcessor, dev.tollgate.handlers.message.MessageProcessor, 15, 512",
    "SessionEnd, dev.tollgate.handlers.housekeeping.SessionEnd, 50, 512",
    "SessionApi, dev.tollgate.handlers.session.SessionApi, 25, 512",
    "Sweep, dev.tollgate.controlplane.Sweep, 50, 512",
    "TenantPusher, dev.tollgate.handlers.push.TenantPusher, 60, 512",
    "TokenProducer, dev.tollgate.producer.TokenProducer, 50, 1024"
  })
  void a_function_runs_its_handler_from_a_snapshot(
      String id, String handler, int timeoutSeconds, int memoryMb) {
    JsonNode function = function(id);
    assertThat(function.path("Handler").asText()).isEqualTo(handler);
    assertThat(function.path("Timeout").asInt()).isEqualTo(timeoutSeconds);
    assertThat(function.path("MemorySize").asInt()).isEqualTo(memoryMb);
    assertThat(function.path("Runtime").asText()).isEqualTo("java25");
    assertThat(Synthesis.texts(function.path("Architectures"))).containsExactly("arm64");
    assertThat(function.at("/SnapStart/ApplyOn").asText()).isEqualTo("PublishedVersions");
  }

  @Test
  void with_tracing_the_functions_of_sockets_and_sessions_send_segments() {
    Synthesis traced = Synthesis.of(Map.of("tracing", "true"));
    assertThat(traced.findings()).isEmpty();
    for (String id : FUNCTIONS) {
      boolean active =
          Set.of("Authorizer", "Connect", "Disconnect", "PoolProcessor", "SessionApi").contains(id);
      JsonNode function = traced.properties("AWS::Lambda::Function", "Tollgate" + id + "Function");
      assertThat(function.at("/TracingConfig/Mode").asText()).isEqualTo(active ? "Active" : "");
      assertThat(environment(traced, id).containsKey("TRACING")).isEqualTo(active);
      assertThat(grants(traced, role(traced, "Tollgate" + id + ownRole(id))))
          .filteredOn(grant -> grant.startsWith("xray:"))
          .containsExactlyInAnyOrderElementsOf(
              active
                  ? List.of("xray:PutTraceSegments *", "xray:PutTelemetryRecords *")
                  : List.of());
    }
    assertThat(traced.template().at("/Outputs/Tracing/Value").asText()).isEqualTo("X-Ray");
  }

  @Test
  void without_tracing_nothing_of_the_template_is_about_it() {
    assertThat(STACK.template().toString())
        .doesNotContainIgnoringCase("tracing")
        .doesNotContainIgnoringCase("xray")
        .doesNotContain("AWSTraceHeader");
    assertThat(Synthesis.of(Map.of("tracing", "false")).template()).isEqualTo(STACK.template());
  }

  @Test
  void with_tracing_frames_carry_the_trace_header_to_both_queues() {
    Synthesis traced = Synthesis.of(Map.of("tracing", "true"));
    assertThat(
            traced.resources("AWS::ApiGatewayV2::Integration").values().stream()
                .map(each -> each.at("/Properties/RequestTemplates/$default").asText())
                .filter(template -> template.contains("AWSTraceHeader")))
        .hasSize(2)
        .allMatch(template -> template.contains("Action=SendMessageBatch##\n"));
  }

  @ParameterizedTest
  @MethodSource("functions")
  void a_function_keeps_its_log_for_30_days(String id) {
    String log = function(id).at("/LoggingConfig/LogGroup/Ref").asText();
    assertThat(log).startsWith("Tollgate" + id + "Log");
    assertThat(STACK.properties("AWS::Logs::LogGroup", log).path("RetentionInDays").asInt())
        .isEqualTo(30);
  }

  @ParameterizedTest
  @MethodSource("functions")
  void a_function_has_an_alias_of_a_published_version(String id) {
    JsonNode alias = STACK.properties("AWS::Lambda::Alias", "Tollgate" + id + "Alias");
    assertThat(alias.path("Name").asText()).isEqualTo("live");
    assertThat(alias.at("/FunctionVersion/Fn::GetAtt/0").asText())
        .startsWith("Tollgate" + id + "FunctionCurrentVersion");
  }

  @Test
  void every_invocation_is_of_an_alias() {
    Set<String> aliases = STACK.resources("AWS::Lambda::Alias").keySet();
    assertThat(STACK.resources("AWS::Lambda::EventSourceMapping").values())
        .allMatch(mapping -> aliases.contains(mapping.at("/Properties/FunctionName/Ref").asText()));
    assertThat(STACK.resources("AWS::Lambda::Permission").values())
        .hasSize(7)
        .allMatch(
            permission -> aliases.contains(permission.at("/Properties/FunctionName/Ref").asText()));
    assertThat(STACK.resources("AWS::ApiGatewayV2::Integration").values())
        .filteredOn(
            integration ->
                integration.at("/Properties/IntegrationType").asText().equals("AWS_PROXY"))
        .hasSize(6)
        .allMatch(
            integration ->
                aliases.containsAll(
                    integration.at("/Properties/IntegrationUri").findValuesAsText("Ref").stream()
                        .filter(ref -> !ref.startsWith("AWS::"))
                        .toList()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Authorizer | LIMIT_TABLE QUEUE_URL_PREFIX SESSION_TABLE TENANT_ROLE_ARN TENANT_TABLE"
            + " TIER_TABLE TOKEN_PRODUCER_ARN",
        "Connect | LIMIT_TABLE QUEUE_URL_PREFIX SESSION_TABLE TENANT_ROLE_ARN TIER_TABLE",
        "Disconnect | LIMIT_TABLE SESSION_TABLE TENANT_ROLE_ARN",
        "SessionApi | LIMIT_TABLE LIST_TENANTS SESSION_TABLE TENANT_ROLE_ARN TENANT_TABLE TIER_TABLE WEBSOCKET_URL",
        "TokenProducer | LIMIT_TABLE QUEUE_URL_PREFIX SCHEDULE_DEAD_LETTER_ARN SCHEDULE_GROUP"
            + " SCHEDULE_ROLE_ARN TENANT_TABLE",
        "PoolProcessor | LIMIT_TABLE MESSAGE_HANDLER QUEUE_URL_PREFIX SESSION_TABLE TENANT_ROLE_ARN"
            + " TENANT_TABLE TIER_TABLE TOKEN_PRODUCER_ARN WEBSOCKET_URL",
        "SessionEnd | LIMIT_TABLE SESSION_TABLE TENANT_TABLE WEBSOCKET_URL",
        "Housekeeper | LIMIT_TABLE SESSION_TABLE TENANT_TABLE WEBSOCKET_URL",
        "AuditEvents | DEPLOYMENT",
        "AuditWriter | AUDIT_TABLE",
        "HistoryWriter | HISTORY_TABLE",
        "ControlPlane | AUDIT_TABLE DEPLOYMENT HISTORY_TABLE IDEMPOTENCY_TABLE"
            + " LIMIT_TABLE POOL_DEAD_LETTER_URL POOL_QUEUE_URL "
            + CODE
            + " PUSH_QUEUE_URL "
            + SCHEDULING
            + " SWEEP_ARN"
            + PROVISIONING_REST,
        "TenantPusher | IDEMPOTENCY_TABLE LIMIT_TABLE PUSH_QUEUE_URL SESSION_TABLE TENANT_ROLE_ARN"
            + " WEBSOCKET_URL",
        "Sweep | DEPLOYMENT HISTORY_TABLE LIMIT_TABLE POOL_DEAD_LETTER_URL "
            + CODE
            + " "
            + SCHEDULING
            + PROVISIONING_REST,
      })
  void a_function_has_only_the_variables_that_it_needs(String id, String variables) {
    assertThat(String.join(" ", environment(STACK, id).keySet())).isEqualTo(variables);
  }

  @ParameterizedTest
  @MethodSource("functions")
  void a_table_variable_names_its_table(String id) {
    environment(STACK, id)
        .forEach(
            (name, value) -> {
              if (name.endsWith("_TABLE")) {
                assertThat(value.path("Ref").asText().toUpperCase(Locale.ROOT))
                    .startsWith("TOLLGATETABLES" + name.replace("_TABLE", ""));
              }
            });
  }

  // Grants

  @Test
  void no_grant_has_a_wildcard_action() {
    for (JsonNode policy : STACK.resources("AWS::IAM::Policy").values()) {
      for (JsonNode statement : policy.at("/Properties/PolicyDocument/Statement")) {
        if (denies(statement)) {
          continue;
        }
        assertThat(Synthesis.texts(statement.path("Action"))).noneMatch(a -> a.contains("*"));
        if (!Synthesis.texts(statement.path("Action")).allMatch(WITHOUT_RESOURCE::contains)) {
          assertThat(Synthesis.texts(statement.path("Resource"))).noneMatch("*"::equals);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("functionsWithTenantRole")
  void a_tenant_role_trusts_only_its_function_with_one_tag(String id) {
    assertThat(trusted(STACK, role(id, "TenantRole")))
        .containsExactly(function(id).at("/Role/Fn::GetAtt/0").asText());
  }

  @ParameterizedTest
  @MethodSource("functionsWithTenantRole")
  void a_tenant_role_can_access_one_tenant_only(String id) {
    assertAccessesOneTenantOnly(STACK.statementsOf(role(id, "TenantRole")));
  }

  private static void assertAccessesOneTenantOnly(List<JsonNode> statements) {
    assertThat(statements).isNotEmpty();
    for (JsonNode statement : statements) {
      if (denies(statement)) {
        continue;
      }
      List<String> actions = Synthesis.texts(statement.path("Action")).toList();
      switch (actions.get(0).replaceFirst(":.*", "")) {
        case "dynamodb" -> {
          assertThat(actions).doesNotContain("dynamodb:Scan");
          assertThat(statement.path("Condition").toString())
              .contains(
                  "\"ForAllValues:StringEquals\":"
                      + "{\"dynamodb:LeadingKeys\":\"${aws:PrincipalTag/tenantId}\"}")
              .containsPattern("\"Null\":\\{[^}]*\"dynamodb:LeadingKeys\":\"false\"");
        }
        case "sqs" ->
            assertThat(resources(statement))
                .isSubsetOf(
                    "*_${aws:PrincipalTag/tenantId}_token_bucket",
                    "silo_${aws:PrincipalTag/tenantId}.fifo",
                    "silo_${aws:PrincipalTag/tenantId}_dead.fifo");
        case "scheduler" ->
            assertThat(resources(statement))
                .containsExactly("schedule/tollgate/*_${aws:PrincipalTag/tenantId}");
        case "lambda" ->
            assertThat(
                    statement.has("Condition")
                        ? resource(statement.at("/Condition/StringEquals/lambda:FunctionArn"))
                        : String.join(" ", resources(statement)))
                .isEqualTo("function:silo_${aws:PrincipalTag/tenantId}");
        case "s3" ->
            assertThat(resources(statement))
                .containsExactly(
                    "<assets>/" + variable(STACK, "Sweep", "PROCESSOR_CODE_KEY").asText());
        default -> {
          assertThat(actions).containsExactly("iam:PassRole");
          assertThat(
                  resources(statement)
                      + " "
                      + statement.at("/Condition/StringEquals/iam:PassedToService").asText())
              .isIn(
                  "[TollgateFillingRole] scheduler.amazonaws.com",
                  "[TollgatePoolProcessorRole] lambda.amazonaws.com");
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Authorizer", "Connect", "ControlPlane", "PoolProcessor", "Sweep"})
  void a_tenant_role_without_prefix_is_denied_the_buckets_of_prefixed_deployments(String id) {
    assertThat(STACK.statementsOf(role(id, "TenantRole")).stream().filter(TollgateTest::denies))
        .singleElement()
        .satisfies(
            denial -> {
              assertThat(denial.path("Action").asText()).isEqualTo("sqs:*");
              assertThat(resources(denial))
                  .containsExactly("*_*_${aws:PrincipalTag/tenantId}_token_bucket");
              assertThat(denial.has("Condition")).isFalse();
            });
  }

  @ParameterizedTest
  @MethodSource("functionsWithTenantRole")
  void a_functions_own_role_cannot_access_session_and_limit_rows(String id) {
    boolean rollsOut = id.equals("ControlPlane") || id.equals("Sweep");
    assertThat(grants(STACK, role(id, "Role")))
        .filteredOn(grant -> grant.startsWith("dynamodb:"))
        // A roll-out retunes the buckets of many tenants; its writes name a bucket's attributes.
        .filteredOn(
            grant -> !rollsOut || !grant.matches("dynamodb:(Query|UpdateItem) TollgateTablesLimit"))
        .filteredOn(grant -> !grant.matches("dynamodb:Query \\S+/index/(live|shard)"))
        .filteredOn(grant -> !grant.matches("dynamodb:\\w+(Stream|Records|Iterator|Streams) .*"))
        .noneMatch(grant -> grant.matches(".*TollgateTables(Session|Limit).*"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "PoolProcessor | dynamodb:GetItem TollgateTablesTenant; dynamodb:GetItem TollgateTablesTier;"
            + " execute-api:ManageConnections TollgateWebSocketApi/production/DELETE/@connections/*;"
            + " execute-api:ManageConnections TollgateWebSocketApi/production/POST/@connections/*;"
            + " lambda:InvokeFunction TollgateTokenProducerAlias;"
            + " sqs:DeleteMessage TollgateMessagesPool; sqs:DeleteMessage silo_*.fifo;"
            + " sqs:GetQueueAttributes TollgateMessagesPool; sqs:GetQueueAttributes silo_*.fifo;"
            + " sqs:ReceiveMessage TollgateMessagesPool; sqs:ReceiveMessage silo_*.fifo",
        "Authorizer | dynamodb:GetItem TollgateTablesTenant; dynamodb:GetItem TollgateTablesTier;"
            + " lambda:InvokeFunction TollgateTokenProducerAlias",
        "SessionEnd | dynamodb:DescribeStream TollgateTablesSession;"
            + " dynamodb:GetItem TollgateTablesTenant; dynamodb:GetRecords TollgateTablesSession;"
            + " dynamodb:GetShardIterator TollgateTablesSession;"
            + " dynamodb:ListStreams *;"
            + " execute-api:ManageConnections TollgateWebSocketApi/production/DELETE/@connections/*;"
            + " dynamodb:Query TollgateTablesSession; dynamodb:GetItem TollgateTablesLimit;"
            + " dynamodb:UpdateItem TollgateTablesLimit;"
            + " sqs:SendMessage TollgateRemovedSessionsFailures",
        "Housekeeper | dynamodb:GetItem TollgateTablesTenant;"
            + " dynamodb:Query TollgateTablesLimit/index/live;"
            + " execute-api:ManageConnections TollgateWebSocketApi/production/DELETE/@connections/*;"
            + " execute-api:ManageConnections TollgateWebSocketApi/production/GET/@connections/*;"
            + " dynamodb:Query TollgateTablesSession; dynamodb:UpdateItem TollgateTablesSession;"
            + " dynamodb:DeleteItem TollgateTablesSession; dynamodb:GetItem TollgateTablesLimit;"
            + " dynamodb:DeleteItem TollgateTablesLimit; dynamodb:UpdateItem TollgateTablesLimit;"
            + " lambda:InvokeFunction TollgateHousekeeperAlias",
        "ControlPlane | "
            + OWN_PROVISIONING
            + " dynamodb:Scan TollgateTablesTenant; dynamodb:BatchGetItem TollgateTablesTenant;"
            + " dynamodb:Query TollgateTablesTenant/index/pending;"
            + " dynamodb:Query TollgateTablesHistory; dynamodb:Query TollgateTablesAudit;"
            + " dynamodb:Query TollgateTablesAudit/index/byDay;"
            + " dynamodb:PutItem TollgateTablesIdempotency;"
            + " dynamodb:DeleteItem TollgateTablesIdempotency; sqs:ListQueues *;"
            + " scheduler:ListSchedules *; lambda:GetAccountSettings *; scheduler:GetSchedule schedule/tollgate/shard-*;"
            + " scheduler:DeleteSchedule schedule/tollgate/shard-*;"
            + " scheduler:CreateSchedule schedule/tollgate/limit.*;"
            + " scheduler:GetSchedule schedule/tollgate/limit.*;"
            + " scheduler:DeleteSchedule schedule/tollgate/limit.*; "
            + "sqs:SendMessage TollgateMessagesPool; sqs:SendMessage TollgatePushesQueue;"
            + " execute-api:ManageConnections TollgateWebSocketApi/production/POST/@connections/*;"
            + " sqs:GetQueueAttributes TollgateMessagesPoolDead;"
            + " sqs:ReceiveMessage TollgateMessagesPoolDead;"
            + " sqs:ChangeMessageVisibility TollgateMessagesPoolDead;"
            + " sqs:DeleteMessage TollgateMessagesPoolDead; "
            + OWN_REST,
        "TenantPusher | dynamodb:PutItem TollgateTablesIdempotency;"
            + " dynamodb:DeleteItem TollgateTablesIdempotency;"
            + " execute-api:ManageConnections TollgateWebSocketApi/production/DELETE/@connections/*;"
            + " execute-api:ManageConnections TollgateWebSocketApi/production/POST/@connections/*;"
            + " sqs:SendMessage TollgatePushesQueue; sqs:ReceiveMessage TollgatePushesQueue;"
            + " sqs:DeleteMessage TollgatePushesQueue; sqs:GetQueueAttributes TollgatePushesQueue",
        "Sweep | " + OWN_PROVISIONING + " lambda:InvokeFunction TollgateSweepAlias; " + OWN_REST,
      })
  void a_functions_own_role_has_exactly_these_grants(String id, String grants) {
    String expected =
        id.equals("Sweep")
            ? grants.replace(
                "TollgateTablesTenant/index/byTier;",
                "TollgateTablesTenant/index/byTier; dynamodb:Query"
                    + " TollgateTablesTenant/index/pending; dynamodb:Query"
                    + " TollgateTablesTenant/index/scheduled; dynamodb:Query"
                    + " TollgateTablesHistory;")
            : grants;
    assertThat(
            grants(STACK, role(id, ownRole(id))).stream()
                .filter(grant -> !grant.startsWith("logs:") && !grant.startsWith("sts:")))
        .containsExactlyInAnyOrder(expected.split("; ", -1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Authorizer", "Connect", "PoolProcessor", "SessionApi"})
  void a_function_that_enforces_limits_reads_the_switch_and_no_tier(String id) {
    assertThat(
            STACK.statementsOf(role(id, "Role")).stream()
                .filter(one -> one.path("Resource").toString().contains("TablesTier")))
        .singleElement()
        .satisfies(
            grant -> {
              assertThat(Synthesis.texts(grant.path("Action"))).containsExactly("dynamodb:GetItem");
              assertThat(grant.path("Condition").toString())
                  .isEqualTo(
                      "{\"ForAllValues:StringEquals\":{\"dynamodb:LeadingKeys\":\"#admit-all\"},"
                          + "\"Null\":{\"dynamodb:LeadingKeys\":\"false\"}}");
            });
  }

  @Test
  void the_token_producer_has_exactly_these_grants_and_no_tenant_role() {
    String role = role("TokenProducer", "AllTenantsRole");
    assertThat(function("TokenProducer").at("/Role/Fn::GetAtt/0").asText()).isEqualTo(role);
    assertThat(STACK.resources("AWS::IAM::Role").keySet())
        .filteredOn(id -> id.startsWith("TollgateTokenProducer"))
        .containsExactly(role);
    assertThat(
            grants(STACK, role).stream()
                .filter(grant -> !grant.startsWith("logs:"))
                .collect(Collectors.joining("; ")))
        .isEqualTo(
            "dynamodb:Query TollgateTablesLimit/index/shard;"
                + " dynamodb:GetItem TollgateTablesTenant; dynamodb:PutItem TollgateTablesTenant;"
                + " dynamodb:GetItem TollgateTablesLimit;"
                + " dynamodb:UpdateItem TollgateTablesLimit;"
                + " sqs:DeleteMessage *_token_bucket; sqs:GetQueueAttributes *_token_bucket;"
                + " sqs:ReceiveMessage *_token_bucket; sqs:SendMessage *_token_bucket;"
                + " sqs:SetQueueAttributes *_token_bucket;"
                + " scheduler:CreateSchedule schedule/tollgate/*_*;"
                + " scheduler:DeleteSchedule schedule/tollgate/*_*;"
                + " scheduler:UpdateSchedule schedule/tollgate/*_*;"
                + " iam:PassRole TollgateFillingRole;"
                + " lambda:InvokeFunction TollgateTokenProducerAlias");
    assertThat(STACK.statementsOf(role).stream().filter(TollgateTest::denies))
        .singleElement()
        .satisfies(
            denial -> {
              assertThat(denial.path("Action").asText()).isEqualTo("sqs:*");
              assertThat(resources(denial)).containsExactly("*_*_*_token_bucket");
              assertThat(denial.has("Condition")).isFalse();
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"Housekeeper", "SessionEnd"})
  void housekeeping_for_all_tenants_writes_counts_and_corrections_alone(String id) {
    List<JsonNode> statements = STACK.statementsOf(role(id, "AllTenantsRole"));
    assertThat(attributesOfLimits(statements))
        .containsExactly("correction itemCount key p? p?? p??? tenantId withoutToken");
    assertThat(statements.toString()).doesNotContain("sts:", "sqs:Rec", "dynamodb:PutItem");
    assertThat(STACK.resources("AWS::IAM::Role").keySet())
        .filteredOn(role -> role.startsWith("Tollgate" + id))
        .hasSize(1);
  }

  @Test
  void the_writer_of_history_reads_a_stream_and_writes_its_table_alone() {
    String role = role("HistoryWriter", "AllTenantsRole");
    assertThat(
            grants(STACK, role).stream()
                .filter(grant -> !grant.startsWith("logs:"))
                .collect(Collectors.joining("; ")))
        .isEqualTo(
            "dynamodb:BatchWriteItem TollgateTablesHistory; dynamodb:Query TollgateTablesHistory;"
                + " dynamodb:DescribeStream TollgateTablesLimit;"
                + " dynamodb:GetRecords TollgateTablesLimit;"
                + " dynamodb:GetShardIterator TollgateTablesLimit; dynamodb:ListStreams *;"
                + " sqs:SendMessage TollgateChangesFailures");
  }

  @Test
  void the_writer_of_the_audit_reads_streams_and_puts_rows_alone() {
    assertThat(
            grants(STACK, role("AuditWriter", "AllTenantsRole")).stream()
                .filter(grant -> !grant.startsWith("logs:"))
                .distinct())
        .containsExactlyInAnyOrder(
            "dynamodb:PutItem TollgateTablesAudit",
            "dynamodb:DescribeStream TollgateTablesTenant",
            "dynamodb:GetRecords TollgateTablesTenant",
            "dynamodb:GetShardIterator TollgateTablesTenant",
            "dynamodb:DescribeStream TollgateTablesTier",
            "dynamodb:GetRecords TollgateTablesTier",
            "dynamodb:GetShardIterator TollgateTablesTier",
            "dynamodb:ListStreams *",
            "sqs:SendMessage TollgateChangedTenantsFailures",
            "sqs:SendMessage TollgateChangedTiersFailures");
  }

  @Test
  void the_sender_of_events_reads_the_audits_stream_and_sends_events_alone() {
    assertThat(
            grants(STACK, role("AuditEvents", "AllTenantsRole")).stream()
                .filter(grant -> !grant.startsWith("logs:")))
        .containsExactlyInAnyOrder(
            "events:PutEvents event-bus/default",
            "dynamodb:DescribeStream TollgateTablesAudit",
            "dynamodb:GetRecords TollgateTablesAudit",
            "dynamodb:GetShardIterator TollgateTablesAudit",
            "dynamodb:ListStreams *",
            "sqs:SendMessage TollgateAuditEntriesFailures");
  }

  @Test
  void nobody_changes_the_audit_and_its_writer_alone_adds_to_it() {
    JsonNode policy = table("Audit").at("/ResourcePolicy/PolicyDocument/Statement");
    assertThat(policy).hasSize(2);
    policy.forEach(
        statement -> {
          assertThat(statement.path("Effect").asText()).isEqualTo("Deny");
          assertThat(statement.at("/Principal/AWS").asText()).isEqualTo("*");
        });
    assertThat(Synthesis.texts(policy.path(0).path("Action")))
        .containsExactly(
            "dynamodb:BatchWriteItem",
            "dynamodb:DeleteItem",
            "dynamodb:PartiQLDelete",
            "dynamodb:PartiQLInsert",
            "dynamodb:PartiQLUpdate",
            "dynamodb:UpdateItem");
    assertThat(policy.path(0).has("Condition")).isFalse();
    assertThat(policy.path(1).path("Action").asText()).isEqualTo("dynamodb:PutItem");
    assertThat(policy.path(1).at("/Condition/StringNotEquals").toString())
        .contains(role("AuditWriter", "AllTenantsRole"));
    assertThat(table("Audit").at("/TimeToLiveSpecification/AttributeName").asText())
        .isEqualTo("expiresAt");
  }

  /**
   * DynamoDB refuses a table's policy that names an unknown action, and the stack with it. These
   * are operations of the service's model, or actions that are none.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html">Actions
   *     defined by Amazon DynamoDB</a>
   * @see <a
   *     href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/rbac-iam-actions.html">API
   *     operations supported by resource-based policies</a>
   */
  @Test
  void each_action_of_dynamodb_exists() throws IOException {
    Set<String> known = new TreeSet<>();
    for (String model : List.of("dynamodb", "streams.dynamodb")) {
      try (InputStream file =
          TollgateTest.class.getResourceAsStream("/models/" + model + "-2012-08-10-model.json")) {
        new ObjectMapper()
            .readTree(file)
            .path("operations")
            .fieldNames()
            .forEachRemaining(known::add);
      }
    }
    known.addAll(
        List.of(
            "ConditionCheckItem",
            "PartiQLDelete",
            "PartiQLInsert",
            "PartiQLSelect",
            "PartiQLUpdate"));
    Set<String> named = new TreeSet<>();
    Matcher actions = Pattern.compile("\"dynamodb:(\\w+)\"").matcher(policies(SHARED));
    while (actions.find()) {
      named.add(actions.group(1));
    }

    assertThat(named).hasSizeGreaterThan(15).isSubsetOf(known);
  }

  /** The actions of all statements: of tables' policies, roles and managed policies. */
  private static String policies(Synthesis stack) {
    return stack.template().findValues("Action").toString();
  }

  @Test
  void the_audit_stays_when_the_stack_is_deleted() {
    for (Synthesis stack : List.of(STACK, CHANGED)) {
      assertThat(stack.resources("AWS::DynamoDB::Table"))
          .hasEntrySatisfying(
              new Condition<>(id -> id.startsWith("TollgateTablesAudit"), "the audit"),
              new Condition<>(
                  table -> table.path("DeletionPolicy").asText().equals("RetainExceptOnCreate"),
                  "is kept"));
    }
  }

  @Test
  void the_token_producer_writes_buckets_and_their_lines_alone() {
    assertThat(attributesOfLimits(STACK.statementsOf(role("TokenProducer", "AllTenantsRole"))))
        .containsExactly(
            "aheadFrom capacity carried emptyHeld emptySince emptyUntil emptyVersion fillMode freed"
                + " fullSince hibernateAfterMinutes key level line minted mintedInFull mintedThrough noLine period rate refill schema shard"
                + " tenantId turnAt upkeep upkeepSince version write");
  }

  @ParameterizedTest
  @MethodSource("functionsWithTenantRole")
  void a_function_shares_the_credentials_of_its_own_tenant_role_alone(String id) {
    assertThat(
            SHARED.statementsOf(role(id, "Role")).stream()
                .filter(one -> one.path("Resource").toString().contains("TablesCredentials"))
                .filter(one -> !one.path("Action").asText().equals("dynamodb:GetResourcePolicy")))
        .singleElement()
        .satisfies(
            grant -> {
              assertThat(Synthesis.texts(grant.path("Action")))
                  .containsExactly("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem");
              assertThat(grant.path("Condition").toString())
                  .isEqualTo(
                      "{\"ForAllValues:StringLike\":{\"dynamodb:LeadingKeys\":{\"Fn::Join\":[\"\","
                          + "[{\"Ref\":\""
                          + role(id, "TenantRole")
                          + "\"},\"/*\"]]}},\"Null\":{\"dynamodb:LeadingKeys\":\"false\"}}");
            });
    assertThat(SHARED.statementsOf(role(id, "TenantRole")).toString())
        .doesNotContain("TablesCredentials");
    assertThat(environment(SHARED, id)).containsKey("CREDENTIALS_TABLE");
  }

  @Test
  void the_control_plane_knows_the_roles_of_the_policy_and_reads_it() {
    JsonNode exceptions =
        table(SHARED, "Credentials0")
            .at(
                "/ResourcePolicy/PolicyDocument/Statement/0/Condition/StringNotEquals/aws:PrincipalArn");
    List<JsonNode> named =
        environment(SHARED, "ControlPlane").get("CREDENTIALS_ROLES").findParents("Fn::GetAtt");

    assertThat(named).containsExactlyElementsOf(exceptions);
    for (String id : functionsWithTenantRole()) {
      assertThat(environment(SHARED, id).containsKey("CREDENTIALS_ROLES"))
          .isEqualTo(id.equals("ControlPlane"));
      assertThat(SHARED.statementsOf(role(id, "Role")).toString().contains("ResourcePolicy"))
          .isEqualTo(id.equals("ControlPlane"));
    }
    assertThat(
            SHARED.statementsOf(role("ControlPlane", "Role")).stream()
                .filter(one -> one.toString().contains("ResourcePolicy")))
        .singleElement()
        .satisfies(
            grant -> {
              assertThat(grant.path("Action").asText()).isEqualTo("dynamodb:GetResourcePolicy");
              assertThat(grant.path("Resource").findValues("Fn::GetAtt"))
                  .singleElement()
                  .satisfies(
                      arn -> assertThat(arn.path(0).asText()).contains("TablesCredentials0"));
            });
  }

  @Test
  void functions_share_no_credentials_by_default() {
    assertThat(STACK.template().toString())
        .doesNotContain("TablesCredentials", "CREDENTIALS_", "kms");
    assertThat(SHARED.findings()).isEmpty();
  }

  @Test
  void credentials_have_a_key_that_only_the_functions_own_roles_can_use_through_dynamodb() {
    JsonNode key = SHARED.properties("AWS::KMS::Key", "TollgateTablesCredentialsKey");
    assertThat(SHARED.resources("AWS::KMS::Key")).hasSize(1);
    assertThat(table(SHARED, "Credentials0").at("/SSESpecification/KMSMasterKeyId").toString())
        .contains("TollgateTablesCredentialsKey");
    JsonNode statements = key.at("/KeyPolicy/Statement");
    assertThat(statements).hasSize(3);
    assertThat(Synthesis.texts(statements.get(0).path("Action")))
        .noneMatch(
            action -> action.matches("kms:(.*Encrypt.*|Decrypt|GenerateDataKey.*|CreateGrant)"))
        .contains("kms:PutKeyPolicy", "kms:ScheduleKeyDeletion");
    assertThat(Synthesis.texts(statements.get(1).path("Action")))
        .containsExactly("kms:CreateGrant", "kms:GenerateDataKey*");
    for (JsonNode use : List.of(statements.get(1), statements.get(2))) {
      assertThat(use.path("Condition").toString())
          .isEqualTo(
              "{\"StringEquals\":{\"kms:ViaService\":{\"Fn::Join\":[\"\",[\"dynamodb.\","
                  + "{\"Ref\":\"AWS::Region\"},\".amazonaws.com\"]]}}}");
    }
    assertThat(Synthesis.texts(statements.get(2).path("Action"))).containsExactly("kms:Decrypt");
    assertThat(
            statements.get(2).path("Principal").findValues("Fn::GetAtt").stream()
                .map(role -> role.get(0).asText()))
        .containsExactlyInAnyOrderElementsOf(
            functionsWithTenantRole().stream().map(id -> role(id, "Role")).toList());
  }

  @Test
  void nobody_can_copy_the_credentials() {
    JsonNode denial =
        table(SHARED, "Credentials0").at("/ResourcePolicy/PolicyDocument/Statement/1");
    assertThat(denial.path("Effect").asText()).isEqualTo("Deny");
    assertThat(denial.at("/Principal/AWS").asText()).isEqualTo("*");
    assertThat(denial.has("Condition")).isFalse();
    assertThat(Synthesis.texts(denial.path("Action")))
        .containsExactly(
            "dynamodb:CreateBackup",
            "dynamodb:EnableKinesisStreamingDestination",
            "dynamodb:ExportTableToPointInTime",
            "dynamodb:RestoreTableToPointInTime",
            "dynamodb:UpdateContinuousBackups",
            "dynamodb:UpdateTable");
  }

  @Test
  void only_the_functions_own_roles_can_access_the_credentials_and_no_backup_has_them() {
    JsonNode credentials = table(SHARED, "Credentials0");
    assertThat(keys(credentials)).containsExactly("key");
    assertThat(credentials.at("/TimeToLiveSpecification/AttributeName").asText())
        .isEqualTo("endsAt");
    assertThat(credentials.has("PointInTimeRecoverySpecification")).isFalse();
    assertThat(credentials.has("StreamSpecification")).isFalse();
    JsonNode statements = credentials.at("/ResourcePolicy/PolicyDocument/Statement");
    assertThat(statements).hasSize(2);
    JsonNode denial = statements.get(0);
    assertThat(denial.path("Effect").asText()).isEqualTo("Deny");
    assertThat(denial.at("/Principal/AWS").asText()).isEqualTo("*");
    assertThat(denial.path("Resource").asText()).isEqualTo("*");
    assertThat(Synthesis.texts(denial.path("Action")))
        .containsExactly(
            "dynamodb:BatchGetItem",
            "dynamodb:BatchWriteItem",
            "dynamodb:ConditionCheckItem",
            "dynamodb:DeleteItem",
            "dynamodb:GetItem",
            "dynamodb:PartiQLDelete",
            "dynamodb:PartiQLInsert",
            "dynamodb:PartiQLSelect",
            "dynamodb:PartiQLUpdate",
            "dynamodb:PutItem",
            "dynamodb:Query",
            "dynamodb:Scan",
            "dynamodb:UpdateItem");
    assertThat(denial.path("Condition")).hasSize(1);
    assertThat(denial.at("/Condition/StringNotEquals")).hasSize(1);
    assertThat(
            denial
                .at("/Condition/StringNotEquals/aws:PrincipalArn")
                .findValues("Fn::GetAtt")
                .stream()
                .map(role -> role.get(0).asText()))
        .containsExactlyInAnyOrderElementsOf(
            functionsWithTenantRole().stream().map(id -> role(id, "Role")).toList());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "PoolProcessor | Tenant: BatchGetItem; Session: BatchGetItem UpdateItem;"
            + " Limit: BatchGetItem BatchWriteItem UpdateItem",
        "SessionApi | Tenant: BatchGetItem; Limit: BatchGetItem GetItem UpdateItem;"
            + " Session: BatchGetItem DeleteItem GetItem PutItem UpdateItem",
        "ControlPlane | Session: BatchGetItem DeleteItem GetItem Query UpdateItem;"
            + " Limit: DeleteItem GetItem PutItem Query UpdateItem",
        "TenantPusher | Session: Query UpdateItem; Limit: UpdateItem",
        "Sweep | Session: DeleteItem Query UpdateItem;"
            + " Limit: DeleteItem GetItem PutItem Query UpdateItem",
      })
  void a_tenant_role_has_exactly_these_row_grants(String id, String rows) {
    List<String> expected = new ArrayList<>();
    for (String table : rows.split("; ", -1)) {
      for (String action : table.split(": ", -1)[1].split(" ", -1)) {
        expected.add("dynamodb:" + action + " TollgateTables" + table.split(": ", -1)[0]);
      }
    }
    assertThat(
            grants(STACK, role(id, "TenantRole")).stream()
                .filter(grant -> grant.startsWith("dynamodb:")))
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Authorizer | emptyHeld emptySince emptyUntil emptyVersion freed key line refused refusedLastAt refused_* sessionFullAt"
            + " tenantFullAt tenantId",
        "Connect | admitted admittedLastAt emptyHeld emptySince emptyUntil emptyVersion freed itemCount key line p?"
            + " p?? p??? refused refusedLastAt refused_* sessionFullAt tenantFullAt tenantId"
            + " withoutToken",
        "Disconnect | itemCount key p? p?? p??? tenantId",
        "SessionApi | arrival emptyHeld emptySince emptyUntil emptyVersion freed itemCount key line"
            + " live p? p?? p??? tenantId",
        "TenantPusher | itemCount key p? p?? p??? tenantId",
        "PoolProcessor | emptyHeld emptySince emptyUntil emptyVersion itemCount key line p? p??"
            + " p??? tenantId; expiresAt key schema tenantId",
      })
  void a_tenant_role_may_write_exactly_these_attributes_of_limits(String id, String attributes) {
    assertThat(attributesOfLimits(STACK.statementsOf(role(id, "TenantRole"))))
        .containsExactly(attributes.split("; ", -1));
  }

  /**
   * The attributes that each statement allows to be written; fails if one allows all attributes.
   */
  private static List<String> attributesOfLimits(List<JsonNode> statements) {
    List<String> attributes = new ArrayList<>();
    for (JsonNode statement : statements) {
      boolean ofLimits = statement.path("Resource").toString().contains("TollgateTablesLimit");
      if (ofLimits
          && Synthesis.texts(statement.path("Action"))
              .anyMatch(action -> action.matches("dynamodb:(Put|Update|BatchWrite)Item"))) {
        JsonNode condition = statement.path("Condition");
        assertThat(condition.at("/Null/dynamodb:Attributes").asText()).isEqualTo("false");
        attributes.add(
            Synthesis.texts(condition.at("/ForAllValues:StringLike/dynamodb:Attributes"))
                .collect(Collectors.joining(" ")));
      }
    }
    return attributes;
  }

  @ParameterizedTest
  @ValueSource(strings = {"ControlPlane", "Sweep"})
  void a_silo_is_created_with_the_grants_of_its_tenants_role(String id) {
    String silo = "silo_${aws:PrincipalTag/tenantId}";
    List<String> expected = new ArrayList<>();
    for (String action :
        List.of(
            "CreateQueue",
            "DeleteQueue",
            "SetQueueAttributes",
            "GetQueueAttributes",
            "ReceiveMessage",
            "DeleteMessage")) {
      expected.add("sqs:" + action + " " + silo + ".fifo");
      expected.add("sqs:" + action + " " + silo + "_dead.fifo");
    }
    for (String action :
        List.of(
            "CreateFunction",
            "GetFunction",
            "UpdateFunctionCode",
            "UpdateFunctionConfiguration",
            "DeleteFunction")) {
      expected.add("lambda:" + action + " function:" + silo);
    }
    if (id.equals("ControlPlane")) {
      expected.add("sqs:SendMessage " + silo + ".fifo");
      expected.add("sqs:ChangeMessageVisibility " + silo + "_dead.fifo");
    }
    expected.add("lambda:CreateEventSourceMapping *");
    expected.add("lambda:UpdateEventSourceMapping event-source-mapping:*");
    expected.add("lambda:DeleteEventSourceMapping event-source-mapping:*");
    assertThat(
            grants(STACK, role(id, "TenantRole")).stream()
                .filter(grant -> grant.startsWith("lambda:") || grant.contains(silo)))
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void a_scheduler_without_prefix_is_denied_the_buckets_of_prefixed_deployments() {
    assertThat(STACK.statementsOf(schedulerRole()).stream().filter(TollgateTest::denies))
        .singleElement()
        .satisfies(
            denial -> {
              assertThat(denial.path("Action").asText()).isEqualTo("sqs:*");
              assertThat(resources(denial)).containsExactly("*_*_*_token_bucket");
            });
  }

  @Test
  void the_scheduler_acts_only_for_its_group_and_invokes_four_aliases() {
    JsonNode trust =
        STACK
            .properties("AWS::IAM::Role", schedulerRole())
            .at("/AssumeRolePolicyDocument/Statement/0");
    assertThat(trust.at("/Principal/Service").asText()).isEqualTo("scheduler.amazonaws.com");
    JsonNode condition = trust.at("/Condition/StringEquals");
    assertThat(condition.at("/aws:SourceAccount/Ref").asText()).isEqualTo("AWS::AccountId");
    assertThat(condition.at("/aws:SourceArn/Fn::GetAtt/0").asText())
        .isEqualTo(only("AWS::Scheduler::ScheduleGroup"));
    assertThat(grants(STACK, schedulerRole()))
        .containsExactlyInAnyOrder(
            "sqs:SendMessage TollgateFillingDeadLetters",
            "sqs:SendMessage *_token_bucket",
            "lambda:InvokeFunction TollgateHistoryWriterAlias",
            "lambda:InvokeFunction TollgateHousekeeperAlias",
            "lambda:InvokeFunction TollgateSweepAlias",
            "lambda:InvokeFunction TollgateTokenProducerAlias");
  }

  // Programs that claim tokens

  @Test
  void a_stack_without_claims_has_no_role_for_claims() {
    assertThat(Synthesis.of(Map.of("claims", "false")).template().toString())
        .doesNotContain("ClaimsRole", "ApplicationRole");
  }

  @Test
  void a_program_of_the_account_may_claim_with_the_application_role() {
    String application = role(STACK, "Application");
    assertThat(
            STACK
                .properties("AWS::IAM::Role", application)
                .at("/AssumeRolePolicyDocument/Statement/0/Principal/AWS")
                .toString())
        .contains(":iam::", "AWS::AccountId", ":root");
    assertThat(grants(STACK, application))
        .containsExactlyInAnyOrder(
            "sts:AssumeRole TollgateClaimsRole",
            "sts:TagSession TollgateClaimsRole",
            "lambda:InvokeFunction TollgateTokenProducerAlias");
    JsonNode outputs = STACK.template().path("Outputs");
    assertThat(outputs.at("/ApplicationRole/Value/Fn::GetAtt/0").asText()).isEqualTo(application);
    assertThat(outputs.at("/ApplicationVariables/Value").toString())
        .contains("LIMIT_TABLE=", "\\nQUEUE_URL_PREFIX=", "\\nTENANT_ROLE_ARN=");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | LIMIT_TABLE QUEUE_URL_PREFIX TENANT_ROLE_ARN TOKEN_PRODUCER_ARN",
        "a_ | LIMIT_TABLE NAME_PREFIX QUEUE_URL_PREFIX TENANT_ROLE_ARN TOKEN_PRODUCER_ARN"
      })
  void an_application_gets_the_environmentsthat_claims_need(String prefix, String variables) {
    List<Map<String, String>> environments = new ArrayList<>();
    Synthesis stack =
        Synthesis.of(
            Map.of("prefix", prefix, "claims", "false"),
            scope -> environments.add(grantClaims(scope, "Application")));
    assertThat(stack.findings()).isEmpty();
    assertThat(String.join(" ", environments.get(0).keySet())).isEqualTo(variables);
    assertThat(environments.get(0).getOrDefault("NAME_PREFIX", "")).isEqualTo(prefix);
  }

  @Test
  void an_application_may_push_and_nothing_else() {
    List<Map<String, String>> environments = new ArrayList<>();
    Synthesis stack =
        Synthesis.of(
            Map.of("claims", "false"),
            scope -> {
              Tollgate tollgate = (Tollgate) scope.getNode().findChild("Tollgate");
              Role role =
                  Role.Builder.create(scope, "Application")
                      .assumedBy(new ServicePrincipal("lambda.amazonaws.com"))
                      .build();
              environments.add(tollgate.grantPush(role));
            });

    assertThat(stack.findings()).isEmpty();
    assertThat(environments.get(0)).containsOnlyKeys("CONTROL_PLANE_URL");
    List<JsonNode> statements = stack.statementsOf(role(stack, "Application"));
    assertThat(statements).hasSize(1);
    assertThat(statements.get(0).path("Action").asText()).isEqualTo("execute-api:Invoke");
    assertThat(statements.get(0).path("Resource").toString())
        .contains(":execute-api:")
        .contains("/$default/POST/tenants/*/push\"");
  }

  @Test
  void an_application_claims_for_one_tenant_at_a_time_with_one_role() {
    Synthesis stack =
        Synthesis.of(
            Map.of("claims", "false"),
            scope ->
                assertThat(grantClaims(scope, "First")).isEqualTo(grantClaims(scope, "Second")));
    assertThat(stack.findings()).isEmpty();

    String claims = role(stack, "TollgateClaimsRole");
    assertThat(trusted(stack, claims))
        .containsExactlyInAnyOrder(role(stack, "First"), role(stack, "Second"));
    for (String application : List.of("First", "Second")) {
      assertThat(grants(stack, role(stack, application)))
          .containsExactlyInAnyOrder(
              "sts:AssumeRole TollgateClaimsRole",
              "sts:TagSession TollgateClaimsRole",
              "lambda:InvokeFunction TollgateTokenProducerAlias");
    }
    List<JsonNode> statements = stack.statementsOf(claims);
    assertAccessesOneTenantOnly(statements);
    assertThat(attributesOfLimits(statements))
        .containsExactly("emptyHeld emptySince emptyUntil emptyVersion freed key line tenantId");
    assertThat(
            statements.stream()
                .filter(statement -> !denies(statement))
                .flatMap(statement -> Synthesis.texts(statement.path("Action"))))
        .containsExactlyInAnyOrder(
            "dynamodb:GetItem",
            "dynamodb:UpdateItem",
            "sqs:ReceiveMessage",
            "sqs:DeleteMessage",
            "sqs:ChangeMessageVisibility",
            "sqs:GetQueueAttributes");
    assertThat(statements).anyMatch(TollgateTest::denies);
  }

  // Schedules of functions

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Housekeeper | cron(* * * * ? *)",
        "Sweep | cron(* * * * ? *)",
        "HistoryWriter | cron(10 * * * ? *)"
      })
  void a_scheduled_function_runs_every_minute_or_every_hour(String id, String expression) {
    JsonNode schedule = STACK.properties("AWS::Scheduler::Schedule", "TollgateFilling" + id);
    assertThat(schedule.path("Name").asText()).isEqualTo(id.toLowerCase(Locale.ROOT));
    assertThat(schedule.at("/GroupName/Ref").asText())
        .isEqualTo(only("AWS::Scheduler::ScheduleGroup"));
    assertThat(schedule.path("ScheduleExpression").asText()).isEqualTo(expression);
    assertThat(schedule.at("/FlexibleTimeWindow/Mode").asText()).isEqualTo("OFF");
    assertThat(schedule.at("/Target/Arn/Ref").asText()).startsWith("Tollgate" + id + "Alias");
    assertThat(schedule.at("/Target/Input").asText())
        .isEqualTo("{\"scheduledTime\":\"<aws.scheduler.scheduled-time>\"}");
  }

  // Message queues

  @Test
  void the_pool_orders_messages_by_session_and_receives_each_at_most_five_times() {
    JsonNode pool = STACK.properties("AWS::SQS::Queue", "TollgateMessagesPool9");
    assertThat(pool.path("QueueName").asText()).isEqualTo("tollgate_pool.fifo");
    assertThat(pool.path("VisibilityTimeout").asInt())
        .isEqualTo(90)
        .isGreaterThanOrEqualTo(6 * function("PoolProcessor").path("Timeout").asInt());
    assertThat(pool.at("/RedrivePolicy/maxReceiveCount").asInt()).isEqualTo(5);
    assertThat(resource(pool.at("/RedrivePolicy/deadLetterTargetArn")))
        .isEqualTo("TollgateMessagesPoolDead");
    assertThat(STACK.properties("AWS::SQS::Queue", "TollgateMessagesPoolDead").path("QueueName"))
        .hasToString("\"tollgate_pool_dead.fifo\"");
    assertThat(STACK.resources("AWS::SQS::Queue").values())
        .allMatch(queue -> queue.at("/Properties/SqsManagedSseEnabled").asBoolean())
        .filteredOn(queue -> queue.at("/Properties/FifoQueue").asBoolean())
        .hasSize(4)
        .allSatisfy(
            queue -> {
              assertThat(queue.at("/Properties/DeduplicationScope").asText())
                  .isEqualTo("messageGroup");
              assertThat(queue.at("/Properties/FifoThroughputLimit").asText())
                  .isEqualTo("perMessageGroupId");
            });
  }

  /** Two invocations leave the rest of the account's requests to all others. */
  @Test
  void pushes_have_a_queue_of_their_own_and_at_most_two_invocations() {
    JsonNode queue = STACK.properties("AWS::SQS::Queue", "TollgatePushesQueue");
    assertThat(queue.path("VisibilityTimeout").asInt())
        .isGreaterThanOrEqualTo(6 * function("TenantPusher").path("Timeout").asInt());
    assertThat(queue.at("/RedrivePolicy/maxReceiveCount").asInt()).isEqualTo(5);
    assertThat(resource(queue.at("/RedrivePolicy/deadLetterTargetArn")))
        .isEqualTo("TollgatePushesDead");
    JsonNode mapping = STACK.properties("AWS::Lambda::EventSourceMapping", "TollgateTenantPusher");
    assertThat(resource(mapping.path("EventSourceArn"))).isEqualTo("TollgatePushesQueue");
    assertThat(mapping.path("BatchSize").asInt()).isEqualTo(1);
    assertThat(mapping.at("/ScalingConfig/MaximumConcurrency").asInt()).isEqualTo(2);
    assertThat(function("TenantPusher").path("RecursiveLoop").asText()).isEqualTo("Allow");
  }

  @Test
  void every_queue_denies_unencrypted_requests() {
    assertThat(STACK.resources("AWS::SQS::QueuePolicy"))
        .hasSameSizeAs(STACK.resources("AWS::SQS::Queue"));
    assertThat(STACK.resources("AWS::SQS::QueuePolicy").values())
        .allSatisfy(
            policy ->
                assertThat(policy.at("/Properties/PolicyDocument/Statement").toString())
                    .contains("{\"Bool\":{\"aws:SecureTransport\":\"false\"}}", "\"Deny\""));
  }

  @Test
  void the_processor_receives_batches_of_the_pool_and_reports_failed_messages() {
    JsonNode mapping = STACK.properties("AWS::Lambda::EventSourceMapping", "TollgatePoolProcessor");
    assertThat(resource(mapping.path("EventSourceArn"))).isEqualTo("TollgateMessagesPool");
    assertThat(mapping.path("BatchSize").asInt()).isEqualTo(10);
    assertThat(Synthesis.texts(mapping.path("FunctionResponseTypes")))
        .containsExactly("ReportBatchItemFailures");
  }

  @Test
  void deleted_sessions_with_connections_are_processed_or_kept_as_failures() {
    JsonNode mapping = STACK.properties("AWS::Lambda::EventSourceMapping", "TollgateSessionEnd");
    assertThat(mapping.at("/EventSourceArn/Fn::GetAtt/1").asText()).isEqualTo("StreamArn");
    assertThat(mapping.at("/FilterCriteria/Filters")).hasSize(1);
    assertThat(mapping.at("/FilterCriteria/Filters/0/Pattern").asText())
        .isEqualTo(
            "{\"eventName\":[\"REMOVE\"],"
                + "\"dynamodb\":{\"OldImage\":{\"connectionIds\":{\"SS\":[{\"exists\":true}]}}}}");
    assertThat(mapping.path("BisectBatchOnFunctionError").asBoolean()).isTrue();
    assertThat(mapping.path("MaximumRetryAttempts").asInt()).isEqualTo(10);
    assertThat(resource(mapping.at("/DestinationConfig/OnFailure/Destination")))
        .isEqualTo("TollgateRemovedSessionsFailures");
    assertThat(Synthesis.texts(mapping.path("FunctionResponseTypes")))
        .containsExactly("ReportBatchItemFailures");
  }

  @Test
  void changes_of_counts_and_buckets_become_history_or_are_kept_as_failures() {
    JsonNode mapping = STACK.properties("AWS::Lambda::EventSourceMapping", "TollgateHistoryWriter");
    assertThat(mapping.at("/EventSourceArn/Fn::GetAtt/1").asText()).isEqualTo("StreamArn");
    assertThat(mapping.at("/FilterCriteria/Filters")).hasSize(1);
    assertThat(mapping.at("/FilterCriteria/Filters/0/Pattern").asText())
        .isEqualTo(
            "{\"eventName\":[\"INSERT\",\"MODIFY\"],\"dynamodb\":{\"Keys\":{\"key\":{\"S\":"
                + "[\"connections\",{\"prefix\":\"bucket:\"}]}}}}");
    assertThat(mapping.path("MaximumBatchingWindowInSeconds").asInt()).isEqualTo(60);
    assertThat(mapping.path("BisectBatchOnFunctionError").asBoolean()).isFalse();
    assertThat(resource(mapping.at("/DestinationConfig/OnFailure/Destination")))
        .isEqualTo("TollgateChangesFailures");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Tenants", "Tiers"})
  void changes_of_operators_become_entries_of_the_audit_for_a_day(String rows) {
    JsonNode mapping =
        STACK.properties(
            "AWS::Lambda::EventSourceMapping", "TollgateAuditWriterChanged" + rows + "Events");
    assertThat(mapping.at("/FilterCriteria/Filters")).hasSize(1);
    assertThat(mapping.at("/FilterCriteria/Filters/0/Pattern").asText())
        .isEqualTo("{\"eventName\":[\"INSERT\",\"MODIFY\",\"REMOVE\"]}");
    assertThat(mapping.path("BisectBatchOnFunctionError").asBoolean()).isTrue();
    assertThat(mapping.path("MaximumRetryAttempts").asInt()).isEqualTo(-1);
    assertThat(mapping.path("MaximumRecordAgeInSeconds").asInt()).isEqualTo(86_400);
    assertThat(Synthesis.texts(mapping.path("FunctionResponseTypes")))
        .containsExactly("ReportBatchItemFailures");
    assertThat(resource(mapping.at("/DestinationConfig/OnFailure/Destination")))
        .isEqualTo("TollgateChanged" + rows + "Failures");
  }

  @ParameterizedTest
  @CsvSource({"PooledSQS, TollgateMessagesPool", "SiloSQS, silo_{tenantId}.fifo"})
  void a_message_is_sent_to_its_queue_without_a_function(String route, String queue) {
    JsonNode integration = integration(route);
    assertThat(integration.path("IntegrationType").asText()).isEqualTo("AWS");
    assertThat(integration.path("IntegrationMethod").asText()).isEqualTo("POST");
    assertThat(integration.path("PassthroughBehavior").asText()).isEqualTo("NEVER");
    assertThat(resource(integration.path("IntegrationUri"))).isEqualTo("sqs:path//" + queue);
    assertThat(integration.path("RequestTemplates").toString())
        .isEqualTo(templates("send-message"));
    assertThat(integration.path("TemplateSelectionExpression").asText()).isEqualTo("\\$default");
    Map<String, String> parameters = new TreeMap<>();
    parameters.put("integration.request.header.Accept", "'application/json'");
    parameters.put(
        "integration.request.header.Content-Type", "'application/x-www-form-urlencoded'");
    if (route.equals("SiloSQS")) {
      parameters.put("integration.request.path.tenantId", "context.authorizer.tenantId");
    }
    assertThat(integration.path("RequestParameters").properties())
        .extracting(parameter -> parameter.getKey() + "=" + parameter.getValue().asText())
        .containsExactlyInAnyOrderElementsOf(
            parameters.entrySet().stream().map(p -> p.getKey() + "=" + p.getValue()).toList());
  }

  @ParameterizedTest
  @CsvSource({
    "PooledSQS, /2\\d\\d/, pool answer",
    "PooledSQS, /4\\d\\d/, pool answer",
    "PooledSQS, $default, pool answer",
    "SiloSQS, /2\\d\\d/, silo answer",
    "SiloSQS, /4\\d\\d/, silo answer",
    "SiloSQS, $default, silo answer",
    "$default, $default, unknown-action"
  })
  void a_frame_gets_the_same_response_whichever_is_selected(
      String route, String statuses, String template) {
    String integration = route(route).at("/Target/Fn::Join/1/1/Ref").asText();
    assertThat(STACK.resources("AWS::ApiGatewayV2::IntegrationResponse").values())
        .map(response -> response.path("Properties"))
        .filteredOn(response -> response.at("/IntegrationId/Ref").asText().equals(integration))
        .filteredOn(response -> response.path("IntegrationResponseKey").asText().equals(statuses))
        .singleElement()
        .satisfies(
            response -> {
              assertThat(response.path("ResponseTemplates").toString())
                  .isEqualTo(templates(template.split(" ")));
              assertThat(response.path("TemplateSelectionExpression").asText())
                  .isEqualTo("\\$default");
            });
    assertThat(route(route).path("RouteResponseSelectionExpression").asText())
        .isEqualTo("$default");
    assertThat(STACK.resources("AWS::ApiGatewayV2::RouteResponse")).hasSize(3);
    assertThat(STACK.resources("AWS::ApiGatewayV2::IntegrationResponse")).hasSize(7);
  }

  @Test
  void a_frame_that_is_not_a_message_reaches_no_service() {
    JsonNode integration = integration("$default");
    assertThat(integration.path("IntegrationType").asText()).isEqualTo("MOCK");
    assertThat(integration.path("RequestTemplates").toString()).isEqualTo(templates("mock"));
  }

  @Test
  void the_stage_serves_a_deployment_of_everything_in_the_api() {
    JsonNode stage = STACK.properties("AWS::ApiGatewayV2::Stage", "TollgateWebSocket");
    assertThat(stage.path("AutoDeploy").asBoolean(true)).isFalse();
    String deployment = only("AWS::ApiGatewayV2::Deployment");
    assertThat(stage.at("/DeploymentId/Ref").asText()).isEqualTo(deployment);
    Set<String> deployed = new TreeSet<>();
    for (String type :
        List.of("Authorizer", "Integration", "IntegrationResponse", "Route", "RouteResponse")) {
      STACK.resources("AWS::ApiGatewayV2::" + type).keySet().stream()
          .filter(resource -> resource.startsWith("TollgateWebSocket"))
          .forEach(deployed::add);
    }
    assertThat(
            Synthesis.texts(STACK.template().path("Resources").path(deployment).path("DependsOn")))
        .hasSize(1 + 5 + 7 + 5 + 3)
        .containsExactlyInAnyOrderElementsOf(deployed);
  }

  /** API Gateway takes one change of an API at a time. */
  @Test
  void the_parts_of_each_api_are_created_one_after_another() {
    Map<String, Map<String, JsonNode>> parts = new TreeMap<>();
    for (String type :
        List.of("Authorizer", "Integration", "IntegrationResponse", "Route", "RouteResponse")) {
      STACK
          .resources("AWS::ApiGatewayV2::" + type)
          .forEach(
              (id, part) ->
                  parts
                      .computeIfAbsent(
                          part.at("/Properties/ApiId/Ref").asText(), api -> new TreeMap<>())
                      .put(id, part));
    }
    assertThat(parts.keySet()).hasSize(4);
    parts.forEach(
        (api, ofApi) -> {
          // Each part but one waits for one other part, and no two for the same: a chain.
          List<List<String>> before =
              ofApi.values().stream()
                  .map(
                      part ->
                          Synthesis.texts(part.path("DependsOn"))
                              .filter(ofApi::containsKey)
                              .toList())
                  .toList();
          assertThat(before).as(api).allMatch(ids -> ids.size() <= 1);
          assertThat(before.stream().flatMap(List::stream))
              .as(api)
              .doesNotHaveDuplicates()
              .hasSize(ofApi.size() - 1);
        });
  }

  @Test
  void a_changed_integration_replaces_the_deployment_and_nothing_else_does() {
    String deployment = only("AWS::ApiGatewayV2::Deployment");
    assertThat(Synthesis.of(Map.of("demo", "false")).resources("AWS::ApiGatewayV2::Deployment"))
        .containsOnlyKeys(deployment);
    assertThat(Synthesis.of(Map.of("prefix", "a_")).resources("AWS::ApiGatewayV2::Deployment"))
        .hasSize(1)
        .doesNotContainKey(deployment);
  }

  @Test
  void a_changed_response_changes_the_digest_of_the_api() {
    CfnIntegrationResponse response =
        CfnIntegrationResponse.Builder.create(new Stack(), "Answer")
            .apiId("api")
            .integrationId("integration")
            .integrationResponseKey("$default")
            .responseTemplates(Map.of("$default", "one"))
            .build();
    String before = WebSocket.digest(List.of(response));
    assertThat(WebSocket.digest(List.of(response))).isEqualTo(before);

    response.setResponseTemplates(Map.of("$default", "another"));

    assertThat(WebSocket.digest(List.of(response))).isNotEqualTo(before);
  }

  @Test
  void api_gateway_may_only_send_messages() {
    String sender = role(STACK, "TollgateWebSocketSender");
    assertThat(grants(STACK, sender))
        .containsExactlyInAnyOrder(
            "sqs:SendMessage TollgateMessagesPool", "sqs:SendMessage silo_*.fifo");
    for (String route : List.of("PooledSQS", "SiloSQS")) {
      assertThat(integration(route).at("/CredentialsArn/Fn::GetAtt/0").asText()).isEqualTo(sender);
    }
  }

  @Test
  void silos_use_the_code_and_version_of_the_pools_processor() {
    assertThat(variable(STACK, "ControlPlane", "PROCESSOR_FUNCTION_ARN").path("Ref").asText())
        .startsWith("TollgatePoolProcessorFunctionCurrentVersion");
    JsonNode code = function("PoolProcessor").path("Code");
    for (String id : List.of("ControlPlane", "Sweep")) {
      assertThat(variable(STACK, id, "PROCESSOR_CODE_BUCKET")).isEqualTo(code.path("S3Bucket"));
      assertThat(variable(STACK, id, "PROCESSOR_CODE_KEY")).isEqualTo(code.path("S3Key"));
      assertThat(resource(variable(STACK, id, "POOL_DEAD_LETTER_URL")))
          .isEqualTo("TollgateMessagesPoolDead");
    }
  }

  @Test
  void the_message_handler_is_echo_unless_another_is_configured() {
    assertThat(variable(STACK, "PoolProcessor", "MESSAGE_HANDLER").asText())
        .isEqualTo("dev.tollgate.handlers.message.Echo");
    assertThat(variable(CHANGED, "PoolProcessor", "MESSAGE_HANDLER").asText())
        .isEqualTo("com.example.Chat");
  }

  // APIs

  @Test
  void the_routes_match_the_design() {
    assertThat(routes(STACK))
        .containsOnly(
            entry("$connect", "CUSTOM"),
            entry("$default", "NONE"),
            entry("$disconnect", "NONE"),
            entry("PooledSQS", "NONE"),
            entry("SiloSQS", "NONE"),
            entry("PUT /session", "NONE"),
            entry("GET /session", "NONE"),
            entry("DELETE /session", "NONE"),
            entry("GET /tenant", "NONE"),
            entry("POST /tenants", "AWS_IAM"),
            entry("GET /tenants", "AWS_IAM"),
            entry("GET /tenants/{tenantId}", "AWS_IAM"),
            entry("PATCH /tenants/{tenantId}", "AWS_IAM"),
            entry("DELETE /tenants/{tenantId}", "AWS_IAM"),
            entry("DELETE /tenants/{tenantId}/line", "AWS_IAM"),
            entry("POST /tenants/{tenantId}/schedules", "AWS_IAM"),
            entry("DELETE /tenants/{tenantId}/schedules/{schedule}", "AWS_IAM"),
            entry("POST /tiers/{tier}/schedules", "AWS_IAM"),
            entry("DELETE /tiers/{tier}/schedules/{schedule}", "AWS_IAM"),
            entry("GET /tenants/{tenantId}/sessions", "AWS_IAM"),
            entry("DELETE /tenants/{tenantId}/sessions/{session}", "AWS_IAM"),
            entry("POST /tenants/{tenantId}/push", "AWS_IAM"),
            entry("GET /tenants/{tenantId}/dead-letters", "AWS_IAM"),
            entry("POST /tenants/{tenantId}/dead-letters/redrive", "AWS_IAM"),
            entry("GET /tiers", "AWS_IAM"),
            entry("GET /tiers/{tier}", "AWS_IAM"),
            entry("PUT /tiers/{tier}", "AWS_IAM"),
            entry("DELETE /tiers/{tier}", "AWS_IAM"),
            entry("GET /tenants/{tenantId}/history", "AWS_IAM"),
            entry("GET /fleet", "AWS_IAM"),
            entry("GET /fleet/tenants", "AWS_IAM"),
            entry("GET /alarms", "AWS_IAM"),
            entry("GET /audit", "AWS_IAM"),
            entry("GET /activity", "AWS_IAM"),
            entry("GET /drift", "AWS_IAM"),
            entry("POST /repairs", "AWS_IAM"),
            entry("GET /admit-all", "AWS_IAM"),
            entry("PUT /admit-all", "AWS_IAM"),
            entry("DELETE /admit-all", "AWS_IAM"));
  }

  @Test
  void the_console_has_the_control_plane_routes_and_a_default_route() {
    Map<String, String> console = routes(STACK, api -> api.startsWith(CONSOLE));
    Map<String, String> control = routes(STACK, api -> api.startsWith("TollgateHttpControl"));
    assertThat(console.keySet()).containsAll(control.keySet()).hasSize(control.size() + 1);
    assertThat(console).containsEntry("$default", "NONE");
  }

  @Test
  void the_console_function_may_only_write_its_log() {
    assertThat(grants(STACK, role(STACK, "TollgateConsoleRole")))
        .containsExactlyInAnyOrder(
            "logs:CreateLogStream TollgateConsoleLog", "logs:PutLogEvents TollgateConsoleLog");
  }

  @ParameterizedTest
  @CsvSource({
    "demo, true, open, DEPLOYMENT SESSION_ACCESS SESSION_URL SIGN_IN_CLIENT_ID SIGN_IN_DOMAIN TENANT_URL"
        + " WEBSOCKET_URL",
    "demo, false, signed, DEPLOYMENT SESSION_ACCESS SESSION_URL SIGN_IN_CLIENT_ID SIGN_IN_DOMAIN"
        + " WEBSOCKET_URL",
    "lab, true, open, DEPLOYMENT LAB SESSION_ACCESS SESSION_URL SIGN_IN_CLIENT_ID SIGN_IN_DOMAIN TENANT_URL"
        + " WEBSOCKET_URL"
  })
  void the_console_function_has_the_addresses_of_the_apis(
      String name, String value, String access, String variables) {
    Map<String, JsonNode> environment = environment(Synthesis.of(Map.of(name, value)), "Console");
    assertThat(String.join(" ", environment.keySet())).isEqualTo(variables);
    assertThat(environment).containsEntry("SESSION_ACCESS", TextNode.valueOf(access));
  }

  @Test
  void a_stack_without_demo_has_no_open_route() {
    Synthesis stack = Synthesis.of(Map.of("demo", "false"));
    assertThat(stack.findings()).isEmpty();
    Map<String, String> routes = routes(stack);
    assertThat(routes).doesNotContainKey("GET /tenant").containsEntry("PUT /session", "AWS_IAM");
    // Clients reach these routes only after $connect.
    routes.keySet().removeAll(Set.of("$default", "$disconnect", "PooledSQS", "SiloSQS"));
    assertThat(routes.values()).doesNotContain("NONE");
    assertThat(environment(stack, "SessionApi")).doesNotContainKey("LIST_TENANTS");
    assertThat(stack.template().path("Outputs").has("TenantURL")).isFalse();
    assertThat(stack.template().toString()).doesNotContain("TenantURL");
  }

  @Test
  void a_stack_with_an_issuer_requires_tokens_for_sessions_and_lists_no_tenants() {
    Synthesis stack =
        Synthesis.of(
            Map.of(
                "jwtIssuer", "https://login.example.com/",
                "jwtAudience", "tollgate,https://sockets.example.com",
                "jwtTenantClaim", "custom:tenant"));
    assertThat(stack.findings()).isEmpty();
    JsonNode authorizer =
        stack.properties("AWS::ApiGatewayV2::Authorizer", "TollgateHttpSessionTokens");
    assertThat(authorizer.path("AuthorizerType").asText()).isEqualTo("JWT");
    assertThat(Synthesis.texts(authorizer.path("IdentitySource")))
        .containsExactly("$request.header.Authorization");
    assertThat(authorizer.at("/JwtConfiguration/Issuer").asText())
        .isEqualTo("https://login.example.com/");
    assertThat(Synthesis.texts(authorizer.at("/JwtConfiguration/Audience")))
        .containsExactly("tollgate", "https://sockets.example.com");
    Map<String, String> routes = routes(stack);
    assertThat(routes)
        .containsEntry("PUT /session", "JWT")
        .containsEntry("GET /session", "JWT")
        .containsEntry("DELETE /session", "JWT")
        .containsEntry("POST /tenants", "AWS_IAM")
        .doesNotContainKey("GET /tenant");
    assertThat(environment(stack, "SessionApi")).doesNotContainKey("LIST_TENANTS");
    assertThat(variable(stack, "SessionApi", "TENANT_CLAIM").asText()).isEqualTo("custom:tenant");
    assertThat(stack.template().path("Outputs").has("TenantURL")).isFalse();
  }

  @Test
  void an_issuer_can_be_a_user_pool_of_the_same_app() {
    String url = new UserPool(new Stack(), "Pool").getUserPoolProviderUrl();
    assertThat(new SessionAccess.Jwt(url, List.of("tollgate"), "custom:tenantId").issuer())
        .isEqualTo(url);
  }

  @Test
  void a_handshake_without_tenant_or_session_reaches_no_function() {
    JsonNode authorizer = STACK.properties("AWS::ApiGatewayV2::Authorizer", "TollgateWebSocket");
    assertThat(authorizer.path("AuthorizerType").asText()).isEqualTo("REQUEST");
    assertThat(Synthesis.texts(authorizer.path("IdentitySource")))
        .containsExactly(
            "route.request.querystring.tenantId", "route.request.querystring.sessionId");
  }

  @Test
  void a_stage_is_throttled_and_logs_no_secrets() {
    assertThat(STACK.resources("AWS::ApiGatewayV2::Stage").values())
        .hasSize(4)
        .allSatisfy(
            stage -> {
              JsonNode settings = stage.at("/Properties/DefaultRouteSettings");
              assertThat(settings.path("ThrottlingRateLimit").asInt()).isPositive();
              assertThat(settings.path("ThrottlingBurstLimit").asInt()).isPositive();
              assertThat(stage.at("/Properties/AccessLogSettings/Format").asText())
                  .contains("$context.requestId")
                  .doesNotContain("querystring", "sessionId", "$input", "$context.path")
                  .doesNotContain("userAgent", "header", "body");
            });
  }

  @Test
  void an_access_log_is_json_with_and_without_errors() {
    assertThat(STACK.resources("AWS::ApiGatewayV2::Stage").values())
        .hasSize(4)
        .extracting(stage -> stage.at("/Properties/AccessLogSettings/Format").asText())
        .allSatisfy(
            format -> {
              // API Gateway writes a hyphen for a variable without a value.
              String withoutValues = format.replaceAll("\\$context[\\w.]+", "-");
              assertThat(new ObjectMapper().readTree(withoutValues))
                  .isNotEmpty()
                  .allMatch(value -> value.asText().equals("-"));
              // A message may contain quotation marks; a type is one of a list of words.
              assertThat(format)
                  .contains("\"$context.error.responseType\"")
                  .doesNotContain("$context.error.message");
            });
  }

  @Test
  void an_http_api_logs_to_a_group_outside_the_accounts_resource_policy() {
    List<JsonNode> groups =
        STACK.resources("AWS::ApiGatewayV2::Stage").entrySet().stream()
            .filter(stage -> !stage.getKey().startsWith("TollgateWebSocket"))
            .map(stage -> stage.getValue().at("/Properties/AccessLogSettings/DestinationArn"))
            .map(arn -> arn.at("/Fn::GetAtt/0").asText())
            .map(group -> STACK.properties("AWS::Logs::LogGroup", group).path("LogGroupName"))
            .toList();
    assertThat(groups)
        .hasSize(3)
        .doesNotHaveDuplicates()
        .allSatisfy(
            name -> {
              assertThat(name.at("/Fn::Join/1/0").asText()).isEqualTo("/aws/vendedlogs/");
              assertThat(name.toString()).contains("AWS::StackName", "AWS::StackId");
            });
    Synthesis other = Synthesis.of(Map.of("prefix", "a_"));
    assertThat(other.resources("AWS::Logs::LogGroup").values())
        .extracting(group -> group.at("/Properties/LogGroupName"))
        .doesNotContainAnyElementsOf(groups);
  }

  @Test
  void the_pages_have_a_separate_low_throttle() {
    Map<String, JsonNode> stages = STACK.resources("AWS::ApiGatewayV2::Stage");
    JsonNode pages = STACK.properties("AWS::ApiGatewayV2::Stage", CONSOLE).path("RouteSettings");
    assertThat(pages.properties()).hasSize(1);
    assertThat(pages.at("/$default/ThrottlingRateLimit").asInt()).isEqualTo(20);
    assertThat(pages.at("/$default/ThrottlingBurstLimit").asInt()).isEqualTo(300);
    assertThat(stages.values())
        .filteredOn(stage -> stage.at("/Properties").has("RouteSettings"))
        .singleElement()
        .satisfies(
            stage ->
                assertThat(Synthesis.texts(stage.path("DependsOn")))
                    .anySatisfy(route -> assertThat(route).startsWith(CONSOLE + "Pages")));
  }

  @Test
  void concurrency_is_reserved_for_handshakes_and_fills_only_if_configured() {
    assertThat(reserved(STACK)).isEmpty();
    assertThat(reserved(CHANGED))
        .containsOnlyKeys("Authorizer", "Connect", "TokenProducer")
        .containsEntry("TokenProducer", 20)
        .containsEntry("Authorizer", 100)
        .containsEntry("Connect", 50);
    assertThat(reserved(Synthesis.of(Map.of("authorizerConcurrency", "7"))))
        .containsOnlyKeys("Authorizer");
  }

  /** The functions with reserved concurrency. */
  private static Map<String, Integer> reserved(Synthesis stack) {
    Map<String, Integer> reserved = new TreeMap<>();
    for (String name : FUNCTIONS) {
      JsonNode number =
          stack
              .properties("AWS::Lambda::Function", "Tollgate" + name + "Function")
              .path("ReservedConcurrentExecutions");
      if (!number.isMissingNode()) {
        reserved.put(name, number.asInt());
      }
    }
    return reserved;
  }

  @Test
  void browsers_may_call_the_session_api_and_read_its_rate_limit_headers() {
    JsonNode cors =
        STACK.properties("AWS::ApiGatewayV2::Api", "TollgateHttpSession").path("CorsConfiguration");
    assertThat(Synthesis.texts(cors.path("AllowOrigins"))).containsExactly("*");
    assertThat(Synthesis.texts(cors.path("AllowMethods"))).containsExactly("GET", "PUT", "DELETE");
    assertThat(Synthesis.texts(cors.path("AllowHeaders")))
        .containsExactly("authorization", "content-type", "x-amz-date", "x-amz-security-token");
    assertThat(Synthesis.texts(cors.path("ExposeHeaders")))
        .containsExactly(
            "retry-after",
            "ratelimit",
            "ratelimit-policy",
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset");
  }

  // The template as a whole

  @Test
  void the_outputs_have_their_documented_names() {
    List<String> names = new ArrayList<>();
    STACK.template().path("Outputs").fieldNames().forEachRemaining(names::add);
    assertThat(names)
        .containsExactlyInAnyOrder(
            "SessionURL",
            "TenantURL",
            "WebSocketURL",
            "ControlPlaneURL",
            "AlarmPrefix",
            "LogGroups",
            "SampleClient",
            "OperatorPage",
            "OperatorPool",
            "ApplicationRole",
            "ApplicationVariables");
    assertThat(STACK.template().at("/Outputs/SessionURL/Value/Fn::Join/1/1").asText())
        .isEqualTo("/session");
    assertThat(STACK.template().at("/Outputs/WebSocketURL/Value"))
        .isEqualTo(variable(STACK, "SessionApi", "WEBSOCKET_URL"));
  }

  @Test
  void the_output_of_log_groups_has_every_function() {
    String output = STACK.template().at("/Outputs/LogGroups/Value").toString();
    List<String> groups = new ArrayList<>();
    STACK
        .resources("AWS::Lambda::Function")
        .values()
        .forEach(
            function -> groups.add(function.at("/Properties/LoggingConfig/LogGroup/Ref").asText()));
    assertThat(groups)
        .isNotEmpty()
        .allSatisfy(group -> assertThat(output).contains("{\"Ref\":\"" + group + "\"}"));
    assertThat(output).contains("Authorizer=", "Console=", "HistoryWriter=", "TokenProducer=");
  }

  @Test
  void the_template_names_no_partition_and_has_no_custom_resource() {
    assertThat(STACK.template().toString()).doesNotContain("arn:aws", "Custom::");
    assertThat(STACK.resources("AWS::CloudFormation::CustomResource")).isEmpty();
  }

  @Test
  void a_second_deployment_with_the_same_prefix_cannot_be_created() {
    assertThat(names(STACK)).contains("tollgate_pool.fifo", "tollgate_pool_dead.fifo", "tollgate");
  }

  @Test
  void deployments_with_different_prefixes_share_no_name() {
    Set<String> names = names(Synthesis.of(Map.of("prefix", "a_")));
    assertThat(names)
        .containsExactlyInAnyOrder(
            "a_session",
            "a_control",
            "a_console",
            "a_operators",
            "a_websocket",
            "a_tollgate",
            "a_sweep",
            "a_housekeeper",
            "a_historywriter",
            "a_tollgate_pool.fifo",
            "a_tollgate_pool_dead.fifo",
            "a_tollgate_push.fifo",
            "a_tollgate_push_dead.fifo");
    assertThat(names(STACK)).doesNotContainAnyElementsOf(names);
  }

  @Test
  void a_prefix_is_in_the_environment_and_the_grants() {
    Synthesis stack = Synthesis.of(Map.of("prefix", "a_"));
    assertThat(stack.findings()).isEmpty();
    for (String id :
        List.of(
            "Authorizer", "Connect", "ControlPlane", "PoolProcessor", "Sweep", "TokenProducer")) {
      assertThat(variable(stack, id, "NAME_PREFIX").asText()).isEqualTo("a_");
    }
    assertThat(variable(stack, "Sweep", "SCHEDULE_GROUP").asText()).isEqualTo("a_tollgate");
    assertThat(stack.template().toString())
        .contains(":a_*_${aws:PrincipalTag/tenantId}_token_bucket")
        .contains(":schedule/a_tollgate/a_*_${aws:PrincipalTag/tenantId}")
        .contains(":function:a_silo_${aws:PrincipalTag/tenantId}")
        .contains(":a_silo_${aws:PrincipalTag/tenantId}_dead.fifo")
        .contains("/a_silo_{tenantId}.fifo")
        .doesNotContain(":silo_", "/silo_", ":function:silo_")
        .doesNotContain(":*_");
  }

  private static JsonNode table(String id) {
    return table(STACK, id);
  }

  private static JsonNode table(Synthesis stack, String id) {
    return stack.properties("AWS::DynamoDB::Table", "TollgateTables" + id);
  }

  private static JsonNode function(String id) {
    return STACK.properties("AWS::Lambda::Function", "Tollgate" + id + "Function");
  }

  private static String role(String id, String kind) {
    return role(STACK, "Tollgate" + id + kind);
  }

  private static String role(Synthesis stack, String path) {
    return stack.resources("AWS::IAM::Role").keySet().stream()
        .filter(role -> role.matches(path + "[0-9A-F]{8}"))
        .findFirst()
        .orElseThrow();
  }

  /**
   * The principals that may assume a role; each may do so for a single tenant and with no other
   * tag.
   */
  private static List<String> trusted(Synthesis stack, String role) {
    List<String> trusted = new ArrayList<>();
    for (JsonNode trust :
        stack.properties("AWS::IAM::Role", role).at("/AssumeRolePolicyDocument/Statement")) {
      assertThat(Synthesis.texts(trust.path("Action")))
          .containsExactly("sts:AssumeRole", "sts:TagSession");
      assertThat(trust.path("Condition").toString())
          .isEqualTo(
              "{\"ForAllValues:StringEquals\":{\"aws:TagKeys\":\"tenantId\"},"
                  + "\"StringLike\":{\"aws:RequestTag/tenantId\":\"?*\"},"
                  + "\"StringNotLike\":{\"aws:RequestTag/tenantId\":\"*_*\"}}");
      trust
          .path("Principal")
          .findValues("Fn::GetAtt")
          .forEach(attribute -> trusted.add(attribute.get(0).asText()));
    }
    return trusted;
  }

  /** Lets a new application of the stack claim tokens. */
  private static Map<String, String> grantClaims(Stack stack, String application) {
    Tollgate tollgate = (Tollgate) stack.getNode().findChild("Tollgate");
    return tollgate.grantClaims(
        Role.Builder.create(stack, application)
            .assumedBy(new ServicePrincipal("lambda.amazonaws.com"))
            .build());
  }

  private static boolean denies(JsonNode statement) {
    return statement.path("Effect").asText().equals("Deny");
  }

  private static String schedulerRole() {
    return role("Filling", "Role");
  }

  private static String only(String type) {
    assertThat(STACK.resources(type)).hasSize(1);
    return STACK.resources(type).keySet().iterator().next();
  }

  private static List<String> keys(JsonNode tableOrIndex) {
    return tableOrIndex.path("KeySchema").findValuesAsText("AttributeName");
  }

  private static Map<String, JsonNode> environment(Synthesis stack, String id) {
    return stack
        .properties("AWS::Lambda::Function", "Tollgate" + id + "Function")
        .at("/Environment/Variables")
        .properties()
        .stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, Map.Entry::getValue, (first, second) -> first, TreeMap::new));
  }

  private static JsonNode variable(Synthesis stack, String id, String name) {
    return stack
        .properties("AWS::Lambda::Function", "Tollgate" + id + "Function")
        .path("Environment")
        .path("Variables")
        .path(name);
  }

  /** All routes except the console's, which have the same names. */
  private static Map<String, String> routes(Synthesis stack) {
    return routes(stack, api -> !api.startsWith(CONSOLE));
  }

  private static Map<String, String> routes(Synthesis stack, Predicate<String> ofApi) {
    return stack.resources("AWS::ApiGatewayV2::Route").values().stream()
        .map(route -> route.path("Properties"))
        .filter(route -> ofApi.test(route.at("/ApiId/Ref").asText()))
        .collect(
            Collectors.toMap(
                route -> route.path("RouteKey").asText(),
                route -> route.path("AuthorizationType").asText()));
  }

  private static JsonNode route(String key) {
    return STACK.resources("AWS::ApiGatewayV2::Route").values().stream()
        .map(route -> route.path("Properties"))
        .filter(route -> !route.at("/ApiId/Ref").asText().startsWith(CONSOLE))
        .filter(route -> route.path("RouteKey").asText().equals(key))
        .findFirst()
        .orElseThrow();
  }

  private static JsonNode integration(String route) {
    return STACK.properties(
        "AWS::ApiGatewayV2::Integration", route(route).at("/Target/Fn::Join/1/1/Ref").asText());
  }

  /** The template file in the form of a property. */
  /** The default template, out of some files. */
  private static String templates(String... names) {
    Path directory = Path.of("src/main/resources/dev/tollgate/infra/templates");
    try {
      StringBuilder template = new StringBuilder();
      for (String name : names) {
        template.append(Files.readString(directory.resolve(name + ".vtl")));
      }
      return new ObjectMapper().createObjectNode().put("$default", template.toString()).toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The grants of a role, each an action and a resource. */
  private static List<String> grants(Synthesis stack, String role) {
    List<String> grants = new ArrayList<>();
    for (JsonNode statement : stack.statementsOf(role)) {
      if (!denies(statement)) {
        for (String action : Synthesis.texts(statement.path("Action")).toList()) {
          resources(statement).forEach(resource -> grants.add(action + " " + resource));
        }
      }
    }
    return grants;
  }

  private static List<String> resources(JsonNode statement) {
    JsonNode resources = statement.path("Resource");
    if (!resources.isArray()) {
      return List.of(resource(resources));
    }
    List<String> all = new ArrayList<>();
    resources.forEach(resource -> all.add(resource(resource)));
    return all;
  }

  /**
   * A resource by its logical id without the hash, or by its name in an ARN of this account and
   * Region.
   */
  private static String resource(JsonNode value) {
    if (value.isTextual()) {
      return value.asText();
    }
    String id = value.path("Ref").asText(value.path("Fn::GetAtt").path(0).asText());
    if (!id.isEmpty()) {
      return id.startsWith("AWS::") ? "" : id.replaceFirst("[0-9A-F]{8}$", "");
    }
    if (value.has("Fn::Sub")) {
      return "<assets>";
    }
    StringBuilder name = new StringBuilder();
    value.at("/Fn::Join/1").forEach(part -> name.append(resource(part)));
    return name.toString().replaceFirst("^arn::[a-z0-9-]+:+", "");
  }

  /**
   * Names that the template sets itself instead of CloudFormation, and that must therefore be
   * unique.
   */
  private static Set<String> names(Synthesis stack) {
    Set<String> names = new TreeSet<>();
    for (JsonNode resource : stack.template().path("Resources")) {
      String type = resource.path("Type").asText();
      for (Map.Entry<String, JsonNode> property : resource.path("Properties").properties()) {
        boolean named =
            property.getKey().matches("(.*[a-z])?Name") && property.getValue().isTextual();
        // These are names within another resource.
        boolean inner =
            type.equals("AWS::Lambda::Alias")
                || type.equals("AWS::IAM::Policy")
                || type.equals("AWS::ApiGatewayV2::Stage")
                || type.equals("AWS::ApiGatewayV2::Authorizer");
        if (named && !inner) {
          names.add(property.getValue().asText());
        }
      }
    }
    return names;
  }
}
