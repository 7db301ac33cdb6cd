package dev.tollgate.aws;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.dynamodb.limit.DynamoDbConnections;
import dev.tollgate.aws.dynamodb.limit.DynamoDbMessageLog;
import dev.tollgate.aws.dynamodb.limit.DynamoDbPorts;
import dev.tollgate.aws.dynamodb.limit.DynamoDbSessions;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.session.Connections.JoinResult;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The number of requests of each method that a handshake waits for. */
@ExtendWith(Engines.class)
class RequestCountsTest {
  private static final Gcra RATE = Gcra.perMinute(2);

  private final AtomicInteger requests = new AtomicInteger();
  private final DynamoDbClient client;
  private final DynamoDbSessions sessions;
  private final DynamoDbConnections connections;
  private final MessageFactsReader facts;
  private final String limitTable;
  private final TenantId tenant = Samples.tenantId();
  private final Session session = Samples.session(tenant, Duration.ofMinutes(5));

  RequestCountsTest(Engines.Tables tables) {
    client = tables.client(new Counting(requests));
    DynamoDbPorts ports = new DynamoDbPorts(tables, client);
    limitTable = ports.tables().limit();
    sessions = ports.sessions();
    connections = ports.connections();
    facts = ports.facts(new ManualClock(NOW));
    sessions.create(session);
    requests.set(0);
  }

  @AfterEach
  void stop() {
    client.close();
  }

  private JoinResult join(String connectionId, Optional<Instant> expected) {
    return join(connectionId, expected, session.endsAt());
  }

  private JoinResult join(String connectionId, Optional<Instant> expected, Instant endsAt) {
    return connections.join(tenant, session.id(), connectionId, 10, RATE, expected, endsAt, NOW);
  }

  private void assertRequests(int expected) {
    assertThat(requests.getAndSet(0)).isEqualTo(expected);
  }

  @Test
  void a_join_with_the_right_expected_arrival_is_one_request() {
    assertThat(join("a", Optional.empty())).isEqualTo(JoinResult.ADDED);
    assertRequests(1);

    assertThat(join("b", Optional.of(NOW.plus(RATE.interval())))).isEqualTo(JoinResult.ADDED);
    assertRequests(1);
  }

  @Test
  void a_join_with_a_wrong_expected_arrival_is_two_requests() {
    assertThat(join("a", Optional.of(NOW.plusSeconds(1)))).isEqualTo(JoinResult.ADDED);
    assertRequests(2);

    assertThat(join("b", Optional.empty())).isEqualTo(JoinResult.ADDED);
    assertRequests(2);
  }

  @Test
  void a_join_with_a_later_end_is_one_request_and_with_an_earlier_end_two() {
    Instant later = session.endsAt().plusSeconds(60);
    assertThat(join("a", Optional.empty(), later)).isEqualTo(JoinResult.ADDED);
    assertRequests(1);

    assertThat(join("b", Optional.of(NOW.plus(RATE.interval())), session.endsAt()))
        .isEqualTo(JoinResult.ADDED);
    assertRequests(2);
    assertThat(sessions.find(tenant, session.id()).orElseThrow().endsAt()).isEqualTo(later);
  }

  @Test
  void a_refused_join_is_one_request() {
    join("a", Optional.empty());
    join("b", Optional.of(NOW.plusSeconds(30)));
    requests.set(0);

    assertThat(join("c", Optional.empty())).isEqualTo(JoinResult.TOO_SOON);
    assertRequests(1);
    assertThat(join("a", Optional.empty())).isEqualTo(JoinResult.ALREADY_JOINED);
    assertRequests(1);
  }

  @Test
  void leaving_and_each_change_of_the_count_are_one_request_each() {
    join("a", Optional.empty());
    requests.set(0);

    connections.leave(tenant, session.id(), "a");
    assertRequests(1);
    connections.countUp(tenant, "a", 10);
    assertRequests(1);
    connections.countDown(tenant, Set.of("a"));
    assertRequests(1);
  }

  @Test
  void each_step_of_the_end_of_a_session_is_one_request() {
    join("a", Optional.empty());
    requests.set(0);

    sessions.moveEnd(tenant, session.id(), NOW);
    assertRequests(1);
    sessions.takeConnections(tenant, session.id());
    assertRequests(1);
    sessions.remove(tenant, session.id());
    assertRequests(1);
  }

  @Test
  void a_creation_is_one_request_or_two_just_after_another() {
    assertThat(sessions.acquireCreation(tenant, RATE, NOW)).isEmpty();
    assertRequests(1);
    assertThat(sessions.acquireCreation(tenant, RATE, NOW)).isEmpty();
    assertRequests(2);
    assertThat(sessions.acquireCreation(tenant, RATE, NOW)).isPresent();
    assertRequests(1);
    assertThat(sessions.acquireCreation(tenant, RATE, NOW.plusSeconds(60))).isEmpty();
    assertRequests(1);
  }

  @Test
  void an_extension_is_one_request() {
    Instant later = session.endsAt().plusSeconds(60);
    sessions.extend(session, later, Map.of(), NOW);
    assertRequests(1);
    sessions.extend(session, later, Map.of(), NOW);
    assertRequests(1);
  }

  @Test
  void the_facts_of_a_batch_of_messages_are_one_request() {
    Set<SessionId> ten =
        IntStream.range(0, 10)
            .mapToObj(i -> Samples.sessionId())
            .collect(Collectors.toUnmodifiableSet());

    facts.read(
        tenant,
        ten,
        ten.stream().map(id -> new MessageName(id, "m-1")).collect(Collectors.toSet()));

    assertRequests(1);
  }

  @Test
  void the_messages_of_a_session_are_logged_in_one_request() {
    MessageLog log = new DynamoDbMessageLog(client, limitTable, Engines.ANYBODY);
    Set<MessageName> ten =
        IntStream.range(0, 10)
            .mapToObj(i -> new MessageName(session.id(), "m-" + i))
            .collect(Collectors.toSet());
    for (int i = 0; i < 2; i++) {
      log.add(tenant, ten, NOW.plusSeconds(600));
      assertRequests(1);
    }
    sessions.extend(session, session.endsAt().plusSeconds(60), Map.of("m-1", NOW), NOW);
    assertRequests(1);
  }

  private record Counting(AtomicInteger requests) implements ExecutionInterceptor {
    @Override
    public void beforeTransmission(
        Context.BeforeTransmission context, ExecutionAttributes attributes) {
      requests.incrementAndGet();
    }
  }
}
