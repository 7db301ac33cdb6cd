package dev.tollgate.local.iam.access;

import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Decision.Denied;
import dev.tollgate.local.iam.Policies;
import java.util.Optional;
import java.util.function.Consumer;

/** Refuses requests unless all of their accesses are allowed. */
public final class Iam implements Authorization {
  private final Accesses accesses;
  private final Policies policies;
  private final Consumer<String> log;

  /**
   * @param log receives a line for each refused request
   */
  public Iam(Accesses accesses, Policies policies, Consumer<String> log) {
    this.accesses = accesses;
    this.policies = policies;
    this.log = log;
  }

  @Override
  public Optional<String> refusal(Call call) {
    for (Access access : accesses.of(call)) {
      if (policies.decide(call.principal(), access) instanceof Denied denied) {
        log.accept("AccessDenied: " + denied.message());
        return Optional.of(denied.message());
      }
    }
    return Optional.empty();
  }
}
