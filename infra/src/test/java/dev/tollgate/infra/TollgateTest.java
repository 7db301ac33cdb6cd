package dev.tollgate.infra;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;

class TollgateTest {
  private static final Synthesis STACK = Synthesis.of(Map.of());

  private static final List<String> FUNCTIONS =
      List.of(
          "Authorizer",
          "Connect",
          "ControlPlane",
          "Disconnect",
          "SessionApi",
          "Sweep",
          "TokenProducer");

  static List<String> functions() {
    return FUNCTIONS;
  }

  @Test
  void cdk_nag_finds_nothing() {
    assertThat(STACK.findings()).isEmpty();
  }

  // Tables

  @ParameterizedTest
  @CsvSource({
    "Tenant, tenantId,",
    "Tier, tier,",
    "Session, tenantId, sessionId",
    "Limit, tenantId, key"
  })
  void tables_have_their_keys_and_can_be_restored(String table, String hash, String range) {
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
  void tenants_are_found_by_tier_and_by_unfinished_provisioning() {
    JsonNode indexes = table("Tenant").path("GlobalSecondaryIndexes");
    assertThat(indexes).hasSize(2);
    assertThat(indexes.get(0).path("IndexName").asText()).isEqualTo("byTier");
    assertThat(keys(indexes.get(0))).containsExactly("tier", "tenantId");
    assertThat(indexes.get(0).at("/Projection/ProjectionType").asText()).isEqualTo("ALL");
    assertThat(indexes.get(1).path("IndexName").asText()).isEqualTo("pending");
    assertThat(keys(indexes.get(1))).containsExactly("pending", "tenantId");
    assertThat(indexes.get(1).at("/Projection/ProjectionType").asText()).isEqualTo("KEYS_ONLY");
  }

  @Test
  void sessions_expire_and_are_streamed() {
    JsonNode session = table("Session");
    assertThat(session.at("/TimeToLiveSpecification/AttributeName").asText())
        .isEqualTo("sessionTTL");
    assertThat(session.at("/TimeToLiveSpecification/Enabled").asBoolean()).isTrue();
    assertThat(session.at("/StreamSpecification/StreamViewType").asText())
        .isEqualTo("NEW_AND_OLD_IMAGES");
  }

  @ParameterizedTest
  @CsvSource({"retain, Retain", "destroy, Delete"})
  void removal_decides_what_becomes_of_tables_and_logs(String removal, String policy) {
    Synthesis stack = Synthesis.of(Map.of("removal", removal));
    assertThat(stack.resources("AWS::DynamoDB::Table").values())
        .hasSize(4)
        .allMatch(table -> table.path("DeletionPolicy").asText().equals(policy));
    assertThat(stack.resources("AWS::Logs::LogGroup").values())
        .hasSize(FUNCTIONS.size() + 3)
        .allMatch(log -> log.path("DeletionPolicy").asText().equals(policy));
  }

  // Functions

  @Test
  void functions_are_those_of_the_design() {
    assertThat(STACK.resources("AWS::Lambda::Function")).hasSize(FUNCTIONS.size());
  }

  @ParameterizedTest
  @CsvSource({
    "Authorizer, dev.tollgate.handlers.ConnectAuthorizer, 25, 1024",
    "Connect, dev.tollgate.handlers.Connect, 25, 1024",
    "ControlPlane, dev.tollgate.controlplane.ControlPlaneApi, 29, 512",
    "Disconnect, dev.tollgate.handlers.Disconnect, 25, 512",
    "SessionApi, dev.tollgate.handlers.SessionApi, 25, 512",
    "Sweep, dev.tollgate.controlplane.Sweep, 50, 512",
    "TokenProducer, dev.tollgate.producer.TokenProducer, 50, 512"
  })
  void function_runs_its_handler_from_a_snapshot(
      String id, String handler, int timeoutSeconds, int memoryMb) {
    JsonNode function = function(id);
    assertThat(function.path("Handler").asText()).isEqualTo(handler);
    assertThat(function.path("Timeout").asInt()).isEqualTo(timeoutSeconds);
    assertThat(function.path("MemorySize").asInt()).isEqualTo(memoryMb);
    assertThat(function.path("Runtime").asText()).isEqualTo("java25");
    assertThat(Synthesis.texts(function.path("Architectures"))).containsExactly("arm64");
    assertThat(function.at("/SnapStart/ApplyOn").asText()).isEqualTo("PublishedVersions");
  }

  @ParameterizedTest
  @MethodSource("functions")
  void function_logs_for_a_limited_time(String id) {
    String log = function(id).at("/LoggingConfig/LogGroup/Ref").asText();
    assertThat(log).startsWith("Tollgate" + id + "Log");
    assertThat(STACK.properties("AWS::Logs::LogGroup", log).path("RetentionInDays").asInt())
        .isEqualTo(30);
  }

  @ParameterizedTest
  @MethodSource("functions")
  void function_has_an_alias_of_a_published_version(String id) {
    JsonNode alias = STACK.properties("AWS::Lambda::Alias", "Tollgate" + id + "Alias");
    assertThat(alias.path("Name").asText()).isEqualTo("live");
    assertThat(alias.at("/FunctionVersion/Fn::GetAtt/0").asText())
        .startsWith("Tollgate" + id + "FunctionCurrentVersion");
  }

  @Test
  void only_aliases_are_invoked() {
    Set<String> aliases = STACK.resources("AWS::Lambda::Alias").keySet();
    assertThat(STACK.resources("AWS::Lambda::Permission").values())
        .hasSize(5)
        .allMatch(
            permission -> aliases.contains(permission.at("/Properties/FunctionName/Ref").asText()));
    assertThat(STACK.resources("AWS::ApiGatewayV2::Integration").values())
        .hasSize(4)
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
        "Authorizer | LIMIT_TABLE QUEUE_URL_PREFIX SESSION_TABLE TENANT_ROLE_ARN TENANT_TABLE",
        "Connect | LIMIT_TABLE QUEUE_URL_PREFIX SESSION_TABLE TENANT_ROLE_ARN",
        "Disconnect | LIMIT_TABLE SESSION_TABLE TENANT_ROLE_ARN",
        "SessionApi | LIMIT_TABLE LIST_TENANTS SESSION_TABLE TENANT_ROLE_ARN TENANT_TABLE WEBSOCKET_URL",
        "TokenProducer | LIMIT_TABLE QUEUE_URL_PREFIX TENANT_ROLE_ARN",
        "ControlPlane | LIMIT_TABLE QUEUE_URL_PREFIX SCHEDULE_DEAD_LETTER_ARN SCHEDULE_GROUP"
            + " SCHEDULE_ROLE_ARN SCHEDULE_TARGET_ARN SESSION_TABLE TENANT_ROLE_ARN TENANT_TABLE"
            + " TIER_TABLE WEBSOCKET_URL",
        "Sweep | LIMIT_TABLE QUEUE_URL_PREFIX SCHEDULE_DEAD_LETTER_ARN SCHEDULE_GROUP"
            + " SCHEDULE_ROLE_ARN SCHEDULE_TARGET_ARN SESSION_TABLE TENANT_ROLE_ARN TENANT_TABLE"
            + " TIER_TABLE WEBSOCKET_URL",
      })
  void function_is_told_what_it_needs_and_no_more(String id, String variables) {
    assertThat(String.join(" ", environment(STACK, id).keySet())).isEqualTo(variables);
  }

  @ParameterizedTest
  @MethodSource("functions")
  void variables_of_tables_name_those_tables(String id) {
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
  void no_grant_is_of_all_actions() {
    for (JsonNode policy : STACK.resources("AWS::IAM::Policy").values()) {
      for (JsonNode statement : policy.at("/Properties/PolicyDocument/Statement")) {
        if (denies(statement)) {
          continue;
        }
        assertThat(Synthesis.texts(statement.path("Action"))).noneMatch(a -> a.contains("*"));
        assertThat(Synthesis.texts(statement.path("Resource"))).noneMatch("*"::equals);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("functions")
  void tenant_role_is_trusted_by_its_function_alone_and_with_one_tag(String id) {
    assertThat(trusted(STACK, role(id, "TenantRole")))
        .containsExactly(function(id).at("/Role/Fn::GetAtt/0").asText());
  }

  @ParameterizedTest
  @MethodSource("functions")
  void tenant_role_reaches_one_tenant_only(String id) {
    assertReachesOneTenantOnly(STACK.statementsOf(role(id, "TenantRole")));
  }

  private static void assertReachesOneTenantOnly(List<JsonNode> statements) {
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
              .isEqualTo(
                  "{\"ForAllValues:StringEquals\":"
                      + "{\"dynamodb:LeadingKeys\":\"${aws:PrincipalTag/tenantId}\"},"
                      + "\"Null\":{\"dynamodb:LeadingKeys\":\"false\"}}");
        }
        case "sqs" ->
            assertThat(name(statement)).isEqualTo(":*_${aws:PrincipalTag/tenantId}_token_bucket");
        case "scheduler" ->
            assertThat(name(statement))
                .isEqualTo(":schedule/tollgate/*_${aws:PrincipalTag/tenantId}");
        default -> {
          assertThat(actions).containsExactly("iam:PassRole");
          assertThat(statement.at("/Condition/StringEquals/iam:PassedToService").asText())
              .isEqualTo("scheduler.amazonaws.com");
          assertThat(statement.at("/Resource/Fn::GetAtt/0").asText()).isEqualTo(schedulerRole());
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Authorizer", "Connect", "ControlPlane", "Sweep", "TokenProducer"})
  void tenant_role_without_a_prefix_is_denied_the_buckets_of_deployments_with_one(String id) {
    assertThat(STACK.statementsOf(role(id, "TenantRole")).stream().filter(TollgateTest::denies))
        .singleElement()
        .satisfies(
            denial -> {
              assertThat(denial.path("Action").asText()).isEqualTo("sqs:*");
              assertThat(name(denial)).isEqualTo(":*_*_${aws:PrincipalTag/tenantId}_token_bucket");
              assertThat(denial.has("Condition")).isFalse();
            });
  }

  @ParameterizedTest
  @MethodSource("functions")
  void own_role_touches_no_rows_but_those_of_the_control_plane(String id) {
    for (JsonNode statement : STACK.statementsOf(role(id, "Role"))) {
      if (Synthesis.texts(statement.path("Action")).anyMatch(a -> a.startsWith("dynamodb:"))) {
        assertThat(statement.path("Resource").toString())
            .doesNotContain("TollgateTablesSession", "TollgateTablesLimit");
      }
    }
  }

  @Test
  void scheduler_acts_for_this_group_only_and_invokes_two_aliases() {
    JsonNode trust =
        STACK
            .properties("AWS::IAM::Role", schedulerRole())
            .at("/AssumeRolePolicyDocument/Statement/0");
    assertThat(trust.at("/Principal/Service").asText()).isEqualTo("scheduler.amazonaws.com");
    JsonNode condition = trust.at("/Condition/StringEquals");
    assertThat(condition.at("/aws:SourceAccount/Ref").asText()).isEqualTo("AWS::AccountId");
    assertThat(condition.at("/aws:SourceArn/Fn::GetAtt/0").asText())
        .isEqualTo(only("AWS::Scheduler::ScheduleGroup"));
    assertThat(
            STACK.statementsOf(schedulerRole()).stream()
                .map(
                    statement ->
                        statement.path("Action").asText()
                            + " "
                            + Stream.concat(
                                    statement.path("Resource").findValuesAsText("Ref").stream(),
                                    statement.path("Resource").findValues("Fn::GetAtt").stream()
                                        .map(attribute -> attribute.get(0).asText()))
                                .map(resource -> resource.replaceFirst("[0-9A-F]{8}$", ""))
                                .sorted()
                                .toList()))
        .containsExactlyInAnyOrder(
            "sqs:SendMessage [TollgateFillingDeadLetters]",
            "lambda:InvokeFunction [TollgateSweepAlias, TollgateTokenProducerAlias]");
  }

  // Applications that claim tokens

  @Test
  void claims_have_no_role_before_they_are_granted() {
    assertThat(STACK.template().toString()).doesNotContain("ClaimsRole");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | LIMIT_TABLE QUEUE_URL_PREFIX TENANT_ROLE_ARN",
        "a_ | LIMIT_TABLE NAME_PREFIX QUEUE_URL_PREFIX TENANT_ROLE_ARN"
      })
  void application_is_told_what_it_needs_to_claim(String prefix, String variables) {
    List<Map<String, String>> told = new ArrayList<>();
    Synthesis stack =
        Synthesis.of(
            Map.of("prefix", prefix), planted -> told.add(grantClaims(planted, "Application")));
    assertThat(stack.findings()).isEmpty();
    assertThat(String.join(" ", told.get(0).keySet())).isEqualTo(variables);
    assertThat(told.get(0).getOrDefault("NAME_PREFIX", "")).isEqualTo(prefix);
  }

  @Test
  void applications_claim_for_one_tenant_at_a_time_with_one_role() {
    Synthesis stack =
        Synthesis.of(
            Map.of(),
            planted ->
                assertThat(grantClaims(planted, "First"))
                    .isEqualTo(grantClaims(planted, "Second")));
    assertThat(stack.findings()).isEmpty();

    String claims = role(stack, "TollgateClaimsRole");
    assertThat(trusted(stack, claims))
        .containsExactlyInAnyOrder(role(stack, "First"), role(stack, "Second"));
    for (String application : List.of("First", "Second")) {
      assertThat(stack.statementsOf(role(stack, application)))
          .singleElement()
          .satisfies(
              statement -> {
                assertThat(Synthesis.texts(statement.path("Action")))
                    .containsExactly("sts:AssumeRole", "sts:TagSession");
                assertThat(statement.at("/Resource/Fn::GetAtt/0").asText()).isEqualTo(claims);
              });
    }
    List<JsonNode> statements = stack.statementsOf(claims);
    assertReachesOneTenantOnly(statements);
    assertThat(
            statements.stream()
                .filter(statement -> !denies(statement))
                .flatMap(statement -> Synthesis.texts(statement.path("Action"))))
        .containsExactlyInAnyOrder(
            "dynamodb:GetItem",
            "dynamodb:UpdateItem",
            "sqs:ReceiveMessage",
            "sqs:DeleteMessage",
            "sqs:ChangeMessageVisibility");
    assertThat(statements).anyMatch(TollgateTest::denies);
  }

  // What runs every minute

  @Test
  void sweep_runs_every_minute() {
    JsonNode schedule = STACK.properties("AWS::Scheduler::Schedule", "Tollgate");
    assertThat(schedule.path("ScheduleExpression").asText()).isEqualTo("cron(* * * * ? *)");
    assertThat(schedule.at("/FlexibleTimeWindow/Mode").asText()).isEqualTo("OFF");
    assertThat(schedule.at("/Target/Arn/Ref").asText()).startsWith("TollgateSweepAlias");
    assertThat(schedule.at("/Target/Input").asText())
        .isEqualTo("{\"scheduledTime\":\"<aws.scheduler.scheduled-time>\"}");
  }

  // APIs

  @Test
  void routes_are_those_of_the_design() {
    assertThat(routes(STACK))
        .containsOnly(
            entry("$connect", "CUSTOM"),
            entry("$disconnect", "NONE"),
            entry("PUT /session", "NONE"),
            entry("GET /session", "NONE"),
            entry("DELETE /session", "NONE"),
            entry("GET /tenant", "NONE"),
            entry("POST /tenants", "AWS_IAM"),
            entry("GET /tenants", "AWS_IAM"),
            entry("GET /tenants/{tenantId}", "AWS_IAM"),
            entry("PATCH /tenants/{tenantId}", "AWS_IAM"),
            entry("DELETE /tenants/{tenantId}", "AWS_IAM"),
            entry("GET /tiers", "AWS_IAM"),
            entry("GET /tiers/{tier}", "AWS_IAM"),
            entry("PUT /tiers/{tier}", "AWS_IAM"),
            entry("DELETE /tiers/{tier}", "AWS_IAM"));
  }

  @Test
  void without_the_demo_nothing_is_open_to_strangers() {
    Synthesis stack = Synthesis.of(Map.of("demo", "false"));
    assertThat(stack.findings()).isEmpty();
    Map<String, String> routes = routes(stack);
    assertThat(routes).doesNotContainKey("GET /tenant").containsEntry("PUT /session", "AWS_IAM");
    routes.remove("$disconnect");
    assertThat(routes.values()).doesNotContain("NONE");
    assertThat(environment(stack, "SessionApi")).doesNotContainKey("LIST_TENANTS");
    assertThat(stack.template().path("Outputs").has("TenantURL")).isFalse();
    assertThat(stack.template().toString()).doesNotContain("TenantURL");
  }

  @Test
  void handshakes_without_tenant_or_session_reach_no_function() {
    JsonNode authorizer = STACK.properties("AWS::ApiGatewayV2::Authorizer", "Tollgate");
    assertThat(authorizer.path("AuthorizerType").asText()).isEqualTo("REQUEST");
    assertThat(Synthesis.texts(authorizer.path("IdentitySource")))
        .containsExactly(
            "route.request.querystring.tenantId", "route.request.querystring.sessionId");
  }

  @Test
  void stages_are_throttled_and_log_without_secrets() {
    assertThat(STACK.resources("AWS::ApiGatewayV2::Stage").values())
        .hasSize(3)
        .allSatisfy(
            stage -> {
              JsonNode settings = stage.at("/Properties/DefaultRouteSettings");
              assertThat(settings.path("ThrottlingRateLimit").asInt()).isPositive();
              assertThat(settings.path("ThrottlingBurstLimit").asInt()).isPositive();
              assertThat(stage.at("/Properties/AccessLogSettings/Format").asText())
                  .contains("$context.requestId")
                  .doesNotContain("querystring", "sessionId");
            });
  }

  @Test
  void browsers_may_call_the_session_api_and_read_its_limits() {
    JsonNode cors =
        STACK.properties("AWS::ApiGatewayV2::Api", "TollgateHttpSession").path("CorsConfiguration");
    assertThat(Synthesis.texts(cors.path("AllowOrigins"))).containsExactly("*");
    assertThat(Synthesis.texts(cors.path("AllowMethods"))).containsExactly("GET", "PUT", "DELETE");
    assertThat(Synthesis.texts(cors.path("AllowHeaders")))
        .containsExactly("authorization", "content-type", "x-amz-date", "x-amz-security-token");
    assertThat(Synthesis.texts(cors.path("ExposeHeaders")))
        .containsExactly("retry-after", "ratelimit", "ratelimit-policy");
  }

  // The template as a whole

  @Test
  void outputs_bear_their_plain_names() {
    List<String> names = new ArrayList<>();
    STACK.template().path("Outputs").fieldNames().forEachRemaining(names::add);
    assertThat(names)
        .containsExactlyInAnyOrder("SessionURL", "TenantURL", "WebSocketURL", "ControlPlaneURL");
    assertThat(STACK.template().at("/Outputs/SessionURL/Value/Fn::Join/1/1").asText())
        .isEqualTo("/session");
    assertThat(STACK.template().at("/Outputs/WebSocketURL/Value"))
        .isEqualTo(variable(STACK, "SessionApi", "WEBSOCKET_URL"));
  }

  @Test
  void template_names_no_partition_and_has_no_resource_that_runs_code_while_deploying() {
    assertThat(STACK.template().toString()).doesNotContain("arn:aws", "Custom::");
    assertThat(STACK.resources("AWS::CloudFormation::CustomResource")).isEmpty();
  }

  @Test
  void two_deployments_share_no_name() {
    Set<String> names = names(Synthesis.of(Map.of("prefix", "a_")));
    assertThat(names)
        .containsExactlyInAnyOrder(
            "a_session", "a_control", "a_websocket", "a_tollgate", "a_sweep");
    assertThat(names(Synthesis.of(Map.of("prefix", "b_")))).doesNotContainAnyElementsOf(names);
    assertThat(names(STACK)).doesNotContainAnyElementsOf(names);
  }

  @Test
  void prefix_is_in_the_environment_and_in_the_grants() {
    Synthesis stack = Synthesis.of(Map.of("prefix", "a_"));
    assertThat(stack.findings()).isEmpty();
    for (String id : List.of("Authorizer", "Connect", "ControlPlane", "Sweep", "TokenProducer")) {
      assertThat(variable(stack, id, "NAME_PREFIX").asText()).isEqualTo("a_");
    }
    assertThat(variable(stack, "Sweep", "SCHEDULE_GROUP").asText()).isEqualTo("a_tollgate");
    assertThat(stack.template().toString())
        .contains(":a_*_${aws:PrincipalTag/tenantId}_token_bucket")
        .contains(":schedule/a_tollgate/a_*_${aws:PrincipalTag/tenantId}")
        .doesNotContain(":*_");
  }

  private static JsonNode table(String id) {
    return STACK.properties("AWS::DynamoDB::Table", "TollgateTables" + id);
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

  /** Who may assume a role, all of them for one tenant and with no other tag. */
  private static List<String> trusted(Synthesis stack, String role) {
    List<String> trusted = new ArrayList<>();
    for (JsonNode trust :
        stack.properties("AWS::IAM::Role", role).at("/AssumeRolePolicyDocument/Statement")) {
      assertThat(Synthesis.texts(trust.path("Action")))
          .containsExactly("sts:AssumeRole", "sts:TagSession");
      assertThat(trust.path("Condition").toString())
          .isEqualTo(
              "{\"ForAllValues:StringEquals\":{\"aws:TagKeys\":\"tenantId\"},"
                  + "\"StringLike\":{\"aws:RequestTag/tenantId\":\"?*\"}}");
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

  private static Map<String, String> routes(Synthesis stack) {
    return stack.resources("AWS::ApiGatewayV2::Route").values().stream()
        .map(route -> route.path("Properties"))
        .collect(
            Collectors.toMap(
                route -> route.path("RouteKey").asText(),
                route -> route.path("AuthorizationType").asText()));
  }

  /** The last part of an ARN that is put together from pseudo parameters. */
  private static String name(JsonNode statement) {
    JsonNode parts = statement.at("/Resource/Fn::Join/1");
    return parts.get(parts.size() - 1).asText();
  }

  /**
   * Names that the template gives, rather than leaving that to CloudFormation, and that must
   * differ.
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
