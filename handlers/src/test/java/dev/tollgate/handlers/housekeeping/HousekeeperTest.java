package dev.tollgate.handlers.housekeeping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class HousekeeperTest {
  private final HousekeepingFixture fixture = new HousekeepingFixture();
  private final Tenant acme = fixture.ports().onboard("acme", "gold", Map.of());
  private final Tenant beta = fixture.ports().onboard("beta", "bronze", Map.of());
  private final List<String> requested = new ArrayList<>();
  private final Housekeeper housekeeper =
      new Housekeeper(
          fixture.housekeeping(),
          arn -> chunk -> requested.add(arn + " " + chunk.toEvent()),
          new Metrics(fixture.ports().clock()),
          fixture.ports().clock());

  private Map<String, Long> keep(RecordingContext context) {
    return housekeeper.handleRequest(Map.of(), context);
  }

  @Test
  void a_run_repairs_each_tenant_and_reports_the_repairs() {
    fixture.open(acme, "a", "b");
    fixture.open(beta, "c");
    fixture.sockets().lose("a");
    fixture.pass(Duration.ofSeconds(200));
    Instant now = fixture.ports().clock().instant();
    fixture
        .ports()
        .activity()
        .addRefused(
            acme.id(),
            new RefusalCounts(
                Map.of(Refusal.TENANT_RATE, 1L),
                Map.of(),
                now,
                Optional.of(now),
                Optional.empty()));
    RecordingContext context = new RecordingContext(Duration.ofMinutes(1));

    assertThat(keep(context))
        .isEqualTo(
            Map.of(
                "chunks", 1L,
                "failedChunks", 0L,
                "visitedTenants", 2L,
                "leftTenants", 0L,
                "failedVisits", 0L,
                "sessionsEnded", 1L,
                "connectionsDropped", 1L,
                "drift", 1L));

    assertThat(context.logged())
        .hasSize(2)
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains(
                        "\"SessionsEnded\":0",
                        "\"ConnectionsDropped\":1",
                        "\"Drift\":1",
                        "\"tenantId\":\"acme\""))
        .anySatisfy(
            line -> assertThat(line).contains("\"SessionsEnded\":1", "\"tenantId\":\"beta\""));
    assertThat(fixture.counted(acme.id())).isEqualTo(1);
    assertThat(fixture.counted(beta.id())).isZero();
  }

  @Test
  void a_run_without_repairs_logs_nothing() {
    fixture.open(acme, "a");
    RecordingContext context = new RecordingContext(Duration.ofMinutes(1));

    assertThat(keep(context)).containsEntry("visitedTenants", 1L);

    assertThat(context.logged()).isEmpty();
  }

  @Test
  void no_visit_starts_shortly_before_the_end_of_the_invocation() {
    fixture.open(acme, "a");

    assertThat(keep(new RecordingContext(Duration.ofSeconds(15))))
        .containsEntry("visitedTenants", 0L)
        .containsEntry("leftTenants", 1L);
  }

  @Test
  void a_run_with_many_tenants_requests_chunks_of_the_function_itself_and_a_chunk_requests_none() {
    for (int i = 0; i < 501; i++) {
      fixture.open(fixture.ports().onboard("t-%03d".formatted(i), "bronze", Map.of()));
    }

    assertThat(keep(new RecordingContext(Duration.ofMinutes(1))))
        .containsEntry("chunks", 2L)
        .containsEntry("visitedTenants", 500L);

    assertThat(requested)
        .containsExactly(
            new RecordingContext(Duration.ZERO).getInvokedFunctionArn()
                + " {task=visits, after=t-499, chunks=2}");
    assertThat(
            housekeeper.handleRequest(
                Map.of("task", "visits", "after", "t-499", "chunks", "2"),
                new RecordingContext(Duration.ofMinutes(1))))
        .containsEntry("chunks", 2L)
        .containsEntry("visitedTenants", 1L);
    assertThat(requested).hasSize(1);
  }

  @Test
  void a_failed_visit_is_counted_and_logged() {
    fixture.open(acme, "a");
    fixture.pass(Duration.ofMinutes(5));
    fixture.sockets().outage().begin();
    RecordingContext context = new RecordingContext(Duration.ofMinutes(1));

    assertThat(keep(context)).containsEntry("failedVisits", 1L);

    assertThat(context.logged())
        .containsExactly("visit of acme failed, the next run continues: close: out of order");
  }
}
