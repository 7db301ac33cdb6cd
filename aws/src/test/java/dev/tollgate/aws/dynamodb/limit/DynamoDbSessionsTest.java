package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sessions.Consistency;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.SessionsContract;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

@ExtendWith(Engines.class)
class DynamoDbSessionsTest extends SessionsContract {
  private final DynamoDbClient client;
  private final String table;
  private final Sessions sessions;
  private final Engines.Tables engine;

  DynamoDbSessionsTest(Engines.Tables tables) {
    engine = tables;
    client = tables.client();
    DynamoDbPorts ports = new DynamoDbPorts(tables);
    table = ports.tables().session();
    sessions = ports.sessions();
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }

  @Test
  void a_row_with_a_malformed_session_id_is_not_listed() {
    TenantId tenant = new TenantId("visited");
    Session session =
        new Session(
            tenant,
            SessionId.random(new SecureRandom()),
            Set.of(),
            Instant.EPOCH,
            Optional.empty());
    sessions.create(session);
    for (String name : List.of("by-hand", "f".repeat(31), "F".repeat(32), "x".repeat(1_000))) {
      client.putItem(
          request ->
              request
                  .tableName(table)
                  .item(
                      Map.of(
                          "tenantId", AttributeValue.fromS("visited"),
                          "sessionId", AttributeValue.fromS(name),
                          "connectionIds", AttributeValue.fromSs(List.of("no-socket")))));
    }

    assertThat(sessions.page(tenant, Optional.empty(), 10, Consistency.CONSISTENT).items())
        .containsExactly(session);
  }

  @Test
  void a_damaged_row_does_not_hide_the_other_sessions_of_its_page() {
    Session session = Samples.session(Samples.tenantId(), Duration.ofHours(1));
    sessions.create(session);
    client.putItem(
        request ->
            request
                .tableName(table)
                .item(
                    Map.of(
                        "tenantId", AttributeValue.fromS(session.tenant().value()),
                        "sessionId", AttributeValue.fromS("0".repeat(32)))));

    Page<Session> page =
        sessions.page(session.tenant(), Optional.empty(), 10, Consistency.CONSISTENT);

    assertThat(page.items()).containsExactly(session);
    assertThat(page.unreadable())
        .singleElement()
        .satisfies(row -> assertThat(row.reason()).doesNotContain("000"));
    assertThatThrownBy(page::itemsOrThrow).isInstanceOf(UnreadableRow.class);
  }

  /** Makes the answer to the first update an error, after which the SDK repeats the update. */
  private static final class FirstAnswerLost implements ExecutionInterceptor {
    private final AtomicInteger updates = new AtomicInteger();

    @Override
    public SdkHttpResponse modifyHttpResponse(
        Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
      return context.request() instanceof UpdateItemRequest && updates.incrementAndGet() == 1
          ? context.httpResponse().toBuilder().statusCode(500).build()
          : context.httpResponse();
    }
  }

  @Test
  void place_is_kept_although_the_answer_is_lost_and_the_sdk_repeats_the_write() {
    Session session =
        new Session(
            new TenantId("repeated"),
            SessionId.random(new SecureRandom()),
            Set.of(),
            NOW.plusSeconds(60),
            Optional.empty());
    FirstAnswerLost lost = new FirstAnswerLost();
    Sessions repeating = new DynamoDbPorts(engine, engine.client(lost)).sessions();
    repeating.create(session);

    WriteResult result =
        repeating.keepPlace(session, new Place(1, 2), true, NOW.plusSeconds(90), NOW);

    assertThat(lost.updates).hasValue(2);
    assertThat(result).isEqualTo(WriteResult.DONE);
    assertThat(repeating.keepPlace(session, new Place(1, 3), true, NOW.plusSeconds(90), NOW))
        .isEqualTo(WriteResult.CONFLICT);
  }
}
