package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sessions.Consistency;
import dev.tollgate.core.testing.contract.SessionsContract;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

@ExtendWith(Engines.class)
class DynamoDbSessionsTest extends SessionsContract {
  private final DynamoDbClient client;
  private final String table;
  private final Sessions sessions;

  DynamoDbSessionsTest(Engines.Tables tables) {
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
}
