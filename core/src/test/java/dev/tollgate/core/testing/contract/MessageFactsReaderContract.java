package dev.tollgate.core.testing.contract;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.message.MessageFacts;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of {@link MessageFactsReader} and of the {@link MessageLog} that it reads. */
public abstract class MessageFactsReaderContract {
  private static final Duration LIFE = Duration.ofMinutes(5);

  /** The reader under test, at {@link Samples#NOW}. */
  protected abstract MessageFactsReader messages();

  /** Where the tests write tenants. */
  protected abstract Tenants tenants();

  /** Where the tests write buckets. */
  protected abstract Buckets buckets();

  /** Where the tests write sessions. */
  protected abstract Sessions sessions();

  /** Where the tests write processed messages. */
  protected abstract MessageLog log();

  /** Where the tests write connections. */
  protected abstract Connections connections();

  @Test
  void read_of_missing_rows_is_empty() {
    MessageName name = new MessageName(Samples.sessionId(), "m-1");
    assertThat(messages().read(Samples.tenantId(), Set.of(name.session()), Set.of(name)))
        .isEqualTo(new MessageFacts(Optional.empty(), Map.of(), Optional.empty(), Set.of()));
  }

  @Test
  void read_returns_existing_rows() {
    Tenant tenant = Samples.tenant();
    tenants().create(tenant);
    Bucket bucket = Samples.bucket(new BucketId(tenant.id(), Action.MESSAGE));
    buckets().open(bucket);
    buckets().open(Samples.bucket(new BucketId(tenant.id(), Action.CONNECT)));
    buckets().rememberEmpty(bucket, new EmptyHint(NOW, NOW.plusNanos(1), 0));
    List<SessionId> ids = create(tenant, 10);
    connections()
        .join(tenant.id(), ids.get(3), "a", 2, Gcra.perMinute(60), Optional.empty(), NOW, NOW);
    create(tenant, 1);
    Set<MessageName> names =
        ids.stream().map(id -> new MessageName(id, "m-1")).collect(Collectors.toSet());
    MessageName processed = new MessageName(ids.get(7), "m-1");
    log().add(tenant.id(), Set.of(processed), NOW.plusSeconds(600));

    MessageFacts facts = messages().read(tenant.id(), Set.copyOf(ids), names);

    assertThat(facts)
        .isEqualTo(
            new MessageFacts(
                Optional.of(tenant),
                ids.stream()
                    .map(id -> sessions().find(tenant.id(), id).orElseThrow())
                    .collect(Collectors.toMap(Session::id, Function.identity())),
                buckets().find(bucket.id()),
                Set.of(processed)));
    assertThat(facts.sessions().values().stream().map(Session::connections)).contains(Set.of("a"));
    assertThat(facts.bucket().orElseThrow().at(NOW).isKnownEmpty()).isTrue();
  }

  @Test
  void read_omits_missing_sessions_and_those_of_other_tenants() {
    Tenant tenant = Samples.tenant();
    tenants().create(tenant);
    SessionId ownSession = create(tenant, 1).get(0);
    SessionId others = create(Samples.tenant(), 1).get(0);

    assertThat(
            messages()
                .read(tenant.id(), Set.of(ownSession, others, Samples.sessionId()), Set.of())
                .sessions())
        .containsOnlyKeys(ownSession);
  }

  private Set<MessageName> processed(TenantId tenant, MessageName... messages) {
    return messages().read(tenant, Set.of(messages[0].session()), Set.of(messages)).processed();
  }

  @Test
  void message_is_known_as_processed_exactly_until_it_expires() {
    TenantId tenant = Samples.tenantId();
    SessionId session = Samples.sessionId();
    MessageName later = new MessageName(session, "A_z-9");
    MessageName now = new MessageName(session, "now");
    Instant second = NOW.truncatedTo(ChronoUnit.SECONDS);
    log().add(tenant, Set.of(later), second.plusSeconds(1));
    log().add(tenant, Set.of(now), second);

    assertThat(processed(tenant, later, now, new MessageName(session, "never")))
        .containsExactly(later);
  }

  @Test
  void messages_are_logged_together() {
    TenantId tenant = Samples.tenantId();
    SessionId session = Samples.sessionId();
    MessageName[] all =
        IntStream.range(0, 25)
            .mapToObj(i -> new MessageName(session, "m-" + i))
            .toArray(MessageName[]::new);
    log().add(tenant, Set.of(all), NOW.plusSeconds(600));

    assertThat(processed(tenant, all)).containsExactlyInAnyOrder(all);
  }

  @Test
  void message_recorded_in_its_session_is_known_until_it_expires() {
    TenantId tenant = Samples.tenantId();
    Session session = Samples.session(tenant, LIFE);
    sessions().create(session);
    Instant second = NOW.truncatedTo(ChronoUnit.SECONDS);
    sessions()
        .extend(
            session,
            session.endsAt().plusSeconds(60),
            Map.of("noted", second.plusSeconds(1), "over", second),
            NOW);

    assertThat(
            processed(
                tenant,
                new MessageName(session.id(), "noted"),
                new MessageName(session.id(), "over"),
                new MessageName(session.id(), "never")))
        .containsExactly(new MessageName(session.id(), "noted"));
    assertThat(processed(tenant, new MessageName(session.id(), "never"))).isEmpty();
  }

  @Test
  void message_logged_twice_is_known_until_the_later_instant() {
    TenantId tenant = Samples.tenantId();
    MessageName name = new MessageName(Samples.sessionId(), "x".repeat(64));
    log().add(tenant, Set.of(name), NOW.minusSeconds(60));
    assertThat(processed(tenant, name)).isEmpty();

    log().add(tenant, Set.of(name), NOW.plusSeconds(60));

    assertThat(processed(tenant, name)).containsExactly(name);
  }

  @Test
  void message_is_known_only_in_its_session_and_tenant() {
    TenantId tenant = Samples.tenantId();
    MessageName ownSession = new MessageName(Samples.sessionId(), "m-1");
    log().add(tenant, Set.of(ownSession), NOW.plusSeconds(600));

    assertThat(processed(tenant, new MessageName(Samples.sessionId(), "m-1"))).isEmpty();
    assertThat(processed(Samples.tenantId(), ownSession)).isEmpty();
    assertThat(processed(tenant, ownSession)).containsExactly(ownSession);
  }

  @Test
  void log_rows_are_neither_sessions_nor_buckets_of_the_tenant() {
    TenantId tenant = Samples.tenantId();
    log().add(tenant, Set.of(new MessageName(Samples.sessionId(), "m-1")), NOW.plusSeconds(600));

    assertThat(
            sessions().page(tenant, Optional.empty(), 10, Sessions.Consistency.CONSISTENT).items())
        .isEmpty();
    assertThat(buckets().list(tenant).buckets()).isEmpty();
    assertThat(connections().count(tenant)).isZero();
  }

  private List<SessionId> create(Tenant tenant, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> Samples.session(tenant.id(), LIFE))
        .peek(sessions()::create)
        .map(Session::id)
        .toList();
  }
}
