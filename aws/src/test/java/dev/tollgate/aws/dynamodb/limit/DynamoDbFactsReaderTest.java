package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.FactsReaderContract;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbFactsReaderTest extends FactsReaderContract {
  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final DynamoDbPorts ports;
  private final AdmissionFactsReader reader;
  private final Tenants tenants;

  DynamoDbFactsReaderTest(Engines.Tables tables) {
    ports = new DynamoDbPorts(tables);
    reader = ports.facts(clock);
    tenants = ports.tenants();
  }

  @Override
  protected AdmissionFactsReader reader() {
    return reader;
  }

  @Override
  protected Tenants tenants() {
    return tenants;
  }

  @Override
  protected Buckets buckets() {
    return ports.buckets();
  }

  @Override
  protected Sessions sessions() {
    return ports.sessions();
  }

  @Override
  protected Connections connections() {
    return ports.connections();
  }

  @Test
  void an_unknown_tenant_is_read_again_after_five_seconds() {
    Tenant tenant = Samples.tenant();
    assertThat(reader.tenantExists(tenant.id())).isFalse();
    tenants.create(tenant);

    clock.advance(Duration.ofMillis(4_999));
    assertThat(reader.tenantExists(tenant.id())).isFalse();
    clock.advance(Duration.ofMillis(1));
    assertThat(reader.tenantExists(tenant.id())).isTrue();
  }

  @Test
  void a_tenant_is_read_again_after_a_minute() {
    Tenant tenant = Samples.tenant();
    tenants.create(tenant);
    assertThat(reader.tenantExists(tenant.id())).isTrue();
    tenants.remove(tenant.id(), 1);

    clock.advance(Duration.ofMillis(59_999));
    assertThat(reader.tenantExists(tenant.id())).isTrue();
    clock.advance(Duration.ofMillis(1));
    assertThat(reader.tenantExists(tenant.id())).isFalse();
  }
}
