package dev.tollgate.core.testing.contract;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract of {@link AdmissionFactsReader}. */
public abstract class FactsReaderContract {
  /** The reader under test. */
  protected abstract AdmissionFactsReader reader();

  /** Where the tests write tenants. */
  protected abstract Tenants tenants();

  /** Where the tests write buckets. */
  protected abstract Buckets buckets();

  /** Where the tests write sessions. */
  protected abstract Sessions sessions();

  /** Where the tests write connections. */
  protected abstract Connections connections();

  @Test
  void only_existing_tenants_exist() {
    Tenant tenant = Samples.tenant();
    tenants().create(tenant);

    assertThat(reader().tenantExists(tenant.id())).isTrue();
    assertThat(reader().tenantExists(tenant.id())).isTrue();
    assertThat(reader().tenantExists(Samples.tenantId())).isFalse();
  }

  @Test
  void read_of_missing_rows_is_empty() {
    assertThat(reader().read(Samples.tenantId(), Samples.sessionId()))
        .isEqualTo(new AdmissionFacts(Optional.empty(), Optional.empty(), 0, Optional.empty()));
  }

  @Test
  void read_returns_existing_rows() {
    Tenant tenant = Samples.tenant();
    TenantId id = tenant.id();
    tenants().create(tenant);
    Bucket bucket = Samples.bucket(new BucketId(id, Action.CONNECT));
    buckets().open(bucket);
    buckets().open(Samples.bucket(new BucketId(id, Action.MESSAGE)));
    buckets().rememberEmpty(bucket, new EmptyHint(NOW, NOW.plusNanos(1), 0));
    Session session = Samples.session(id, Duration.ofMinutes(5));
    sessions().create(session);
    sessions().acquireCreation(id, Gcra.perMinute(1), NOW);
    connections().join(id, session.id(), "a", 2, Gcra.perMinute(60), Optional.empty(), NOW, NOW);
    connections().countUp(id, "a", 2);

    AdmissionFacts facts = reader().read(id, session.id());

    assertThat(facts)
        .isEqualTo(
            new AdmissionFacts(
                Optional.of(tenant),
                sessions().find(id, session.id()),
                1,
                buckets().find(bucket.id())));
    assertThat(facts.session().orElseThrow().connections()).containsExactly("a");
    assertThat(facts.bucket().orElseThrow().at(NOW).emptyUntil()).contains(NOW.plusNanos(1));
  }

  @Test
  void read_returns_a_tenant_without_a_bucket() {
    Tenant tenant = Samples.tenant();
    tenants().create(tenant);

    assertThat(reader().read(tenant.id(), Samples.sessionId()))
        .isEqualTo(new AdmissionFacts(Optional.of(tenant), Optional.empty(), 0, Optional.empty()));
  }

  @Test
  void read_returns_no_session_of_another_tenant() {
    Tenant tenant = Samples.tenant();
    tenants().create(tenant);
    Session others = Samples.session(Samples.tenantId(), Duration.ofMinutes(5));
    sessions().create(others);

    assertThat(reader().read(tenant.id(), others.id()).session()).isEmpty();
  }
}
