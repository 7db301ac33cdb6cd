package dev.tollgate.core.message;

import static dev.tollgate.core.message.ProcessingFixture.message;
import static dev.tollgate.core.message.ProcessingFixture.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.housekeeping.TenantVisit;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Messages of a session over a long time, while connections come and go. */
final class LongConversationsTest {
  private final ProcessingFixture fixture = new ProcessingFixture();
  private final AdmissionFixture ports = fixture.ports();

  private SessionLifecycle lifecycle() {
    return new SessionLifecycle(
        ports.sessions(), ports.sessions(), fixture.sockets(), new SecureRandom(), ports.clock());
  }

  private void keepHouse() {
    Recount recount = new Recount(ports.sessions(), ports.sessions(), pause -> {});
    TenantVisit visit =
        new TenantVisit(
            ports.tenants(),
            ports.sessions(),
            ports.sessions(),
            ports.sessions(),
            fixture.sockets(),
            lifecycle(),
            recount,
            Runnable::run,
            ports.clock());
    new Housekeeping(
            ports.sessions(),
            visit,
            recount,
            Housekeeping.CHECKS_A_MINUTE,
            Runnable::run,
            pause -> {},
            ports.clock())
        .run(HousekeepingFixture.ONE_CHUNK, Instant.MAX);
  }

  private SessionId open(Tenant tenant) {
    return ((SessionLifecycle.Opened) lifecycle().open(tenant, Optional.empty())).session().id();
  }

  private void join(Tenant tenant, SessionId session, String id, long perMinute) {
    Instant now = ports.clock().instant();
    Session current = ports.sessions().find(tenant.id(), session).orElseThrow();
    assertThat(
            ports
                .sessions()
                .join(
                    tenant.id(),
                    session,
                    id,
                    1_000,
                    Gcra.perMinute(perMinute),
                    current.arrival(),
                    now.plusSeconds(tenant.limits().get(Limit.SESSION_TTL)),
                    now))
        .hasToString("ADDED");
    ports.sessions().countUp(tenant.id(), id, Long.MAX_VALUE);
  }

  /** Opens a session that processed message {@code order-1} a minute after its socket joined. */
  private SessionId orderIn(Tenant tenant) {
    SessionId session = open(tenant);
    join(tenant, session, "a", 5);
    ports.clock().advance(Duration.ofSeconds(61));
    fixture.process(named(tenant, session, "a", "q1", "order-1"));
    return session;
  }

  @Test
  void repeated_message_is_not_processed_again_after_its_session_has_ended() {
    Tenant bronze = ports.onboard("acme", "bronze", Map.of());
    SessionId session = orderIn(bronze);
    // The answer is lost and the client sends the message again. The session ends in between.
    lifecycle().end(bronze.id(), session);
    fixture.process(named(bronze, session, "a", "q2", "order-1"));

    assertThat(fixture.handledIds()).containsExactly("order-1");
  }

  @Test
  void repeated_message_is_not_processed_again_after_its_session_has_expired() {
    Tenant bronze = ports.onboard("acme", "bronze", Map.of());
    SessionId session = orderIn(bronze);
    // The client repeats the message in the session's last second, but the housekeeper is faster.
    ports.clock().advance(Duration.ofSeconds(205));
    keepHouse();
    fixture.process(named(bronze, session, "a", "q2", "order-1"));

    assertThat(fixture.handledIds()).containsExactly("order-1");
  }

  @Test
  void continuous_messages_do_not_extend_a_session_beyond_its_lifetime() {
    Tenant acme =
        ports.onboard(
            "acme", "gold", Map.of(Limit.SESSION_TTL, 100L, Limit.SESSION_LIFETIME, 250L));
    Instant lifeEnds = ports.clock().instant().plusSeconds(250);
    SessionId session = open(acme);
    join(acme, session, "a", 30);

    for (int i = 0; i < 8; i++) {
      ports.clock().advance(Duration.ofSeconds(30));
      fixture.process(named(acme, session, "a", "q" + i, "order-" + i));
    }

    Session current = ports.sessions().find(acme.id(), session).orElseThrow();
    assertThat(current.connections()).containsExactly("a");
    assertThat(current.endsAt()).isEqualTo(lifeEnds);
  }

  /** DynamoDB charges each write of a row by the row's size. */
  @Test
  void session_records_at_most_a_batch_of_names_and_each_message_is_processed_once() {
    Tenant acme =
        ports.onboard(
            "acme", "gold", Map.of(Limit.SESSION_TTL, 200L, Limit.MESSAGES_PER_MINUTE, 600L));
    SessionId session = open(acme);
    join(acme, session, "a", 30);
    int max = 0;
    List<String> sent = new ArrayList<>();
    for (int second = 0; second < 3_600; second++) {
      if (second % 60 == 0) {
        ports.fill().fill(ProcessingFixture.messages(acme));
      }
      if (second % 60 < 29 && second % 2 == 0) {
        for (int i = 0; i < 2 && sent.size() < (second / 60 + 1) * 29; i++) {
          String name = "%064d".formatted(sent.size());
          sent.add(name);
          assertThat(fixture.process(named(acme, session, "a", "q" + sent.size(), name)))
              .containsExactly(MessageOutcome.PROCESSED);
          String copy = sent.get(Math.max(0, sent.size() - 1 - second % 100));
          assertThat(fixture.process(named(acme, session, "a", "c" + sent.size(), copy)))
              .containsExactly(MessageOutcome.DUPLICATE);
        }
      }
      max =
          Math.max(max, ports.sessions().find(acme.id(), session).orElseThrow().processed().size());
      ports.clock().advance(Duration.ofSeconds(1));
    }

    assertThat(sent).hasSize(60 * 29);
    assertThat(fixture.handledIds()).isEqualTo(sent);
    assertThat(max).isEqualTo(10);
  }

  /** The functions of the pool and of a silo may process one session at the same time. */
  @Test
  void concurrent_batches_of_a_session_keep_each_others_names() {
    Tenant acme = ports.onboard("acme", "gold", Map.of());
    SessionId session = open(acme);
    join(acme, session, "a", 30);
    ports.clock().advance(Duration.ofSeconds(70));
    // Renewed in this second: the end does not change, and the connection needs a sign of life.
    lifecycle().renew(acme, session, Optional.empty());
    boolean[] once = {true};
    fixture.application(
        (incoming, json) -> {
          if (once[0]) {
            once[0] = false;
            fixture.process(named(acme, session, "a", "silo", "by-silo"));
          }
          return List.of();
        });
    fixture.process(named(acme, session, "a", "pool", "by-pool"));
    fixture.process(named(acme, session, "a", "again", "by-silo"));

    assertThat(fixture.handledIds()).containsExactly("by-pool", "by-silo");
  }

  /** After a lower sessionTTL, messages no longer move the session's end. */
  @Test
  void socket_that_sends_every_ten_seconds_is_not_closed_as_dead() {
    Tenant acme = ports.onboard("acme", "gold", Map.of(Limit.SESSION_TTL, 3_600L));
    SessionId session = open(acme);
    join(acme, session, "a", 30);
    Tenant lowered =
        acme.changed(
            Tier.DEFAULTS.get(2), Overrides.of(Map.of(Limit.SESSION_TTL, 300L)), acme.status());
    ports.tenants().replace(lowered);
    for (int i = 0; i < 72; i++) {
      ports.clock().advance(Duration.ofSeconds(10));
      assertThat(fixture.process(message(acme, session, "a", "m" + i)))
          .containsExactly(MessageOutcome.PROCESSED);
      keepHouse();
      assertThat(fixture.sockets().closed()).as("after %d s", 10 * (i + 1)).isEmpty();
    }
  }

  @Test
  void ghost_of_a_busy_session_at_the_limit_goes_within_two_minutes() {
    Tenant bronze =
        ports.onboard(
            "acme",
            "bronze",
            Map.of(Limit.TENANT_CONNECTIONS, 3L, Limit.MESSAGES_PER_MINUTE, 600L));
    SessionId session = open(bronze);
    join(bronze, session, "ghost", 5);
    join(bronze, session, "real", 5);
    join(bronze, session, "mobile0", 5);
    fixture.sockets().lose("ghost");
    int mobile = 0;
    for (int second = 10; second <= 3_600; second += 10) {
      ports.clock().advance(Duration.ofSeconds(10));
      if (second % 40 == 0) { // a phone whose connection comes and goes
        ports.sessions().leave(bronze.id(), session, "mobile" + mobile);
        ports.sessions().countDown(bronze.id(), Set.of("mobile" + mobile));
        join(bronze, session, "mobile" + ++mobile, 5);
      }
      fixture.process(message(bronze, session, "real", "m" + second));
      if (second % 60 == 0) {
        keepHouse();
      }
      if (second > 180) {
        assertThat(ports.sessions().find(bronze.id(), session).orElseThrow().connections())
            .as("at %d s, count %d of 3", second, ports.sessions().count(bronze.id()))
            .doesNotContain("ghost");
      }
    }
  }

  @Test
  void socket_with_throttled_messages_is_not_closed_as_dead() {
    Tenant acme =
        ports.onboard(
            "acme", "gold", Map.of(Limit.MESSAGES_PER_MINUTE, 1L, Limit.SESSION_TTL, 3_600L));
    SessionId session = open(acme);
    SessionId busySession = open(acme);
    join(acme, session, "a", 30);
    join(acme, busySession, "g", 30);
    int throttled = 0;
    for (int i = 0; i < 72; i++) {
      ports.clock().advance(Duration.ofSeconds(10));
      fixture.process(message(acme, busySession, "g", "g" + i));
      throttled +=
          fixture.process(message(acme, session, "a", "m" + i)).contains(MessageOutcome.THROTTLED)
              ? 1
              : 0;
      keepHouse();
      assertThat(fixture.sockets().closed())
          .as("after %d s, %d throttled", 10 * (i + 1), throttled)
          .isEmpty();
    }
  }

  @Test
  void frames_are_sent_once_although_the_handler_fails_once() {
    Tenant acme = ports.onboard("acme", "gold", Map.of());
    SessionId session = open(acme);
    join(acme, session, "a", 30);
    join(acme, session, "b", 30);
    boolean[] fails = {true};
    fixture.application(
        (incoming, json) -> {
          if (fails[0]) {
            fails[0] = false;
            throw new IllegalStateException("planted");
          }
          return List.of();
        });
    fixture.process(named(acme, session, "a", "q1", "m"));
    fixture.process(named(acme, session, "a", "q1", "m"));
    assertThat(fixture.sockets().postedTo("b")).hasSize(1);
  }
}
