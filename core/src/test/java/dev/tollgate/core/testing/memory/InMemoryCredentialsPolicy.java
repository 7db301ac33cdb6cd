package dev.tollgate.core.testing.memory;

import dev.tollgate.core.provisioning.CredentialsPolicy;
import java.util.Optional;
import java.util.Set;

/** A policy in memory. */
public class InMemoryCredentialsPolicy implements CredentialsPolicy {
  private final String table;
  private final Set<String> roles;
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

  @Override
  public synchronized Optional<String> document() {
    return document;
  }
}
