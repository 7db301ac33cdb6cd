package dev.tollgate.core.message;

import static dev.tollgate.core.message.ProcessingFixture.message;
import static dev.tollgate.core.message.ProcessingFixture.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.housekeeping.TenantVisit;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
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
  private final ProcessingFixture shop = new ProcessingFixture();
  private final AdmissionFixture town = shop.town();

  private SessionLifecycle life() {
    return new SessionLifecycle(
        town.sessions(), town.sessions(), shop.sockets(), new SecureRandom(), town.clock());
  }

  private TenantVisit visit() {
    return new TenantVisit(
        town.tenants(),
        town.sessions(),
        town.sessions(),
        shop.sockets(),
        life(),
        new Recount(town.sessions(), town.sessions(), pause -> {}),
        Runnable::run,
        town.clock());
  }

  private SessionId open(Tenant tenant) {
    return ((SessionLifecycle.Opened) life().open(tenant, Optional.empty())).session().id();
  }

  private void join(Tenant tenant, SessionId session, String id, long perMinute) {
    Instant now = town.clock().instant();
    Session stands = town.sessions().find(tenant.id(), session).orElseThrow();
    assertThat(
            town.sessions()
                .join(
                    tenant.id(),
                    session,
                    id,
                    1_000,
                    Gcra.perMinute(perMinute),
                    stands.arrival(),
                    now.plusSeconds(tenant.limits().get(Limit.SESSION_TTL)),
                    now))
        .hasToString("ADDED");
    town.sessions().countUp(tenant.id(), id, Long.MAX_VALUE);
  }

  /** Opens a session that processed message {@code order-1} a minute after its socket joined. */
  private SessionId orderIn(Tenant tenant) {
    SessionId session = open(tenant);
    join(tenant, session, "a", 5);
    town.clock().advance(Duration.ofSeconds(61));
    shop.process(named(tenant, session, "a", "q1", "order-1"));
    return session;
  }

  @Test
  void repeated_message_is_not_processed_again_after_its_session_has_ended() {
    Tenant bronze = town.onboard("acme", "bronze", Map.of());
    SessionId session = orderIn(bronze);
    // The answer is lost and the client sends the message again. The session ends in between.
    life().end(bronze.id(), session);
    shop.process(named(bronze, session, "a", "q2", "order-1"));

    assertThat(shop.handledIds()).containsExactly("order-1");
  }

  @Test
  void repeated_message_is_not_processed_again_after_its_session_has_expired() {
    Tenant bronze = town.onboard("acme", "bronze", Map.of());
    SessionId session = orderIn(bronze);
    // The client repeats the message in the session's last second, but the housekeeper is faster.
    town.clock().advance(Duration.ofSeconds(205));
    visit().visit(bronze.id(), Instant.MAX);
    shop.process(named(bronze, session, "a", "q2", "order-1"));

    assertThat(shop.handledIds()).containsExactly("order-1");
  }

  @Test
  void continuous_messages_do_not_extend_a_session_beyond_its_lifetime() {
    Tenant acme =
        town.onboard("acme", "gold", Map.of(Limit.SESSION_TTL, 100L, Limit.SESSION_LIFETIME, 250L));
    Instant lifeEnds = town.clock().instant().plusSeconds(250);
    SessionId session = open(acme);
    join(acme, session, "a", 30);

    for (int i = 0; i < 8; i++) {
      town.clock().advance(Duration.ofSeconds(30));
      shop.process(named(acme, session, "a", "q" + i, "order-" + i));
    }

    Session stands = town.sessions().find(acme.id(), session).orElseThrow();
    assertThat(stands.connections()).containsExactly("a");
    assertThat(stands.endsAt()).isEqualTo(lifeEnds);
  }

  /** DynamoDB charges each write of a row by the row's size. */
  @Test
  void session_records_at_most_a_batch_of_names_and_each_message_is_processed_once() {
    Tenant acme =
        town.onboard(
            "acme", "gold", Map.of(Limit.SESSION_TTL, 200L, Limit.MESSAGES_PER_MINUTE, 600L));
    SessionId session = open(acme);
    join(acme, session, "a", 30);
    int most = 0;
    List<String> sent = new ArrayList<>();
    for (int second = 0; second < 3_600; second++) {
      if (second % 60 == 0) {
        town.fill().fill(ProcessingFixture.messages(acme));
      }
      if (second % 60 < 29 && second % 2 == 0) {
        for (int i = 0; i < 2 && sent.size() < (second / 60 + 1) * 29; i++) {
          String name = "%064d".formatted(sent.size());
          sent.add(name);
          assertThat(shop.process(named(acme, session, "a", "q" + sent.size(), name)))
              .containsExactly(MessageOutcome.PROCESSED);
          String copy = sent.get(Math.max(0, sent.size() - 1 - second % 100));
          assertThat(shop.process(named(acme, session, "a", "c" + sent.size(), copy)))
              .containsExactly(MessageOutcome.DUPLICATE);
        }
      }
      most =
          Math.max(most, town.sessions().find(acme.id(), session).orElseThrow().processed().size());
      town.clock().advance(Duration.ofSeconds(1));
    }

    assertThat(sent).hasSize(60 * 29);
    assertThat(shop.handledIds()).isEqualTo(sent);
    assertThat(most).isEqualTo(10);
  }

  /** The functions of the pool and of a silo may process one session at the same time. */
  @Test
  void concurrent_batches_of_a_session_keep_each_others_names() {
    Tenant acme = town.onboard("acme", "gold", Map.of());
    SessionId session = open(acme);
    join(acme, session, "a", 30);
    town.clock().advance(Duration.ofSeconds(70));
    // Renewed in this second: the end does not change, and the connection needs a sign of life.
    life().renew(acme, session, Optional.empty());
    boolean[] once = {true};
    shop.application(
        (incoming, json) -> {
          if (once[0]) {
            once[0] = false;
            shop.process(named(acme, session, "a", "silo", "by-silo"));
          }
          return List.of();
        });
    shop.process(named(acme, session, "a", "pool", "by-pool"));
    shop.process(named(acme, session, "a", "again", "by-silo"));

    assertThat(shop.handledIds()).containsExactly("by-pool", "by-silo");
  }

  /** After a lower sessionTTL, messages no longer move the session's end. */
  @Test
  void socket_that_sends_every_ten_seconds_is_not_closed_as_dead() {
    Tenant acme = town.onboard("acme", "gold", Map.of(Limit.SESSION_TTL, 3_600L));
    SessionId session = open(acme);
    join(acme, session, "a", 30);
    Tenant lowered =
        acme.changed(Tier.DEFAULTS.get(2), Map.of(Limit.SESSION_TTL, 300L), acme.status());
    town.tenants().replace(lowered);
    for (int i = 0; i < 72; i++) {
      town.clock().advance(Duration.ofSeconds(10));
      assertThat(shop.process(message(acme, session, "a", "m" + i)))
          .containsExactly(MessageOutcome.PROCESSED);
      visit().visit(acme.id(), Instant.MAX);
      assertThat(shop.sockets().closed()).as("after %d s", 10 * (i + 1)).isEmpty();
    }
  }

  @Test
  void ghost_of_a_busy_session_at_the_limit_goes_within_two_minutes() {
    Tenant bronze =
        town.onboard(
            "acme",
            "bronze",
            Map.of(Limit.TENANT_CONNECTIONS, 3L, Limit.MESSAGES_PER_MINUTE, 600L));
    SessionId session = open(bronze);
    join(bronze, session, "ghost", 5);
    join(bronze, session, "real", 5);
    join(bronze, session, "mobile0", 5);
    shop.sockets().lose("ghost");
    int mobile = 0;
    for (int second = 10; second <= 3_600; second += 10) {
      town.clock().advance(Duration.ofSeconds(10));
      if (second % 40 == 0) { // a phone whose connection comes and goes
        town.sessions().leave(bronze.id(), session, "mobile" + mobile);
        town.sessions().countDown(bronze.id(), Set.of("mobile" + mobile));
        join(bronze, session, "mobile" + ++mobile, 5);
      }
      shop.process(message(bronze, session, "real", "m" + second));
      if (second % 60 == 0) {
        visit().visit(bronze.id(), Instant.MAX);
      }
      if (second > 180) {
        assertThat(town.sessions().find(bronze.id(), session).orElseThrow().connections())
            .as("at %d s, count %d of 3", second, town.sessions().count(bronze.id()))
            .doesNotContain("ghost");
      }
    }
  }

  @Test
  void socket_with_throttled_messages_is_not_closed_as_dead() {
    Tenant acme =
        town.onboard(
            "acme", "gold", Map.of(Limit.MESSAGES_PER_MINUTE, 1L, Limit.SESSION_TTL, 3_600L));
    SessionId session = open(acme);
    SessionId greedy = open(acme);
    join(acme, session, "a", 30);
    join(acme, greedy, "g", 30);
    int throttled = 0;
    for (int i = 0; i < 72; i++) {
      town.clock().advance(Duration.ofSeconds(10));
      shop.process(message(acme, greedy, "g", "g" + i));
      throttled +=
          shop.process(message(acme, session, "a", "m" + i)).contains(MessageOutcome.THROTTLED)
              ? 1
              : 0;
      visit().visit(acme.id(), Instant.MAX);
      assertThat(shop.sockets().closed())
          .as("after %d s, %d throttled", 10 * (i + 1), throttled)
          .isEmpty();
    }
  }

  @Test
  void frames_are_sent_once_although_the_handler_fails_once() {
    Tenant acme = town.onboard("acme", "gold", Map.of());
    SessionId session = open(acme);
    join(acme, session, "a", 30);
    join(acme, session, "b", 30);
    boolean[] fails = {true};
    shop.application(
        (incoming, json) -> {
          if (fails[0]) {
            fails[0] = false;
            throw new IllegalStateException("once");
          }
          return List.of();
        });
    shop.process(named(acme, session, "a", "q1", "m"));
    shop.process(named(acme, session, "a", "q1", "m"));
    assertThat(shop.sockets().postedTo("b")).hasSize(1);
  }
}
