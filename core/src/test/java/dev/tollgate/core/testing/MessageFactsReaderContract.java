package dev.tollgate.core.testing;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Emptiness;
import dev.tollgate.core.message.MessageFacts;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What every {@link MessageFactsReader} does. */
public abstract class MessageFactsReaderContract {
  private static final Duration LIFE = Duration.ofMinutes(5);

  /** The reader of what stands in the others. */
  protected abstract MessageFactsReader messages();

  /** Where tenants are written down. */
  protected abstract Tenants tenants();

  /** Where buckets are written down. */
  protected abstract Buckets buckets();

  /** Where sessions are written down. */
  protected abstract Sessions sessions();

  /** Where connections are written down. */
  protected abstract Connections connections();

  @Test
  void read_of_nothing_tells_nothing() {
    assertThat(messages().read(Samples.tenantId(), Set.of(Samples.sessionId())))
        .isEqualTo(new MessageFacts(Optional.empty(), Map.of(), Optional.empty()));
  }

  @Test
  void read_tells_what_stands() {
    Tenant tenant = Samples.tenant();
    tenants().create(tenant);
    Bucket bucket = Samples.bucket(new BucketId(tenant.id(), Action.MESSAGE));
    buckets().open(bucket);
    buckets().open(Samples.bucket(new BucketId(tenant.id(), Action.CONNECT)));
    buckets().rememberEmpty(bucket, new Emptiness(NOW, NOW.plusNanos(1), 0));
    List<SessionId> ids = create(tenant, 10);
    connections().join(tenant.id(), ids.get(3), "a", 2, Gcra.perMinute(60), Optional.empty(), NOW, NOW);
    create(tenant, 1);

    MessageFacts facts = messages().read(tenant.id(), Set.copyOf(ids));

    assertThat(facts)
        .isEqualTo(
            new MessageFacts(
                Optional.of(tenant),
                ids.stream()
                    .map(id -> sessions().find(tenant.id(), id).orElseThrow())
                    .collect(Collectors.toMap(Session::id, Function.identity())),
                buckets().find(bucket.id())));
    assertThat(facts.sessions().values().stream().map(Session::connections)).contains(Set.of("a"));
    assertThat(facts.bucket().orElseThrow().knownEmptyAt(NOW)).isTrue();
  }

  @Test
  void read_leaves_out_sessions_that_are_not_there_or_another_tenants() {
    Tenant tenant = Samples.tenant();
    tenants().create(tenant);
    SessionId mine = create(tenant, 1).get(0);
    SessionId others = create(Samples.tenant(), 1).get(0);

    assertThat(messages().read(tenant.id(), Set.of(mine, others, Samples.sessionId())).sessions())
        .containsOnlyKeys(mine);
  }

  private List<SessionId> create(Tenant tenant, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> Samples.session(tenant.id(), LIFE))
        .peek(sessions()::create)
        .map(Session::id)
        .toList();
  }
}
