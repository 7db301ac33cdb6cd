package dev.tollgate.handlers.housekeeping;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse.BatchItemFailure;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import dev.tollgate.core.NewerRow;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import dev.tollgate.handlers.LambdaEvents;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class SessionEndTest {
  private final HousekeepingFixture fixture = new HousekeepingFixture();
  private final Tenant acme = fixture.ports().onboard("acme", "gold", Map.of());
  private final Tenant beta = fixture.ports().onboard("beta", "gold", Map.of());
  private final RecordingContext context = LambdaEvents.context();
  private final SessionEnd sessionEnd = sessionEnd(fixture.sockets(), fixture.recount());

  private SessionEnd sessionEnd(Sockets sockets, Recount recount) {
    return new SessionEnd(
        sockets,
        fixture.ports().facts(),
        recount,
        Runnable::run,
        new Metrics(fixture.ports().clock()));
  }

  private Session deleted(Tenant tenant, String... connectionIds) {
    return fixture.sessions().deleteRow(tenant.id(), fixture.open(tenant, connectionIds));
  }

  /** The record at which Lambda is to continue; empty if all records are processed. */
  private Optional<String> handle(DynamodbEvent event) {
    List<BatchItemFailure> failures =
        sessionEnd.handleRequest(event, context).getBatchItemFailures();
    assertThat(failures).hasSizeLessThanOrEqualTo(1);
    return failures.stream().findFirst().map(BatchItemFailure::getItemIdentifier);
  }

  private static Session strangers(String... connectionIds) {
    return new Session(
        Samples.tenantId(),
        Samples.sessionId(),
        Set.of(connectionIds),
        Samples.NOW,
        Optional.empty());
  }

  @Test
  void deleted_sessions_close_their_sockets_and_lower_the_counts() {
    Session one = deleted(acme, "a", "b");
    Session two = deleted(acme, "c");
    Session three = deleted(beta, "d");
    fixture.open(beta, "e");
    fixture.faults().none();

    assertThat(handle(LambdaEvents.deleted(one, two, three))).isEmpty();

    assertThat(fixture.sockets().closed()).containsExactlyInAnyOrder("a", "b", "c", "d");
    assertThat(fixture.counted(acme.id())).isZero();
    assertThat(fixture.counted(beta.id())).isEqualTo(1);
    assertThat(fixture.faults().calls().stream().filter(call -> call.endsWith(".correct")))
        .hasSize(2);
    assertThat(context.logged())
        .hasSize(2)
        .first()
        .asString()
        .contains(
            "\"Dimensions\":[[]]",
            "\"SessionsEnded\":2",
            "\"ConnectionsDropped\":3",
            "\"Drift\":3",
            "\"AbsoluteDrift\":3",
            "\"tenantId\":\"acme\"");
  }

  @Test
  void the_counts_of_a_batch_of_tenants_are_repaired_in_the_time_of_one() {
    Session[] batch =
        IntStream.range(0, 25)
            .mapToObj(i -> deleted(fixture.ports().onboard("t" + i, "gold", Map.of()), "c" + i))
            .toArray(Session[]::new);
    Instant start = fixture.ports().clock().instant();

    assertThat(
            sessionEnd(fixture.sockets(), fixture.recount(fixture::pass))
                .handleRequest(LambdaEvents.deleted(batch), context)
                .getBatchItemFailures())
        .isEmpty();

    assertThat(batch).allMatch(session -> fixture.counted(session.tenant()) == 0);
    assertThat(fixture.ports().clock().instant()).isBefore(start.plusSeconds(20));
  }

  @Test
  void a_repeated_batch_has_no_further_effect() {
    DynamodbEvent event = LambdaEvents.deleted(deleted(acme, "a", "b"));
    SessionId other = fixture.open(acme, "c");

    assertThat(handle(event)).isEmpty();
    assertThat(handle(event)).isEmpty();
    for (int i = 0; i < 3; i++) {
      new Disconnection(fixture.sessions()).remove(acme.id(), Samples.sessionId(), "a");
    }

    assertThat(fixture.counted(acme.id())).isEqualTo(1);
    assertThat(fixture.sessions().find(acme.id(), other).orElseThrow().connections())
        .containsExactly("c");
  }

  @Test
  void records_without_deletion_or_without_connections_are_ignored() {
    Session empty = deleted(acme);
    DynamodbEvent changed = LambdaEvents.deleted(deleted(acme, "a"));
    changed.getRecords().get(0).setEventName("MODIFY");
    fixture.faults().none();

    assertThat(handle(LambdaEvents.deleted(empty))).isEmpty();
    assertThat(handle(changed)).isEmpty();

    assertThat(fixture.sockets().closed()).isEmpty();
    assertThat(fixture.faults().calls()).isEmpty();
  }

  @Test
  void sockets_of_unknown_tenants_are_closed_without_a_recount() {
    DynamodbEvent event = LambdaEvents.deleted(strangers("a"), strangers("b"));
    event
        .getRecords()
        .get(1)
        .getDynamodb()
        .getOldImage()
        .put("tenantId", new AttributeValue("No tenant!"));
    fixture.faults().none();

    assertThat(handle(event)).isEmpty();

    assertThat(fixture.sockets().closed()).containsExactly("a", "b");
    assertThat(fixture.faults().calls()).isEmpty();
  }

  @Test
  void a_record_whose_socket_cannot_be_closed_is_retried() {
    Session one = deleted(acme, "a");
    Session two = deleted(beta, "b");
    Session three = deleted(beta, "c");
    SessionEnd failing =
        sessionEnd(fixture.faults().around(Sockets.class, fixture.sockets()), fixture.recount());
    fixture.faults().plan(2, Faults.UNREACHABLE);

    assertThat(
            failing
                .handleRequest(LambdaEvents.deleted(one, two, three), context)
                .getBatchItemFailures())
        .extracting(BatchItemFailure::getItemIdentifier)
        .containsExactly("number-1");

    assertThat(fixture.sockets().closed()).containsExactly("a");
    assertThat(fixture.counted(acme.id())).isZero();
    assertThat(fixture.counted(beta.id())).isEqualTo(2);
    assertThat(handle(LambdaEvents.deleted(two, three))).isEmpty();
    assertThat(fixture.counted(beta.id())).isZero();
  }

  @Test
  void a_record_whose_recount_fails_is_retried() {
    Session one = deleted(beta, "a");
    Session two = deleted(acme, "b");
    Session three = deleted(beta, "c");
    fixture.faults().plan(10, Faults.UNREACHABLE);

    assertThat(handle(LambdaEvents.deleted(one, two, three))).contains("number-1");

    assertThat(fixture.counted(beta.id())).isZero();
    assertThat(fixture.counted(acme.id())).isEqualTo(1);
    assertThat(handle(LambdaEvents.deleted(two, three))).isEmpty();
    assertThat(fixture.counted(acme.id())).isZero();
  }

  @Test
  void a_row_of_a_newer_release_does_not_block_other_tenants() {
    Session one = deleted(beta, "a");
    Session two = deleted(acme, "b");
    fixture
        .faults()
        .plan(
            5,
            call -> {
              throw new NewerRow("a session of", "beta", 2, 1);
            });

    assertThat(handle(LambdaEvents.deleted(one, two))).isEmpty();

    assertThat(fixture.counted(beta.id())).isEqualTo(1);
    assertThat(fixture.counted(acme.id())).isZero();
    assertThat(context.logged()).anyMatch(line -> line.contains("a session of beta has schema"));
  }

  @Test
  void a_record_is_retried_if_its_tenant_cannot_be_looked_up() {
    TenantId id = acme.id();
    DynamodbEvent event = LambdaEvents.deleted(deleted(acme, "a"));
    fixture.ports().facts().outage().begin();

    assertThat(handle(event)).contains("number-0");

    assertThat(fixture.counted(id)).isEqualTo(1);
  }
}
