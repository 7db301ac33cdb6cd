package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.FunctionQuotas;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.tenant.Release;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Silo functions in memory, which ignore their messages. */
public final class InMemorySiloFunctions implements SiloFunctions {
  private final Map<TenantId, Release> functions = new HashMap<>();
  private final Set<TenantId> attached = new HashSet<>();
  private final Outage outage = new Outage();
  private FunctionQuotas quotas = new FunctionQuotas(1_000, 75_000_000_000L, 16_000_000);
  private int requestsPerChange;
  private int requestsLeft;

  /** The outage of all requests. */
  public Outage outage() {
    return outage;
  }

  /** Makes each future change take effect only after this many further requests. */
  public synchronized void delayChanges(int requests) {
    requestsPerChange = requests;
    requestsLeft = 0;
  }

  /** Sets the account's quotas. */
  public synchronized void allow(FunctionQuotas account) {
    quotas = account;
  }

  /** The existing functions with their releases. */
  public synchronized Map<TenantId, Release> functions() {
    return Map.copyOf(functions);
  }

  /** The tenants whose queue is attached to a function, existing or not. */
  public synchronized Set<TenantId> attached() {
    return Set.copyOf(attached);
  }

  @Override
  public synchronized Progress ensure(TenantId tenant, Release release) {
    outage.check("ensure");
    return progress(!release.equals(functions.put(tenant, release)));
  }

  @Override
  public synchronized Progress attach(TenantId tenant) {
    outage.check("attach");
    if (!functions.containsKey(tenant)) {
      throw new Unavailable("attach: no function of " + tenant);
    }
    return progress(attached.add(tenant));
  }

  @Override
  public synchronized Progress detach(TenantId tenant) {
    outage.check("detach");
    return progress(attached.remove(tenant));
  }

  @Override
  public synchronized Progress delete(TenantId tenant) {
    outage.check("delete");
    return progress(functions.remove(tenant) != null);
  }

  @Override
  public synchronized FunctionQuotas quotas(Release release) {
    outage.check("quotas");
    return quotas;
  }

  private Progress progress(boolean changed) {
    requestsLeft = changed ? requestsPerChange : Math.max(0, requestsLeft - 1);
    return requestsLeft == 0 ? Progress.DONE : Progress.IN_PROGRESS;
  }
}
