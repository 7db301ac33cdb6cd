package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.provisioning.FunctionQuotas;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.SiloFunctionsContract;
import java.util.Optional;

class InMemorySiloFunctionsTest extends SiloFunctionsContract {
  private final InMemorySiloFunctions functions = new InMemorySiloFunctions();

  InMemorySiloFunctionsTest() {
    functions.delayChanges(3);
  }

  @Override
  protected SiloFunctions functions() {
    return functions;
  }

  @Override
  protected Release first() {
    return new Release("processor:1");
  }

  @Override
  protected Release second() {
    return new Release("processor:2");
  }

  @Override
  protected TenantId tenant() {
    return Samples.tenantId();
  }

  @Override
  protected Optional<Release> release(TenantId tenant) {
    return Optional.ofNullable(functions.functions().get(tenant));
  }

  @Override
  protected boolean isAttached(TenantId tenant) {
    return functions.attached().contains(tenant);
  }

  @Override
  protected void allow(FunctionQuotas account) {
    functions.allow(account);
  }
}
