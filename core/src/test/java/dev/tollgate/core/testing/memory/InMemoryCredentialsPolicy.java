package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.CredentialsPolicy;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;

/** A policy in memory. */
public class InMemoryCredentialsPolicy implements CredentialsPolicy {
  private final String table;
  private final Set<String> roles;
  private final Queue<String> failures = new ArrayDeque<>();
  private Optional<String> document = Optional.empty();

  /** No policy yet. */
  public InMemoryCredentialsPolicy(String table, Set<String> roles) {
    this.table = table;
    this.roles = Set.copyOf(roles);
  }

  @Override
  public String table() {
    return table;
  }

  @Override
  public Set<String> roles() {
    return roles;
  }

  /** Replaces the policy, or removes it. */
  public synchronized void set(Optional<String> newDocument) {
    document = newDocument;
  }

  /** Lets the next read fail that no earlier failure is for. */
  public synchronized void fail(String reason) {
    failures.add(reason);
  }

  @Override
  public synchronized Optional<String> document() {
    if (!failures.isEmpty()) {
      throw new Unavailable(failures.remove());
    }
    return document;
  }
}
