package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.provisioning.Silo.State;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.testing.memory.InMemorySiloQueues.Message;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SiloTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final String GOLD = "{\"tier\":\"gold\"}";
  private static final String BRONZE = "{\"tier\":\"bronze\"}";
  private static final Release NEXT = new Release("processor:2");

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private State state() {
    return at.silos.find(ACME).orElseThrow().state();
  }

  private void sweepAfter(Duration time) {
    at.clock.advance(time);
    at.sweep();
  }

  private boolean isSettled() {
    return at.tenant("acme").orElseThrow().isSettled();
  }

  @Test
  void the_row_of_a_silo_is_written_before_its_parts_are_created() {
    at.onboard("acme", "gold");

    assertThat(at.faults.calls().stream().filter(call -> call.startsWith("Silo")))
        .containsExactly(
            "Silos.find",
            "Silos.open",
            "SiloQueues.ensure",
            "SiloFunctions.ensure",
            "SiloFunctions.attach");
    assertThat(at.faults.calls().indexOf("SiloFunctions.attach"))
        .isLessThan(at.faults.calls().indexOf("Tenants.markObserved"));
  }

  @Test
  void a_patch_without_change_of_isolation_leaves_the_silo_alone() {
    at.onboard("acme", "gold");
    at.faults.none();

    at.patch("acme", "{\"overrides\":{\"tenantConnections\":3}}");

    assertThat(at.faults.calls()).noneMatch(call -> call.startsWith("Silo"));
  }

  @Test
  void a_function_that_takes_seconds_is_waited_for() {
    at.siloFunctions.delayChanges(3);
    at.onboard("acme", "gold");

    assertThat(at.pauses).hasSize(3).containsOnly(Duration.ofSeconds(1));
    assertThat(at.siloFunctions.functions()).containsKey(ACME);
  }

  @Test
  void a_function_that_takes_longer_is_finished_by_the_sweep() {
    at.siloFunctions.delayChanges(7);

    at.onboard("acme", "gold");

    assertThat(isSettled()).isFalse();
    assertThat(at.context.logged()).anyMatch(line -> line.contains("silo function of acme"));
    at.siloFunctions.delayChanges(0);
    sweepAfter(Duration.ofMinutes(1));
    at.assertConsistent();
  }

  @Test
  void a_draining_queue_is_closed_at_once_and_deleted_when_surely_empty() {
    at.onboard("acme", "gold");
    at.patch("acme", BRONZE);

    assertThat(state()).isEqualTo(State.CLOSED);
    assertThat(at.siloQueues.open()).isEmpty();
    assertThat(isSettled()).isFalse();

    sweepAfter(Duration.ofSeconds(119));
    assertThat(state()).isEqualTo(State.CLOSED);

    sweepAfter(Duration.ofSeconds(1));
    at.assertConsistent();
  }

  @Test
  void a_queue_with_messages_stays_until_they_are_processed() {
    at.onboard("acme", "gold");
    at.messages.send();
    at.patch("acme", BRONZE);

    for (int i = 0; i < 5; i++) {
      sweepAfter(Duration.ofMinutes(1));
      assertThat(at.siloQueues.tenants()).containsExactly(ACME);
      assertThat(at.siloFunctions.attached()).containsExactly(ACME);
    }
    at.messages.process();
    at.sweep();
    assertThat(at.siloQueues.tenants()).containsExactly(ACME);

    at.messages.process();
    at.sweep();
    at.assertConsistent();
    at.messages.assertNothingIsLost();
  }

  @Test
  void a_missing_function_is_created_to_drain_the_queue() {
    at.siloFunctions.outage().begin();
    at.onboard("acme", "gold");
    at.messages.send();
    at.patch("acme", BRONZE);
    at.siloFunctions.outage().end();
    assertThat(at.siloFunctions.functions()).isEmpty();

    sweepAfter(Duration.ofMinutes(2));

    assertThat(at.siloFunctions.attached()).containsExactly(ACME);
    at.sweep(2);
    at.assertConsistent();
    at.messages.assertNothingIsLost();
  }

  @Test
  void dead_letters_move_to_the_pool_before_the_silo_is_removed() {
    at.onboard("acme", "gold");
    at.messages.sendDeadLetter();
    at.patch("acme", BRONZE);
    assertThat(at.siloQueues.poolDeadLetters()).isEmpty();

    sweepAfter(Duration.ofMinutes(2));

    assertThat(at.siloQueues.poolDeadLetters()).extracting(Message::body).hasSize(1);
    at.assertConsistent();
  }

  @Test
  void a_queue_reopened_by_a_slower_run_is_closed_again_and_the_wait_restarts() {
    at.onboard("acme", "gold");
    at.patch("acme", BRONZE);
    at.siloQueues.ensure(ACME);

    sweepAfter(Duration.ofMinutes(2));

    assertThat(state()).isEqualTo(State.CLOSED);
    assertThat(at.siloQueues.open()).isEmpty();
    sweepAfter(Duration.ofSeconds(119));
    assertThat(at.siloQueues.tenants()).containsExactly(ACME);
    sweepAfter(Duration.ofSeconds(1));
    at.assertConsistent();
  }

  @Test
  void a_tenant_that_returns_while_its_queue_drains_keeps_queue_and_messages() {
    at.onboard("acme", "gold");
    at.messages.send();
    at.patch("acme", BRONZE);

    at.patch("acme", GOLD);

    at.assertConsistent();
    assertThat(at.siloQueues.contents(ACME)).hasSize(1);
  }

  @Test
  void a_tenant_that_returns_while_its_silo_is_removed_gets_a_new_silo_later() {
    at.onboard("acme", "gold");
    at.messages.sendDeadLetter();
    at.patch("acme", BRONZE);
    at.siloQueues.outage().begin("delete");
    sweepAfter(Duration.ofMinutes(2));
    assertThat(state()).isEqualTo(State.LEAVING);

    at.patch("acme", GOLD);
    assertThat(state()).isEqualTo(State.LEAVING);

    at.siloQueues.outage().end();
    at.sweep();
    assertThat(state()).isEqualTo(State.OPEN);
    assertThat(isSettled()).isFalse();
    sweepAfter(Duration.ofMinutes(1));
    at.assertConsistent();
    assertThat(at.siloQueues.poolDeadLetters()).hasSize(1);
  }

  @Test
  void offboarding_removes_the_silo_at_once_with_its_messages() {
    at.onboard("acme", "gold");
    at.messages.send();
    at.messages.sendDeadLetter();

    assertThat(at.delete("acme").status()).isEqualTo(204);

    at.assertConsistent();
    assertThat(at.siloQueues.poolDeadLetters()).isEmpty();
  }

  @Test
  void suspending_ends_the_sessions_and_keeps_the_silo() {
    at.onboard("acme", "gold");
    SessionId session = new SessionId("0".repeat(32));
    at.sessions.create(
        new Session(
            ACME, session, Set.of(), ControlPlaneFixture.START.plusSeconds(60), Optional.empty()));

    at.patch("acme", "{\"status\":\"SUSPENDED\"}");

    assertThat(at.sessions.list(ACME)).isEmpty();
    at.assertConsistent();
    at.faults.none();

    at.patch("acme", "{\"overrides\":{\"tenantConnections\":3}}");
    assertThat(at.faults.calls()).doesNotContain("Sessions.list");
  }

  @Test
  void a_release_counts_as_rolled_out_when_all_silos_have_it() {
    at.onboard("acme", "gold");
    at.onboard("beta", "bronze");
    at.sweep();
    assertThat(at.tiers.rolledOutRelease()).contains(at.release());

    at.deploy(NEXT);
    assertThat(at.sweep()).containsEntry("outdatedSilos", 1L);
    assertThat(at.tiers.rolledOutRelease()).isNotEqualTo(Optional.of(NEXT));
    assertThat(at.tenant("beta").orElseThrow().version()).isEqualTo(1);

    assertThat(at.sweep()).containsEntry("settledTenants", 1L).containsEntry("outdatedSilos", 0L);
    assertThat(at.tiers.rolledOutRelease()).contains(NEXT);
    assertThat(at.siloFunctions.functions()).containsEntry(ACME, NEXT);
    at.faults.none();

    at.sweep();
    assertThat(at.faults.calls())
        .containsExactlyInAnyOrder(
            "Tenants.listDue",
            "Tenants.listPending",
            "Tiers.list",
            "History.active",
            "Conditions.list",
            "Tiers.rolledOutRelease");
  }

  @Test
  void tenants_without_silo_get_one_with_the_next_release() {
    at.onboard("acme", "gold");
    at.silos.remove(ACME, 0);
    at.siloQueues.delete(ACME);
    at.siloFunctions.detach(ACME);
    at.siloFunctions.delete(ACME);
    at.clock.advance(Duration.ofMinutes(1));

    at.sweep();
    at.sweep();

    at.assertConsistent();
  }

  @Test
  void a_roll_out_continues_one_that_ended_early() {
    List<String> tenants = List.of("acme", "beta", "gamma");
    tenants.forEach(tenant -> at.onboard(tenant, "gold"));
    at.sweep();
    at.deploy(NEXT);
    at.siloFunctions.outage().begin("ensure");

    at.sweep();
    at.sweep();
    assertThat(at.tiers.rolledOutRelease()).isNotEqualTo(Optional.of(NEXT));
    assertThat(tenants).allSatisfy(id -> assertThat(version(id)).isEqualTo(2));

    at.siloFunctions.outage().end();
    at.sweep();
    assertThat(at.tiers.rolledOutRelease()).contains(NEXT);
    assertThat(tenants).allSatisfy(id -> assertThat(version(id)).isEqualTo(2));
    at.assertConsistent();
  }

  private long version(String id) {
    return at.tenant(id).orElseThrow().version();
  }
}
