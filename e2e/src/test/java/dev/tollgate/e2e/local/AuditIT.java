package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.local.bus.EventBus;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults.Injection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Who changed what, on the engines. */
final class AuditIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  private static final String TABLE = "TablesAudit";

  /** The roles of all functions. */
  private static final List<String> ROLES =
      List.of(
          "AuditEventsAllTenants",
          "AuditWriterAllTenants",
          "Authorizer",
          "Connect",
          "ControlPlane",
          "Disconnect",
          "HistoryWriterAllTenants",
          "HousekeeperAllTenants",
          "PoolProcessor",
          "SessionApi",
          "SessionEndAllTenants",
          "Sweep",
          "TokenProducerAllTenants");

  /** Sends a change and returns its request's id. */
  private static String change(String method, String path, String body, int status)
      throws Exception {
    Answer answer = DEPLOYMENT.control(method, path, body);
    assertThat(answer.status()).as(answer.body().toString()).isEqualTo(status);
    DEPLOYMENT.advance(Duration.ofSeconds(5));
    return answer.header("apigw-requestid");
  }

  private static JsonNode page(String query) {
    Answer answer = DEPLOYMENT.control("GET", "/audit" + query);
    assertThat(answer.status()).isEqualTo(200);
    return answer.body();
  }

  /** The entries of all pages, oldest first. */
  private static List<JsonNode> entries(String query) {
    List<JsonNode> entries = new ArrayList<>();
    Optional<String> next = Optional.empty();
    do {
      JsonNode page = page("?limit=3" + query + next.map(cursor -> "&cursor=" + cursor).orElse(""));
      page.path("entries").forEach(entry -> entries.add(0, entry));
      next = Optional.of(page.path("next").asText()).filter(cursor -> !cursor.isEmpty());
    } while (next.isPresent());
    return entries;
  }

  private static String told(JsonNode entry) {
    return entry.path("subject").asText() + " " + entry.path("what").asText();
  }

  @Test
  void each_change_has_its_author_its_request_and_what_changed() throws Exception {
    Instant begin = DEPLOYMENT.clock().instant().minusSeconds(1);
    String onboarded = change("POST", "/tenants", "{\"tenantId\":\"acme\",\"tier\":\"gold\"}", 201);
    String changed = change("PATCH", "/tenants/acme", "{\"tier\":\"bronze\"}", 200);
    JsonNode bronze = DEPLOYMENT.control("GET", "/tiers/bronze").body();
    String tier =
        DEPLOYMENT.control("PUT", "/tiers/own", definition(bronze, 7)).header("apigw-requestid");
    String tierAgain = change("PUT", "/tiers/own", definition(bronze, 8), 200);
    String on = change("PUT", "/admit-all", "{\"reason\":\"a test\",\"minutes\":5}", 200);
    String off = change("DELETE", "/admit-all", "", 200);
    String removedTier = change("DELETE", "/tiers/own", "", 204);
    DEPLOYMENT.control("DELETE", "/tenants/acme");
    DEPLOYMENT.advance(Duration.ofMinutes(3));
    assertThat(DEPLOYMENT.control("GET", "/tenants/acme").status()).isEqualTo(404);

    List<JsonNode> all = entries("");
    assertThat(all)
        .extracting(AuditIT::told)
        .filteredOn(told -> !told.endsWith("TenantReconciled"))
        .containsExactly(
            "tenant/acme TenantOnboarded",
            "tenant/acme TenantChanged",
            "tier/own TierCreated",
            "tier/own TierChanged",
            "deployment AdmitAllTurnedOn",
            "deployment AdmitAllTurnedOff",
            "tier/own TierRemoved",
            "tenant/acme TenantOffboarded",
            "tenant/acme TenantRemoved");
    String signer = all.get(0).path("by").asText();
    assertThat(signer).startsWith("arn:aws:");
    Map<String, JsonNode> told = new HashMap<>();
    all.forEach(entry -> told.putIfAbsent(told(entry), entry));
    assertBy(signer, onboarded, told.get("tenant/acme TenantOnboarded"));
    assertBy(signer, changed, told.get("tenant/acme TenantChanged"));
    assertBy(signer, tier, told.get("tier/own TierCreated"));
    assertBy(signer, tierAgain, told.get("tier/own TierChanged"));
    assertBy(signer, on, told.get("deployment AdmitAllTurnedOn"));
    assertBy(signer, off, told.get("deployment AdmitAllTurnedOff"));
    assertBy(signer, removedTier, told.get("tier/own TierRemoved"));
    JsonNode moved = told.get("tenant/acme TenantChanged");
    assertThat(moved.at("/from/tier").asText()).isEqualTo("gold");
    assertThat(moved.at("/to/tier").asText()).isEqualTo("bronze");
    assertThat(moved.at("/from/limits.tenantConnections").asText())
        .isNotEqualTo(moved.at("/to/limits.tenantConnections").asText());
    JsonNode limit = told.get("tier/own TierChanged");
    assertThat(limit.path("from").toString()).isEqualTo("{\"limits.tenantConnections\":\"7\"}");
    assertThat(limit.path("to").toString()).isEqualTo("{\"limits.tenantConnections\":\"8\"}");
    assertThat(all)
        .extracting(entry -> Instant.parse(entry.path("at").asText()))
        .isSorted()
        .allSatisfy(
            at -> assertThat(at).isBetween(begin, DEPLOYMENT.clock().instant().plusSeconds(60)));

    // Each entry was sent as an event, with its id.
    assertThat(DEPLOYMENT.cloud().eventBus().events())
        .allSatisfy(event -> assertThat(event.source()).isEqualTo("tollgate"))
        .extracting(event -> event.detailType() + " " + json(event.detail()).path("id").asText())
        .containsExactlyInAnyOrderElementsOf(
            all.stream()
                .map(entry -> entry.path("what").asText() + " " + entry.path("id").asText())
                .toList());
    DEPLOYMENT
        .cloud()
        .eventBus()
        .events()
        .forEach(event -> assertThat(violations(event.detail())).as(event.detail()).isEmpty());

    assertThat(entries("&tenantId=acme"))
        .isEqualTo(
            all.stream()
                .filter(entry -> entry.path("subject").asText().equals("tenant/acme"))
                .toList());
    assertThat(entries("&tenantId=nobody")).isEmpty();

    assertHandEditsAreSeen();
    assertRepairsAreSeen();
    // What only records progress adds nothing.
    assertThat(
            DEPLOYMENT.requestsOf(() -> DEPLOYMENT.advance(Duration.ofMinutes(3))).stream()
                .filter(request -> request.principal().name().equals("AuditWriterAllTenants")))
        .isEmpty();
    assertNobodyChanges(all.get(0));
    assertEventsOutliveAnOutage();
  }

  /** A row that is settled, and edited by hand. */
  private static void assertHandEditsAreSeen() throws Exception {
    DEPLOYMENT.onboard("edited", "silver", "{}");
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    try (DynamoDbClient rows = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      rows.updateItem(
          update ->
              update
                  .tableName("TablesTenant")
                  .key(Map.of("tenantId", AttributeValue.fromS("edited")))
                  .updateExpression("SET #status = :status")
                  .expressionAttributeNames(Map.of("#status", "status"))
                  .expressionAttributeValues(Map.of(":status", AttributeValue.fromS("SUSPENDED"))));
    }
    DEPLOYMENT.advance(Duration.ofMinutes(1));
    JsonNode edit = page("?tenantId=edited").at("/entries/0");
    assertThat(edit.path("what").asText()).isEqualTo("TenantChanged");
    assertThat(edit.path("by").asText()).isEqualTo("unknown");
    assertThat(edit.at("/to/status").asText()).isEqualTo("SUSPENDED");
  }

  /** A queue that was deleted by hand, and a doctor that provides it again. */
  private static void assertRepairsAreSeen() throws Exception {
    DEPLOYMENT.onboard("broken", "silver", "{}");
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    try (SqsClient queues = DEPLOYMENT.inspect(SqsClient.builder())) {
      String url =
          queues.getQueueUrl(get -> get.queueName("connect_broken_token_bucket")).queueUrl();
      queues.deleteQueue(delete -> delete.queueUrl(url));
    }
    assertThat(
            LocalDeployment.allFindings(
                query -> DEPLOYMENT.control("POST", "/repairs" + query, "{}").body().toString()))
        .isNotEmpty();
    DEPLOYMENT.advance(Duration.ofMinutes(1));
    assertThat(page("?tenantId=broken").path("entries"))
        .filteredOn(entry -> entry.path("what").asText().equals("DriftRepaired"))
        .isNotEmpty()
        .allSatisfy(entry -> assertThat(entry.path("request").asText()).startsWith("repair/"));
  }

  /** EventBridge refuses all events for an hour. */
  private static void assertEventsOutliveAnOutage() throws Exception {
    int before = DEPLOYMENT.cloud().eventBus().events().size();
    try (Injection down =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                call -> call.service().equals("events"),
                Integer.MAX_VALUE,
                new Fault.Refused(500, "InternalFailure", "refused by the test"))) {
      change("PUT", "/admit-all", "{\"reason\":\"an outage\",\"minutes\":5}", 200);
      DEPLOYMENT.advance(Duration.ofHours(1));
      assertThat(down.count()).isPositive();
      assertThat(DEPLOYMENT.cloud().eventBus().events()).hasSize(before);
    }
    DEPLOYMENT.advance(Duration.ofMinutes(5));
    List<EventBus.Event> events = DEPLOYMENT.cloud().eventBus().events();
    assertThat(events.subList(before, events.size()))
        .extracting(event -> json(event.detail()).path("id").asText())
        .containsExactly(page("?limit=1").at("/entries/0/id").asText());
  }

  private static JsonNode json(String text) {
    try {
      return new JsonMapper().readTree(text);
    } catch (JsonProcessingException malformed) {
      throw new AssertionError(malformed);
    }
  }

  /** How a detail differs from the published schema. */
  private static Set<ValidationMessage> violations(String detail) {
    try {
      return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V4)
          .getSchema(Files.readString(Path.of("../docs/events/change.json")))
          .validate(json(detail));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static String definition(JsonNode tier, int connections) {
    ObjectNode next = tier.deepCopy();
    next.remove(List.of("name", "tier", "version", "rolledOut", "rollout", "rolledOutVersion"));
    ((ObjectNode) next.path("limits")).put("tenantConnections", connections);
    return next.toString();
  }

  private static void assertBy(String signer, String request, JsonNode entry) {
    assertThat(entry.path("by").asText()).isEqualTo(signer);
    assertThat(entry.path("request").asText()).as(told(entry)).isEqualTo(request);
  }

  /** Every role is denied to change and delete an entry, and every role but the writer's to add. */
  private static void assertNobodyChanges(JsonNode entry) {
    Map<String, AttributeValue> key =
        Map.of(
            "subject", AttributeValue.fromS(entry.path("subject").asText()),
            "at",
                AttributeValue.fromS(
                    entry.path("at").asText().replaceFirst("(:\\d\\d)Z", "$1.000Z")
                        + "#"
                        + entry.path("id").asText()));
    try (DynamoDbClient rows = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      assertThat(rows.getItem(get -> get.tableName(TABLE).key(key)).hasItem()).isTrue();
    }
    Stream.concat(ROLES.stream(), Stream.of("administrator"))
        .forEach(
            role -> {
              AwsSessionCredentials credentials =
                  LocalDeployment.credentials(
                      role.equals("administrator")
                          ? DEPLOYMENT.cloud().accessKey(role)
                          : DEPLOYMENT.cloud().accessKeyOf(role));
              try (DynamoDbClient rows = DEPLOYMENT.client(DynamoDbClient.builder(), credentials)) {
                assertDenied(
                    role,
                    () ->
                        rows.updateItem(
                            update ->
                                update
                                    .tableName(TABLE)
                                    .key(key)
                                    .updateExpression("SET #by = :by")
                                    .expressionAttributeNames(Map.of("#by", "by"))
                                    .expressionAttributeValues(
                                        Map.of(":by", AttributeValue.fromS("mallory")))));
                assertDenied(role, () -> rows.deleteItem(d -> d.tableName(TABLE).key(key)));
                if (!role.equals("AuditWriterAllTenants")) {
                  assertDenied(role, () -> rows.putItem(put -> put.tableName(TABLE).item(key)));
                }
              }
            });
  }

  private static void assertDenied(String role, Runnable attack) {
    assertThatThrownBy(attack::run)
        .as(role)
        .isInstanceOfSatisfying(
            DynamoDbException.class,
            denied ->
                assertThat(denied.awsErrorDetails().errorCode())
                    .isEqualTo("AccessDeniedException"));
  }
}
