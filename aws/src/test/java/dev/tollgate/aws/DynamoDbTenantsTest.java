package dev.tollgate.aws;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.testing.TenantsContract;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbTenantsTest extends TenantsContract {
  private final Tenants tenants;

  DynamoDbTenantsTest(Engines.Tables tables) {
    tenants = new DynamoDbTenants(tables.client(), tables.tenant());
  }

  @Override
  protected Tenants tenants() {
    return tenants;
  }

  @Test
  void a_cursor_that_no_listing_gave_is_refused() {
    assertThatThrownBy(() -> tenants.list(Optional.of("No tenant!"), 10))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("cursor");
  }
}
