package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.http.testing.Fuzz;
import dev.tollgate.http.testing.Leaks;
import dev.tollgate.http.testing.RandomInput;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * Random records in the streams and queues of the stack do not block the valid records behind them.
 * {@link Fuzz} describes how to repeat a case or run more cases.
 */
final class HostileRecordsIT {
  private static final LocalDeployment DEPLOYMENT = LocalDeployment.shared();
  private static final String TENANT = "records";
  private static final int CASES = 16;

  private static int sent;

  @BeforeAll
  static void tenant() throws InterruptedException {
    assertThat(DEPLOYMENT.onboard(TENANT, "gold", "{}").status()).isEqualTo(201);
    DEPLOYMENT.advance(Duration.ofMinutes(2));
  }

  @AfterAll
  static void leave() {
    DEPLOYMENT.control("DELETE", "/tenants/" + TENANT);
  }

  /** Each random row precedes the row of a session with an open socket in the same shard. */
  @Test
  @Tag("nightly")
  void a_random_deleted_row_does_not_block_the_deletions_behind_it() throws Exception {
    String table = "TablesSession";
    try (DynamoDbClient rows = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      Fuzz.each(
          CASES,
          random -> {
            Map<String, AttributeValue> row = row(random);
            try {
              rows.putItem(put -> put.tableName(table).item(row));
            } catch (DynamoDbException refused) {
              assertThat(refused.statusCode()).isEqualTo(400);
              return;
            }
            if (random.onceIn(4)) {
              return; // The row stays, possibly among the tenant's own sessions.
            }
            Map<String, AttributeValue> key =
                Map.of("tenantId", row.get("tenantId"), "sessionId", row.get("sessionId"));
            rows.deleteItem(delete -> delete.tableName(table).key(key));
          },
          CASES / 2,
          after -> {
            String session = DEPLOYMENT.open(TENANT);
            Handshake socket = DEPLOYMENT.connect(TENANT, session);
            rows.deleteItem(
                delete ->
                    delete
                        .tableName(table)
                        .key(
                            Map.of(
                                "tenantId", AttributeValue.fromS(TENANT),
                                "sessionId", AttributeValue.fromS(session))));
            socket.closed().join();
            DEPLOYMENT.cloud().settle();
            assertThat(DEPLOYMENT.control("GET", "/tenants/" + TENANT).body().get("connections"))
                .hasToString("0");
          });
    }
  }

  private static Map<String, AttributeValue> row(RandomInput random) {
    Map<String, AttributeValue> row = new HashMap<>();
    row.put(
        "tenantId",
        AttributeValue.fromS(random.oneOf("records-other", TENANT, nonEmpty(random.text()))));
    row.put("sessionId", AttributeValue.fromS(nonEmpty(random.text())));
    for (String attribute : List.of("connectionIds", "sessionTTL", "arrival")) {
      if (!random.onceIn(3)) {
        row.put(attribute, any(random));
      }
    }
    return row;
  }

  private static String nonEmpty(String text) {
    return text.isEmpty() ? "-" : text;
  }

  private static AttributeValue any(RandomInput random) {
    return switch (random.below(6)) {
      case 0 -> AttributeValue.fromN(random.oneOf("0", "-1", "1e30", "99999999999999999999"));
      case 1 -> AttributeValue.fromS(random.text());
      case 2 -> AttributeValue.fromBool(true);
      case 3 -> AttributeValue.fromM(Map.of("a", AttributeValue.fromS(random.text())));
      default ->
          AttributeValue.fromSs(
              IntStream.range(0, 1 + random.below(3))
                  .mapToObj(i -> random.text())
                  .collect(Collectors.toSet())
                  .stream()
                  .toList());
    };
  }

  @Test
  void a_random_message_does_not_block_others() throws Exception {
    String queue = "https://sqs.us-east-1.amazonaws.com/000000000000/tollgate_pool.fifo";
    String session = DEPLOYMENT.open(TENANT);
    Handshake socket = DEPLOYMENT.connect(TENANT, session);
    String frame = "{\"action\":\"PooledSQS\",\"id\":\"r-1\",\"message\":{\"to\":[1,null]}}";
    try (SqsClient queues = DEPLOYMENT.inspect(SqsClient.builder())) {
      Fuzz.each(
          CASES,
          random -> {
            int number = sent++;
            Map<String, MessageAttributeValue> attributes = new HashMap<>();
            if (!random.onceIn(3)) {
              attributes.put(
                  random.oneOf("connectionId", "connectionId", "ConnectionId", "other"),
                  MessageAttributeValue.builder()
                      .dataType(random.oneOf("String", "String", "Number", "Binary"))
                      .stringValue(random.oneOf("abc=", random.text(), "12"))
                      .build());
            }
            String group =
                random.oneOf(
                    TENANT + ":" + session,
                    TENANT + ":" + random.plainText(),
                    random.plainText(),
                    ":",
                    TENANT,
                    "nobody:" + session);
            try {
              queues.sendMessage(
                  send ->
                      send.queueUrl(queue)
                          .messageGroupId(group)
                          .messageDeduplicationId("records-" + number)
                          .messageAttributes(attributes)
                          .messageBody(random.mutated(frame.replace("r-1", "r-" + number))));
            } catch (SqsException refused) {
              assertThat(refused.statusCode()).isEqualTo(400);
            }
          },
          CASES / 4,
          after -> {
            String id = "mark-" + sent++;
            socket.send("{\"action\":\"PooledSQS\",\"id\":\"%s\",\"message\":1}".formatted(id));
            int count = 1;
            while (socket.frames().await("reply", count).stream()
                .noneMatch(reply -> reply.path("id").asText().equals(id))) {
              count = socket.frames().of("reply").size() + 1;
            }
            socket.frames().texts().forEach(Leaks::check);
          });
    }
    DEPLOYMENT.close(socket);
  }
}
